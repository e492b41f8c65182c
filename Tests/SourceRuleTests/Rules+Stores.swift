import Foundation

/// The page on which each row of the stores' requirements names its code and its tests.
private let storesPage = "Docs/Stores.md"

/// Letters of the stores' requirements: tabs, clipboard, game results, achievements, leaderboards,
/// ideas and annotations.
private let storeLetters = "TCGALIR"

extension SourceRule {
  static let storeRules: [SourceRule] = [
    SourceRule(
      name: "Each row of the stores has its code and its tests, and each such test its row",
      check: { tree in
        guard let page = tree[storesPage] else { return [] }
        let tests = tree.storeTests()
        var named: Set<String> = []
        var faults: [Fault] = []
        for (index, line) in page.lines.enumerated() where isStoreRow(line) {
          let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
          guard cells.count == 4 else {
            faults.append(page.fault(index + 1, "a row needs a letter, what, code and tests"))
            continue
          }
          let code = cells[2].matches(of: /\]\(\.\.\/([^)]+)\)/).map { String($0.output.1) }
          let proofs = cells[3].matches(of: /`([^`]+)`/).map { String($0.output.1) }
          let missing =
            code.filter { !tree.contains($0) } + proofs.filter { tests[$0] == nil }
          faults += missing.map { page.fault(index + 1, "there is no \($0)") }
          if code.isEmpty { faults.append(page.fault(index + 1, "no link to the code")) }
          if proofs.isEmpty { faults.append(page.fault(index + 1, "no test")) }
          named.formUnion(proofs)
        }
        return faults
          + tests.filter { !named.contains($0.key) }.sorted { $0.key < $1.key }
          .map { Fault(place: $0.value, message: "\"\($0.key)\" has no row in \(storesPage)") }
      },
      broken: [
        (
          [
            storesPage: """
            | T | all of it | [A](../Examples/A.swift) | `T: a` |
            | T | a bit | [B](../Examples/B.swift) | `T: b`<br>`T: a` |
            | T | nothing | [A](../Examples/A.swift) | none |
            | T | nowhere | A | `T: a` |
            """,
            "Examples/A.swift": "", "Tests/A.swift": "@Test(\"T: a\")\n\n@Test(\"T: c\", f)",
          ],
          [
            "\(storesPage):2", "\(storesPage):2", "\(storesPage):3", "\(storesPage):4",
            "Tests/A.swift:3",
          ]
        )
      ],
      kept: [
        [
          storesPage: "| what | code |\n| T | x | [A](../Examples/A.swift) | `T: a` |",
          "Examples/A.swift": "", "Tests/A.swift": "@Test(\n  \"T: a\")\n@Test(\"b\")",
        ]
      ])
  ]

  private static func isStoreRow(_ line: String) -> Bool {
    storeLetters.contains { line.hasPrefix("| \($0) |") }
  }
}

extension SourceTree {
  /// The display names of tests that begin with a store's letter, and where each is.
  fileprivate func storeTests() -> [String: String] {
    var found: [String: String] = [:]
    for file in swift(under: "Tests") where file.path != "Tests/SourceRuleTests/Rules+Stores.swift"
    {
      for match in file.text.matches(of: /@Test\(\s*"([TCGALIR]: [^"]+)"/) {
        let line = file.text[..<match.range.lowerBound].count { $0 == "\n" } + 1
        found[String(match.output.1)] = "\(file.path):\(line)"
      }
    }
    return found
  }
}
