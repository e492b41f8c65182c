import Foundation

/// One file of the repository with, for Swift, its tokens.
struct SourceFile: Sendable {
  /// The path relative to the repository's root.
  let path: String
  let text: String
  let lines: [String]
  let tokens: [Token]
  /// The positions of each token's text.
  let positions: [String: [Int]]
  let comments: [Int: String]
  let commentKinds: [Int: CommentKind]
  let literalLines: Set<Int>

  init(path: String, text: String) {
    self.path = path
    self.text = text
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    self.lines = lines
    let scanner = SwiftScanner(path.hasSuffix(".swift") ? text : "")
    tokens = scanner.tokens
    positions = Dictionary(grouping: tokens.indices) { scanner.tokens[$0].text }
    comments = scanner.comments
    commentKinds = scanner.commentKinds
    literalLines = scanner.literalLines
  }

  var isSwift: Bool { path.hasSuffix(".swift") }
  var isMarkdown: Bool { path.hasSuffix(".md") }
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The folder's path, empty at the root.
  var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

  /// A fault in this file.
  func fault(_ line: Int, _ message: String) -> Fault {
    Fault(place: "\(path):\(line)", message: message)
  }
}

/// The folders of the targets that verify the product and are not tests.
let verificationFolders = ["Tests/Support", "Tests/Verification", "Tests/Benchmarks"]

/// The repository as text, which the rules check; a rule can be tried on a small tree written in
/// the test.
struct SourceTree: Sendable, ExpressibleByDictionaryLiteral {
  let files: [SourceFile]

  init(files: [SourceFile]) {
    self.files = files.sorted { $0.path < $1.path }
  }

  init(dictionaryLiteral elements: (String, String)...) {
    self.init(files: elements.map { SourceFile(path: $0.0, text: $0.1) })
  }

  subscript(path: String) -> SourceFile? { files.first { $0.path == path } }

  /// The Swift files under any of `folders`, or all with the manifest when none is given.
  func swift(under folders: String...) -> [SourceFile] { swift(under: folders) }

  /// The same, with the folders in a list.
  func swift(under folders: [String]) -> [SourceFile] {
    files.filter { file in
      file.isSwift && (folders.isEmpty || folders.contains { file.path.hasPrefix($0 + "/") })
    }
  }

  /// The Swift files of the product and of what verifies it, test targets aside.
  var programs: [SourceFile] {
    swift(under: ["Sources"] + verificationFolders)
  }

  /// Whether `path` is a file or a folder that holds one.
  func contains(_ path: String) -> Bool {
    files.contains { $0.path == path || $0.path.hasPrefix(path + "/") }
  }
}

extension SourceTree {
  /// The tree this test was compiled from.
  static let repository = SourceTree(
    root: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent())

  /// Reads every text file under `root` but what a build or version control leaves there.
  init(root: URL) {
    let root = root.standardizedFileURL
    let prefix = root.path(percentEncoded: false)
    var files: [SourceFile] = []
    let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    while let url = walk?.nextObject() as? URL {
      if SourceTree.isLeftOut(url.lastPathComponent) {
        walk?.skipDescendants()
        continue
      }
      guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
      let path = url.standardizedFileURL.path(percentEncoded: false).dropFirst(prefix.count)
      files.append(
        SourceFile(path: path.trimmingPrefix { $0 == "/" }.description, text: text))
    }
    self.init(files: files)
  }

  private static func isLeftOut(_ name: String) -> Bool {
    [".git", ".swiftpm", "Package.resolved", ".DS_Store"].contains(name)
      || name.hasPrefix(".build") || name.hasSuffix(".xcodeproj")
  }
}
