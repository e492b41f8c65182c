extension SourceRule {
  static let documentationRules: [SourceRule] = [
    SourceRule(
      "Every public and package declaration has a doc comment",
      files: { $0.swift(under: "Sources", "Examples", "Tests") },
      broken: [
        fault("public func f() {}", at: 1),
        fault("// F.\npackage func f() {}", at: 2),
        fault("/// F.\n\npublic func f() {}", at: 3),
        fault("/// A.\npublic struct A {\n  @B(c)\n  public private(set) var a = 1\n}", at: 4),
        fault("/// E.\npackage enum E {\n  /// A.\n  case a\n  case b\n}", at: 5),
        fault("/// P.\npublic protocol P {\n  func f()\n  static var a: Int { get }\n}", at: 3, 4),
        fault("public extension P {\n  func f() {}\n  private func g() {}\n}", at: 2),
      ],
      kept: [
        ["Sources/A/A.swift": "public import B\npackage import C\nfunc f() {}"],
        ["Sources/A/A.swift": "/// A.\n@B(c: d)\n@E public final class A {\n  var a = 1\n}"],
        ["Sources/A/A.swift": "/** A. */\npublic var a: Int {\n  switch b { case .c: 1 }\n}"],
        ["Sources/A/A.swift": "/// A.\n// Guarded by its lock.\npublic class A {}"],
        ["Sources/A/A.swift": "let a = .package(b)\nf(public: 1)\nextension A {\n  func f() {}\n}"],
        [
          "Sources/A/A.swift": "/// E.\npublic enum E {\n  /// A.\n  case a\n  enum F { case b }\n}"
        ],
      ]
    ) { file in
      Set(file.exposedDeclarations()).sorted().compactMap { index in
        let start = file.start(ofDeclarationAt: index)
        guard !file.hasDocumentation(aboveLine: file.tokens[start].line) else { return nil }
        let name = index + 1 < file.tokens.count ? file.tokens[index + 1].text : ""
        return file.fault(
          file.tokens[index].line, "`\(file.tokens[index].text) \(name)` has no doc comment")
      }
    }
  ]
}

extension SourceFile {
  /// The keywords of all declarations that other modules can see.
  fileprivate func exposedDeclarations() -> [Int] {
    var found: [Int] = []
    for index in tokens.indices where ["public", "package", "open"].contains(tokens[index].text) {
      guard isKeyword(at: index), let keyword = keyword(ofDeclarationAt: index),
        tokens[index + 1].text != "("
      else { continue }
      let kind = tokens[keyword].text
      if kind != "extension" { found.append(keyword) }
      guard ["protocol", "extension", "enum"].contains(kind),
        let body = body(ofDeclarationAt: keyword)
      else { continue }
      found += members(of: body).filter { member in
        (tokens[member].text == "case") == (kind == "enum") && !isHidden(member)
      }
    }
    return found
  }

  /// The keywords of the declarations directly inside a body.
  func members(of body: ClosedRange<Int>) -> [Int] {
    var members: [Int] = []
    var index = body.lowerBound + 1
    while index < body.upperBound {
      if ["(", "[", "{"].contains(tokens[index].text) {
        index = closing(of: index) ?? body.upperBound
      } else if declarationKeywords.contains(tokens[index].text), isKeyword(at: index),
        !(tokens[index].text == "class" && declarationKeywords.contains(tokens[index + 1].text))
      {
        members.append(index)
      }
      index += 1
    }
    return members
  }

  private func isHidden(_ keyword: Int) -> Bool {
    (start(ofDeclarationAt: keyword)..<keyword).contains {
      ["private", "fileprivate", "internal"].contains(tokens[$0].text)
    }
  }

  /// Whether the comment that touches the line from above holds documentation.
  fileprivate func hasDocumentation(aboveLine line: Int) -> Bool {
    commentLines(above: line).contains { commentKinds[$0] == .documentation }
  }

  /// The lines of the comment that touches `line` from above, nearest first.
  func commentLines(above line: Int) -> [Int] {
    var found: [Int] = []
    var above = line - 1
    while above >= 1, comments[above] != nil, isOnlyComment(above) {
      found.append(above)
      above -= 1
    }
    return found
  }

  private func isOnlyComment(_ line: Int) -> Bool {
    let text = lines[line - 1].trimmingPrefix { $0 == " " }
    return text.hasPrefix("/") || text.hasPrefix("*") || text.isEmpty
      || !tokens.contains { $0.line == line }
  }
}
