/// The most lines of a file.
private let longestFile = 800
/// The most lines of the file in the middle.
private let longestMedian = 150
/// The most characters of a line.
private let longestLine = 100
/// The most lines of a function, from its first word to its last brace.
private let longestFunction = 70

extension SourceRule {
  static let sizeRules: [SourceRule] = [
    SourceRule(
      "No Swift file is longer than \(longestFile) lines",
      files: { $0.swift() },
      broken: [
        (["Sources/A/A.swift": lines(longestFile + 1)], ["Sources/A/A.swift:\(longestFile + 1)"])
      ],
      kept: [["Sources/A/A.swift": lines(longestFile)]]
    ) { file in
      guard file.lines.count > longestFile else { return [] }
      return [file.fault(file.lines.count, "split the file: one noun a file")]
    },

    SourceRule(
      name: "The median Swift file of Sources has \(longestMedian) lines or fewer",
      check: { tree in
        let counts = tree.swift(under: "Sources").map(\.lines.count).sorted()
        guard !counts.isEmpty, counts[counts.count / 2] > longestMedian else { return [] }
        return [Fault(place: "Sources", message: "the median is \(counts[counts.count / 2]) lines")]
      },
      broken: [
        (
          [
            "Sources/A/A.swift": lines(1), "Sources/A/B.swift": lines(151),
            "Sources/A/C.swift": lines(151),
          ], ["Sources"]
        )
      ],
      kept: [
        [
          "Sources/A/A.swift": lines(1), "Sources/A/B.swift": lines(1),
          "Sources/A/C.swift": lines(700),
        ], [:],
      ]),

    SourceRule(
      "No line of Swift is longer than \(longestLine) characters, text in quotes aside",
      files: { $0.swift() },
      broken: [
        (
          ["Package.swift": "let a = 1\nlet b = \(String(repeating: "1", count: longestLine))"],
          ["Package.swift:2"]
        )
      ],
      kept: [
        ["A.swift": String(repeating: "é", count: longestLine)],
        ["A.swift": "let a = \"\"\"\n\(String(repeating: "a", count: 200))\n\"\"\""],
      ]
    ) { file in
      file.lines.enumerated().compactMap { index, line in
        guard line.count > longestLine, !file.literalLines.contains(index + 1) else { return nil }
        return file.fault(index + 1, "\(line.count) characters: run `swift format`")
      }
    },

    SourceRule(
      "No function is longer than \(longestFunction) lines, but for one exhaustive switch",
      files: { $0.swift(under: "Sources", "Examples", "Tests") },
      broken: [
        fault("func f() {\n\(lines(70))}", at: 1),
        fault("struct A {\n  init?(a: Int = { 1 }())\n  where A: B {\n\(lines(70))}}", at: 2),
        fault("var a: Int {\n\(lines(70))}", at: 1, in: "Tests/A/A.swift"),
        fault("func f() {\n  switch a {\n\(lines(70))  default: 1\n  }\n}", at: 1),
        fault("func f() {\n  g()\n  switch a {\n\(lines(70))  }\n}", at: 1),
        fault("func f() {\n  let a = \"{\\(b(\"}\"))\"\n\(lines(70))} // }", at: 1),
      ],
      kept: [
        ["Sources/A/A.swift": "func f() {\n\(lines(68))}\nfunc g() {\n\(lines(68))}"],
        ["Sources/A/A.swift": "func f() -> Int {\n  switch a {\n\(lines(90))  }\n}"],
        [
          "Sources/A/A.swift":
            "protocol P {\n  func f()\n  var a: Int { get }\n}\nenum E {\n\(lines(90))}"
        ],
        ["Sources/A/A.swift": "let a = \"func f() {\"\n\(lines(90))// func f() {\n/* } */"],
        ["Sources/A/A.swift": "init() { self.init(1) }\nvar a = 1\nstruct B {\n\(lines(90))}"],
      ]
    ) { $0.longFunctions() },
  ]

  /// A text of `count` lines.
  private static func lines(_ count: Int) -> String {
    String(repeating: "f()\n", count: count)
  }
}

extension SourceFile {
  fileprivate func longFunctions() -> [Fault] {
    tokens.indices.compactMap { index in
      guard ["func", "init", "deinit", "subscript", "var"].contains(tokens[index].text),
        isKeyword(at: index), let body = body(ofDeclarationAt: index)
      else { return nil }
      let count = tokens[body.upperBound].line - tokens[index].line + 1
      guard count > longestFunction, !isOneSwitch(body) else { return nil }
      let name = index + 1 < tokens.count ? tokens[index + 1].text : ""
      return fault(tokens[index].line, "`\(tokens[index].text) \(name)` has \(count) lines")
    }
  }

  /// Whether a body is one switch without `default` and nothing else.
  private func isOneSwitch(_ body: ClosedRange<Int>) -> Bool {
    var index = body.lowerBound + 1
    if tokens[index].text == "return" { index += 1 }
    guard tokens[index].text == "switch" else { return false }
    while index < body.upperBound, tokens[index].text != "{" {
      if ["(", "["].contains(tokens[index].text) { index = closing(of: index) ?? index }
      index += 1
    }
    guard let close = closing(of: index), close + 1 == body.upperBound else { return false }
    var depth = 0
    for position in index...close {
      switch tokens[position].text {
      case "{": depth += 1
      case "}": depth -= 1
      case "default" where depth == 1 && tokens[position + 1].text == ":": return false
      default: break
      }
    }
    return true
  }
}
