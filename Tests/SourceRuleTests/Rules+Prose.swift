/// The pages that can't do without an example.
private let pagesWithExamples = ["Docs/Testing.md", "README.md"]

/// Documents that are not in the repository, in two halves so that this file keeps its own rule.
private let outsideDocuments = [
  "cloudkit-" + "surface ", "web-" + "services 1.", "cksyncengine " + "2.", "seed " + "00",
  "RELIABILITY" + " ",
]

extension SourceRule {
  static let proseRules: [SourceRule] = [
    SourceRule(
      name: "Every link between Markdown files leads somewhere",
      check: { tree in
        tree.files.filter(\.isMarkdown).flatMap { file in
          file.links.filter { !tree.resolves($0.target, from: file) }.map {
            file.fault($0.line, "the link \($0.target) leads nowhere")
          }
        }
      },
      broken: [
        (["README.md": "# A\n\n[a](Docs/A.md)"], ["README.md:3"]),
        (["Docs/A.md": "[a](../B.md)"], ["Docs/A.md:1"]),
        (["Docs/A.md": "# One thing\n[a](#another)"], ["Docs/A.md:2"]),
        (["A.md": "[b](B.md#c)", "B.md": "# B"], ["A.md:1"]),
      ],
      kept: [
        [
          "README.md": "[a](Docs/A.md) [d](Docs) [h](https://a.b/c.md)",
          "Docs/A.md": "[b](../README.md)",
        ],
        ["A.md": "## The `one` thing, here\n[a](#the-one-thing-here)"],
        ["A.md": "```\n[a](B.md)\n```\n`[a](B.md)`"],
      ]),

    SourceRule(
      "No file names a path of the machine it was written on",
      files: { $0.files },
      broken: machinePaths.map { (["A.md": "a\nsee \($0)x"], ["A.md:2"]) },
      kept: [["A.md": "network/", "B.swift": "let a = \"/tmp/a\""]]
    ) { file in
      file.lines.enumerated().flatMap { index, line in
        machinePaths.filter { line.names($0) }.map {
          file.fault(index + 1, "\($0) is on nobody else's machine")
        }
      }
    },

    SourceRule(
      name: "Every Swift example on a page is one that the tests compile",
      check: { $0.exampleFaults() },
      broken: [
        ([:], pagesWithExamples),
        (pages("# A", tests: ["f()"]), pagesWithExamples),
        (pages("```swift\nf(1)\n```", tests: ["f(2)"]), pagesWithExamples),
        (pages("```swift\nimport A\nf()\n```", tests: ["f()"]), pagesWithExamples),
        (pages("```swift\nf()\n```\n```swift\ng()\n```", tests: ["f()"]), pagesWithExamples),
        (pages("```swift\nf()\ng()\n```", tests: ["f()", "g()"]), pagesWithExamples),
        (
          pages("```swift\nf()\n```", tests: ["f()"], article: "```swift\ng()\n```"),
          ["Sources/A/A.docc/B.md"]
        ),
        (
          pages("```swift\nf()\n```", tests: ["f()"], comment: "/// ```swift\n/// g()\n/// ```"),
          ["Sources/A/A.swift"]
        ),
      ],
      kept: [
        pages(
          "```sh\nmake\n```\n```swift\nimport A\nf(1,\n  2)\n```\n```swift\ng()\n```",
          tests: ["import A\nimport Testing\nfunc g() {\n  f(1, 2)  // 3\n}", "g()"]),
        pages(
          "- a\n  ```swift\n  f()\n  ```", tests: ["f()", "{\n  g(\"\"\"\n    a\n    \"\"\")\n}"],
          comment: "  /// ```swift\n  /// g(\"\"\"\n  ///   a\n  ///   \"\"\")\n  /// ```"),
      ]),

    SourceRule(
      name: "Every code block names its language; a second word is a fence that by-url compiles",
      check: { $0.fenceFaults() },
      broken: [
        (["A.md": "a\n```\nb\n```"], ["A.md:2"]),
        (["A.md": "- a\n  ```swift manifest\n  b\n  ```"], ["A.md:2"]),
      ],
      kept: [
        [
          "A.md": "```text\na\n```\n```swift manifest\nb\n```",
          ".ci/by-url": "blocks '```swift manifest' A.md",
        ]
      ]),

    SourceRule(
      "A citation names a document that is in the repository",
      files: { $0.files },
      broken: outsideDocuments.map { (["A.swift": "/// Source: \($0)1."], ["A.swift:1"]) },
      kept: [["A.swift": "/// See CS-1 in Docs/Evidence/Surface.md, and CloudKit Web Services."]]
    ) { file in
      file.lines.enumerated().flatMap { index, line in
        outsideDocuments.filter { line.contains($0) }.map {
          file.fault(index + 1, "`\($0)` is not in the repository: cite a row of Docs/Evidence")
        }
      }
    },
  ]

  /// A tree whose pages with examples all have this text, and whose tests have those.
  private static func pages(
    _ text: String, tests: [String], article: String = "", comment: String = ""
  ) -> SourceTree {
    SourceTree(
      files: pagesWithExamples.map { SourceFile(path: $0, text: text) }
        + tests.enumerated().map {
          SourceFile(path: "Tests/A/\($0.offset).swift", text: $0.element)
        } + [
          SourceFile(path: "Sources/A/A.docc/B.md", text: article),
          SourceFile(path: "Sources/A/A.swift", text: comment),
        ])
  }

  // Written in two halves, so that this file keeps its own rule.
  private static let machinePaths = ["/" + "work/", "/" + "root/", "/tmp/" + "wt"]
}

extension String {
  /// Whether the path stands in the text by itself and not as the end of another one.
  fileprivate func names(_ path: String) -> Bool {
    var rest = Substring(self)
    while let range = rest.firstRange(of: path) {
      let before = rest[..<range.lowerBound].last
      if before.map({ !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "}" }) ?? true {
        return true
      }
      rest = rest[range.upperBound...]
    }
    return false
  }

  /// The text without the blanks at the beginning of each line, which a literal may have more of.
  fileprivate var unindented: String {
    guard contains("\n") else { return self }
    return split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.joined(separator: "\n")
  }

  /// A heading's name in links, as GitHub makes it.
  fileprivate var anchor: String {
    String(
      lowercased().compactMap { character in
        if character == " " { return "-" }
        return character.isLetter || character.isNumber || "-_".contains(character)
          ? character : nil
      })
  }
}

extension SourceFile {
  /// The lines outside code blocks, without code spans.
  var prose: [(number: Int, text: String)] {
    var isCode = false
    return lines.enumerated().compactMap { index, line in
      if line.trimmingPrefix(while: { $0 == " " }).hasPrefix("```") {
        isCode.toggle()
        return nil
      }
      guard !isCode else { return nil }
      return (index + 1, line)
    }
  }

  fileprivate var links: [(target: String, line: Int)] {
    prose.flatMap { number, text in
      text.withoutCode.matches(of: /\]\(([^)\s]+)\)/).map { (String($0.output.1), number) }
    }
  }

  fileprivate var anchors: Set<String> {
    Set(
      prose.filter { $0.text.hasPrefix("#") }.map {
        $0.text.trimmingPrefix { $0 == "#" }.trimmingPrefix { $0 == " " }.description.anchor
      })
  }

  /// The contents of the code blocks marked with `language`, in Markdown or in doc comments.
  fileprivate func codeBlocks(in language: String) -> [String] {
    var blocks: [String] = []
    var isInside = false
    for var line in lines.map({ $0.trimmingPrefix { $0 == " " } }) {
      if isSwift {
        guard line.hasPrefix("///") else { continue }
        line = line.dropFirst(3).trimmingPrefix { $0 == " " }
      }
      if line == "```\(language)" {
        isInside = true
        blocks.append("")
      } else if line.hasPrefix("```") {
        isInside = false
      } else if isInside {
        blocks[blocks.count - 1] += line + "\n"
      }
    }
    return blocks
  }

  /// The words and symbols of the code but for its imports, with string literals unindented.
  fileprivate var codeWithoutImports: [String] {
    let imported = Set(imports.map(\.line))
    return tokens.filter { !imported.contains($0.line) }.map(\.text.unindented)
  }

  /// The lines that begin a code block, without their indentation.
  fileprivate var fences: [(number: Int, text: Substring)] {
    let marks = lines.enumerated().map { ($0.offset + 1, $0.element.trimmingPrefix { $0 == " " }) }
      .filter { $0.1.hasPrefix("```") }
    return stride(from: 0, to: marks.count, by: 2).map { marks[$0] }
  }
}

extension SourceTree {
  /// The examples of the README, of `Docs`, of the catalogs, of the pages of `Examples` and of doc
  /// comments that no file of the tests contains; each example must be in one file, with all its
  /// imports.
  fileprivate func exampleFaults() -> [Fault] {
    let pages = files.filter { file in
      file.isMarkdown
        ? file.path == "README.md" || file.path.hasPrefix("Docs/") || file.path.contains(".docc/")
          || file.path.hasPrefix("Examples/")
        : file.isSwift && file.path.hasPrefix("Sources/")
    }
    let tests = files.filter { $0.path.hasPrefix("Tests/") && $0.isSwift }
      .map { (modules: Set($0.imports.map(\.module)), code: $0.tokens.map(\.text.unindented)) }
    let empty = pagesWithExamples.filter { self[$0]?.codeBlocks(in: "swift").isEmpty ?? true }
    return empty.map { Fault(place: $0, message: "no example in Swift") }
      + pages.flatMap { page in
        page.codeBlocks(in: "swift").enumerated().compactMap { index, example in
          let file = SourceFile(path: "Example.swift", text: example)
          let modules = file.imports.map(\.module)
          let code = file.codeWithoutImports
          let isCompiled = tests.contains { test in
            test.modules.isSuperset(of: modules) && test.code.contains(code)
          }
          guard !isCompiled else { return nil }
          return Fault(place: page.path, message: "no test contains example \(index + 1)")
        }
      }
  }

  fileprivate func fenceFaults() -> [Fault] {
    let compiled = self[".ci/by-url"]?.text ?? ""
    return files.filter(\.isMarkdown).flatMap { file in
      file.fences.compactMap { number, fence in
        if fence == "```" { return file.fault(number, "name the language, such as text") }
        guard fence.contains(" "), !compiled.contains("'\(fence)'") else { return nil }
        return file.fault(number, "\(fence) is not compiled by .ci/by-url")
      }
    }
  }

  /// Whether a link leads to a file, a folder or a heading; addresses on the web are taken for
  /// granted.
  fileprivate func resolves(_ target: String, from file: SourceFile) -> Bool {
    if target.contains("://") || target.hasPrefix("mailto:") { return true }
    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].isEmpty ? file.path : resolve(String(parts[0]), from: file.folder)
    guard let path, path.isEmpty || contains(path) else { return false }
    guard parts.count == 2 else { return true }
    return self[path]?.anchors.contains(String(parts[1])) ?? false
  }

  private func resolve(_ path: String, from folder: String) -> String? {
    var parts = folder.split(separator: "/")
    for part in path.split(separator: "/") {
      switch part {
      case ".": break
      case "..":
        guard !parts.isEmpty else { return nil }
        parts.removeLast()
      default: parts.append(part)
      }
    }
    return parts.joined(separator: "/")
  }
}
