import Foundation

/// Words that plain technical English does without: each place has a better one.
private let avoidedWords = [
  "anew": "write `again`, or the verb with `re`",
  "nobody": "name what there is none of, such as `no account`",
  "somebody": "name who it is, such as `another user`",
  "told": "name what is reported, delivered or distinguished",
  "whoever": "name who it is",
]

extension SourceRule {
  static let wordRules: [SourceRule] = [
    SourceRule(
      "Pages, and doc comments of Sources, use plain words",
      files: { tree in
        tree.files.filter { $0.isMarkdown || $0.isSwift && $0.path.hasPrefix("Sources/") }
      },
      broken: avoidedWords.keys.map { (["Docs/A.md": "a\n\($0.capitalized) b."], ["Docs/A.md:2"]) }
        + [fault("let a = 1\n/// A.\n/// It is anew.", at: 3)],
      kept: [
        ["Docs/A.md": "`told` and renewed\n```text\nnobody\n```\n| `A: nobody is lost` |"],
        ["Sources/A/A.swift": "// nobody\nlet told = \"told\""],
        ["Tests/A/A.swift": "/// nobody"],
      ]
    ) { file in
      file.descriptions.flatMap { number, text in
        let words = text.lowercased().split { !$0.isLetter && $0 != "'" }.map(String.init)
        return Set(words).sorted().compactMap { word in
          avoidedWords[word].map { file.fault(number, "`\(word)`: \($0)") }
        }
      }
    }
  ]
}

extension SourceFile {
  /// The sentences for readers, by line and without code: those of a page, or doc comments.
  fileprivate var descriptions: [(number: Int, text: String)] {
    guard isSwift else { return prose.map { ($0.number, $0.text.withoutCode) } }
    return comments.filter { commentKinds[$0.key] == .documentation }.sorted { $0.key < $1.key }
      .map { ($0.key, $0.value.withoutCode) }
  }
}

extension String {
  /// The text without what is between backticks.
  var withoutCode: String {
    split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(separator: "x")
  }
}
