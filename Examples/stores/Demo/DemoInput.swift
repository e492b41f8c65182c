import CommandLineKit
import Foundation

/// The input of the demo: files of the repository, or generated files.
struct DemoInput {
  /// The files that become tabs.
  var files: [TextFiles.File]

  var shareTexts: String

  /// Lines for the clipboard.
  var copied: [String]

  /// The origin of the input, for messages.
  var origin: String

  /// Searches for the repository from the current directory upwards, else generates files in
  /// `folder`.
  init(orGenerateIn folder: URL) throws {
    let root = Self.repository()
    if root == nil { try Self.generateFiles(in: folder) }
    files = try TextFiles(in: root ?? folder, endings: ["md", "swift"]).files
    origin = root.map { "this repository, \($0.path)" } ?? "generated files in \(folder.path)"
    let samples = root?.appendingPathComponent(
      "Examples/GameResultStore/Samples/share-texts.txt")
    shareTexts =
      samples.flatMap { try? readText($0.path) }
      ?? String(decoding: PackageResources.share_texts_txt, as: UTF8.self)
    copied = Self.lines(files)
  }

  /// The nearest folder above the current one that holds a Swift package with sources.
  private static func repository() -> URL? {
    let files = FileManager.default
    var folder = URL(fileURLWithPath: files.currentDirectoryPath).standardizedFileURL
    while true {
      let exists = ["Package.swift", "Sources", "README.md"].allSatisfy {
        files.fileExists(atPath: folder.appendingPathComponent($0).path)
      }
      if exists { return folder }
      let above = folder.deletingLastPathComponent().standardizedFileURL
      guard above.path != folder.path, folder.path != "/" else { return nil }
      folder = above
    }
  }

  /// Up to 240 different lines, spread over all files, each at least 40 bytes long.
  private static func lines(_ files: [TextFiles.File]) -> [String] {
    var lines: [String] = []
    var known: Set<String> = []
    for file in files {
      let candidates = file.content.split(separator: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      lines += candidates.filter { $0.utf8.count >= 40 && known.insert($0).inserted }.prefix(2)
    }
    return Array(lines.prefix(240))
  }

  private static func generateFiles(in folder: URL) throws {
    try makeFolder(folder)
    for number in 1...24 {
      let isCode = number.isMultiple(of: 2)
      let lines = (1...(number * 7)).map { line in
        isCode
          ? "let value\(line) = \(number) * \(line)  // line \(line) of generated file \(number)"
          : "- Line \(line) of the generated note \(number), long enough to be copied by somebody"
      }
      let name = isCode ? "File\(number).swift" : "Note\(number).md"
      try Data(lines.joined(separator: "\n").utf8)
        .write(to: folder.appendingPathComponent(name))
    }
  }
}
