import CommandLineKit
import Foundation
import SyncSupport
import TabStore

/// The text files of a folder, by their path in it.
struct TextFiles {
  struct File {
    var name: String
    var content: String
  }

  /// A file that does not become a tab.
  struct Skipped: Encodable {
    var name: String
    var why: String
  }

  /// The largest file that becomes a tab: a record holds 1 MB, and fields need room.
  static let largest = 900_000

  /// Folders that are skipped.
  private static let left = [".git", ".build", ".swiftpm", "node_modules", "DerivedData"]

  private(set) var files: [File] = []
  private(set) var skipped: [Skipped] = []

  /// Reads every file under `folder` whose ending `endings` names, or all texts.
  ///
  /// - Parameter progress: called with the number of files read so far, and of all there are.
  /// - Throws: `ToolError` when the folder can't be read.
  init(
    in folder: URL, endings: [String]? = nil, progress: (Int, Int) -> Void = { _, _ in }
  ) throws(ToolError) {
    guard let walk = FileManager.default.enumerator(atPath: folder.path) else {
      throw ToolError("cannot read the folder \(quoted(folder.path))")
    }
    var names: [String] = []
    while let name = walk.nextObject() as? String {
      let last = (name as NSString).lastPathComponent
      if Self.left.contains(last) || last.hasPrefix(".") {
        walk.skipDescendants()
        continue
      }
      guard walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular else { continue }
      if let endings, !endings.contains((name as NSString).pathExtension) { continue }
      names.append(name)
    }
    for (number, name) in names.sorted().enumerated() {
      progress(number, names.count)
      guard let data = FileManager.default.contents(atPath: folder.path + "/" + name) else {
        skipped.append(Skipped(name: name, why: "it can't be read"))
        continue
      }
      if data.count > Self.largest {
        skipped.append(Skipped(name: name, why: "it is larger than \(size(Self.largest))"))
      } else if let content = String(validating: data, as: UTF8.self), !data.contains(0) {
        files.append(File(name: name, content: content))
      } else {
        skipped.append(Skipped(name: name, why: "it is no text"))
      }
    }
  }
}

extension TabStore {
  struct TakeOver {
    var added = 0
    var changed = 0
    var unchanged = 0
  }

  /// Opens a tab for each file, or brings the tab of that name up to date.
  ///
  /// - Parameter progress: called with the number of files so far, and of all there are.
  func takeOver(
    _ files: [TextFiles.File], now: Date, progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> TakeOver {
    let byName = Dictionary(tabs.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var report = TakeOver()
    var new: [ScratchTab] = []
    for (number, file) in files.enumerated() {
      progress(number, files.count)
      guard let tab = byName[file.name] else {
        report.added += 1
        new.append(
          ScratchTab(
            id: UUID(), name: file.name, content: file.content,
            language: Language.of(file.name), lastModified: now))
        continue
      }
      if tab.content.hasSameBytes(as: file.content) {
        report.unchanged += 1
      } else {
        report.changed += 1
        try updateContent(tab.id, file.content, now: now)
      }
    }
    try add(new)
    return report
  }
}

/// Languages by the ending of a name.
enum Language {
  private static let byEnding = [
    "c": "c", "css": "css", "h": "c", "html": "html", "js": "javascript", "json": "json",
    "md": "markdown", "py": "python", "rb": "ruby", "rs": "rust", "sh": "bash", "sql": "sql",
    "swift": "swift", "ts": "typescript", "xml": "xml", "yaml": "yaml", "yml": "yaml",
  ]

  /// The language of a text called `name`; `plain` when the ending says nothing.
  static func of(_ name: String) -> String {
    byEnding[(name as NSString).pathExtension.lowercased()] ?? "plain"
  }
}
