import Foundation

/// The page that leads to the pages of evidence, and says what has no proof.
private let evidencePage = "Docs/Evidence.md"

/// The possible sources of a rule.
private let sources: Set<String> = ["documented", "observed", "decided", "unverified", "ours"]

/// Pages that name the tests of each of their rows themselves, which other rules see to.
private let pagesWithTests = ["Stores.md", "Compatibility.md"]

/// The maximum number of rules without a proof; it may only become smaller.
private let mostWithoutProof = 0

extension SourceRule {
  static let evidenceRules: [SourceRule] = [
    SourceRule(
      name: "Each rule of the evidence is proved by tests that say so, and each such test is named",
      check: { $0.evidenceFaults() },
      broken: [
        (
          [
            evidencePage: """
            | A-1 | no ID | ours | `ATests.a` |
            | AB-1 | fine | documented | `ATests.a`<br>`make run` |
            | AB-1 | twice | ours | `ATests` |
            | AB-2 | few cells | ours |
            | AB-3 | sure of what? | known | `make run` |
            | AB-4 | not there | ours | `ATests.z`<br>`make nothing` |
            | AB-5 | not said by the test | ours | `ATests.b` |
            | AB-6 | nothing | ours | none |
            """,
            "Makefile": "run: a\n\techo",
            "Tests/ATests/ATests.swift": """
            /// Proves AB-1.
            @Suite("A")
            struct ATests {
              /// Proves AB-1, AB-9.
              @Test func a() {}
              /// Proves AB-6.
              @Test("b") func b() {}
              /// Proves AB-6
              @Test func c() {}
              /// Proves AB-5.
              func d() {}
            }
            """,
          ],
          [
            "\(evidencePage):3", "\(evidencePage):4", "\(evidencePage):5", "\(evidencePage):6",
            "\(evidencePage):6", "\(evidencePage):7", "\(evidencePage):8",
            "Tests/ATests/ATests.swift:4", "Tests/ATests/ATests.swift:6",
            "Tests/ATests/ATests.swift:8", "Tests/ATests/ATests.swift:10",
          ]
        ),
        (
          [
            "Docs/Evidence/A.md": "| I3 | two of that name | ours | `ATests.a` |",
            "Tests/A/ATests.swift": "@Test func a() {}",
            "Tests/B/ATests.swift": "@Test func a() {}",
          ],
          ["Docs/Evidence/A.md:1"]
        ),
        (
          [
            evidencePage: "## Without proof\n| AB-1 | has one |\n| AB-2 | no row |",
            "Docs/Evidence/A.md": "| AB-1 | a | ours | `make a` |", "Makefile": "a:",
          ],
          ["\(evidencePage):2", "\(evidencePage):3", evidencePage]
        ),
      ],
      kept: [
        [
          "Docs/Evidence/A.md": """
          | id | rule | source | proved by |
          |---|---|---|---|
          | I3 | a | ours | `A/ATests.a`<br>`BTests` |
          | T | b | ours | [Stores.md](../Stores.md#t-tabs) |
          | AB-10 | c | decided | `make a-b` |
          | AB-11 | d | unverified | `A/ATests.a` |
          """,
          "Makefile": "a-b: c",
          "Tests/A/ATests.swift": """
          /// The subject.
          ///
          /// Proves I3,
          /// AB-11.
          @Test(
            "func x", arguments: [1])
          func a() {}
          let text = \"\"\"
            /// Proves XX-1.
            @Test func b() {}
            \"\"\"
          """,
          "Tests/B/ATests.swift": "@Test func a() {}",
          "Tests/B/BTests.swift": "/// Proves I3.\n@Suite struct BTests {}",
        ]
      ])
  ]
}

/// A row of the evidence: a rule with its ID and what proves it.
private struct EvidenceRow {
  var file: SourceFile
  var line: Int
  var id: String
  var cells: [String]

  /// The tests and runs that the last cell names.
  var named: [String] {
    (cells.last ?? "").matches(of: /`([^`]+)`/).map { String($0.output.1) }
  }

  /// The tests alone.
  var tests: [String] { named.filter { !$0.hasPrefix("make ") } }

  /// Whether a page that names tests itself stands for them.
  var isOnAnotherPage: Bool {
    (cells.last ?? "").matches(of: /\]\(\.\.\/([^)#]+)/).contains {
      pagesWithTests.contains(String($0.output.1))
    }
  }

  func fault(_ message: String) -> Fault { file.fault(line, "\(id) \(message)") }
}

/// A test or a suite, by its name in the evidence.
private struct NamedTest: Hashable {
  /// The path and the line.
  var path: String
  var line: Int
  /// The file's name and the function's; of a suite the file's alone.
  var name: String
  var target: String

  /// Whether a row that says `text` means this.
  func isNamed(_ text: String) -> Bool { text == name || text == "\(target)/\(name)" }
}

/// The IDs that a comment names for the test below it.
private struct Proof {
  var file: SourceFile
  var line: Int
  var ids: [String]
  var test: NamedTest?
}

extension SourceTree {
  fileprivate func evidenceFaults() -> [Fault] {
    let rows = evidenceRows()
    let tests = namedTests()
    let proofs = self.proofs(of: tests)
    var said: Set<String> = []
    for proof in proofs {
      guard let test = proof.test else { continue }
      for id in proof.ids { said.insert("\(id) \(test.path):\(test.line)") }
    }
    let reasons = idsWithoutProof()
    let runs = Set(
      (self["Makefile"]?.lines ?? []).compactMap { $0.prefixMatch(of: /[a-z-]+(?=:)/) }
        .map { String($0.output) })
    var ids: Set<String> = []
    var faults: [Fault] = []
    var meant: Set<String> = []
    for row in rows {
      if !ids.insert(row.id).inserted { faults.append(row.fault("is there already")) }
      guard row.cells.count == 4 else {
        faults.append(row.fault("needs an ID, the rule, its source and its proofs"))
        continue
      }
      if !sources.contains(row.cells[2]) {
        faults.append(row.fault("is \"\(row.cells[2])\", which is none of \(sources.sorted())"))
      }
      for name in row.named where name.hasPrefix("make ") && !runs.contains("\(name.dropFirst(5))")
      {
        faults.append(row.fault("names `\(name)`, which is no target of the Makefile"))
      }
      for name in row.tests {
        let found = tests.filter { $0.isNamed(name) }
        guard found.count == 1, let test = found.first else {
          let reason = found.isEmpty ? "is not there" : "is there more than once: add its target"
          faults.append(row.fault("names `\(name)`, which \(reason)"))
          continue
        }
        meant.insert("\(row.id) \(test.path):\(test.line)")
        if !said.contains("\(row.id) \(test.path):\(test.line)") {
          faults.append(row.fault("names `\(name)`, which lacks `/// Proves \(row.id).`"))
        }
      }
      let isProved = !row.named.isEmpty || row.isOnAnotherPage
      if !isProved, reasons[row.id] == nil { faults.append(row.fault("has no proof")) }
      if isProved, let line = reasons[row.id] {
        faults.append(Fault(place: "\(evidencePage):\(line)", message: "\(row.id) has a proof"))
      }
    }
    for (id, line) in reasons.sorted(by: { $0.value < $1.value }) where !ids.contains(id) {
      faults.append(Fault(place: "\(evidencePage):\(line)", message: "\(id) has no row"))
    }
    if reasons.count > mostWithoutProof {
      faults.append(Fault(place: evidencePage, message: "\(reasons.count) rules have no proof"))
    }
    return faults + proofs.flatMap { $0.faults(rows: ids, meant: meant) }
  }

  /// The rows of all pages of the evidence.
  private func evidenceRows() -> [EvidenceRow] {
    files.filter { $0.path == evidencePage || $0.path.hasPrefix("Docs/Evidence/") }.flatMap {
      file in
      file.lines.enumerated().compactMap { index, line -> EvidenceRow? in
        guard line.hasPrefix("| ") else { return nil }
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let id = cells.first, id.wholeMatch(of: /[A-Z]\d*|[A-Z]{2}-\d+/) != nil,
          cells.count != 2
        else { return nil }
        return EvidenceRow(file: file, line: index + 1, id: id, cells: cells)
      }
    }
  }

  /// The IDs that the page gives a reason for having no proof, and the lines.
  private func idsWithoutProof() -> [String: Int] {
    guard let page = self[evidencePage] else { return [:] }
    var found: [String: Int] = [:]
    for (index, line) in page.lines.enumerated() {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, cells[0].wholeMatch(of: /[A-Z]\d*|[A-Z]{2}-\d+/) != nil else {
        continue
      }
      found[cells[0]] = index + 1
    }
    return found
  }

  private func namedTests() -> [NamedTest] {
    swift(under: "Tests").flatMap { file in
      let stem = String(file.name.dropLast(".swift".count))
      let target = file.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
      return [("@Test", "func"), ("@Suite", "")].flatMap { attribute, keyword in
        file.occurrences(of: attribute).map { index in
          var name = stem
          if !keyword.isEmpty,
            let function = file.tokens[index...].firstIndex(where: { $0.text == keyword }),
            function + 1 < file.tokens.count
          {
            name += ".\(file.tokens[function + 1].text.replacing("`", with: ""))"
          }
          return NamedTest(
            path: file.path, line: file.tokens[index].line, name: name, target: target)
        }
      }
    }
  }

  private func proofs(of tests: [NamedTest]) -> [Proof] {
    let places = Dictionary(
      tests.map { ("\($0.path):\($0.line)", $0) }, uniquingKeysWith: { first, _ in first })
    return swift(under: "Tests").flatMap { file in
      file.comments.sorted { $0.key < $1.key }.compactMap { line, comment -> Proof? in
        guard comment.hasPrefix("/// Proves ") else { return nil }
        var text = String(comment.dropFirst("/// Proves ".count))
        var below = line + 1
        while let next = file.comments[below], next.hasPrefix("///") {
          if !text.hasSuffix(".") { text += next.dropFirst("///".count) }
          below += 1
        }
        let words = text.dropLast().split(separator: ",")
        let ids =
          text.hasSuffix(".") ? words.map { $0.trimmingCharacters(in: .whitespaces) } : []
        return Proof(file: file, line: line, ids: ids, test: places["\(file.path):\(below)"])
      }
    }
  }
}

extension Proof {
  /// The faults of the comment, given all IDs and the content of the pages.
  fileprivate func faults(rows: Set<String>, meant: Set<String>) -> [Fault] {
    guard !ids.isEmpty else {
      return [file.fault(line, "write `/// Proves AB-1, AB-2.`, with a full stop")]
    }
    guard let test else { return [file.fault(line, "this stands above no test")] }
    return ids.compactMap { id in
      if !rows.contains(id) { return file.fault(line, "no page of the evidence has \(id)") }
      if meant.contains("\(id) \(test.path):\(test.line)") { return nil }
      return file.fault(line, "the row of \(id) does not name `\(test.name)`")
    }
  }
}
