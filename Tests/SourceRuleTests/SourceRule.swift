/// Something in the tree that breaks a rule.
struct Fault: Equatable, CustomStringConvertible {
  /// The file and line, or the file or folder.
  var place: String
  /// The problem and how to fix it.
  var message: String

  var description: String { "\(place): \(message)" }
}

/// A rule for the source tree: a function, with small trees that show that it can fail.
struct SourceRule: Sendable, CustomStringConvertible {
  /// The rule in one sentence.
  let name: String
  /// Finds what breaks the rule.
  let check: @Sendable (SourceTree) -> [Fault]
  /// Small trees that break the rule, each with the places where.
  let broken: [(tree: SourceTree, places: [String])]
  /// Small trees that look as if they did, but don't.
  let kept: [SourceTree]

  var description: String { name }

  /// All rules.
  static let all: [SourceRule] =
    sizeRules + documentationRules + purityRules + safetyRules + layoutRules + testRules
    + storeRules + evidenceRules + proseRules + wordRules
}

extension SourceRule {
  /// A rule about one file at a time.
  init(
    _ name: String, files: @escaping @Sendable (SourceTree) -> [SourceFile],
    broken: [(tree: SourceTree, places: [String])], kept: [SourceTree] = [],
    check: @escaping @Sendable (SourceFile) -> [Fault]
  ) {
    self.init(name: name, check: { files($0).flatMap(check) }, broken: broken, kept: kept)
  }
}

/// A tree of one file that breaks a rule, with the places where it does.
func fault(
  _ text: String, at lines: Int..., in path: String = "Sources/A/A.swift"
) -> (tree: SourceTree, places: [String]) {
  ([path: text], lines.map { "\(path):\($0)" })
}

extension SourceFile {
  /// The positions at which the words and symbols of `pattern` occur in the code.
  func occurrences(of pattern: String) -> [Int] {
    let wanted = SwiftScanner(pattern).tokens.map(\.text)
    guard let first = wanted.first else { return [] }
    return (positions[first] ?? []).filter { index in
      tokens[index...].lazy.map(\.text).starts(with: wanted)
    }
  }

  /// A fault for each place where one of `patterns` occurs in the code.
  func faults(_ patterns: [String], _ advice: String) -> [Fault] {
    patterns.flatMap { pattern in
      occurrences(of: pattern).map { fault(tokens[$0].line, "`\(pattern)`: \(advice)") }
    }
  }
}
