package import Foundation

/// A copy of the package's sources in which some files have another text.
package struct SourceCopy {
  /// The package that is copied.
  package let root: URL
  /// The folder of the copy.
  package let folder: URL

  /// Describes a copy.
  package init(root: URL, folder: URL) {
    self.root = root
    self.folder = folder
  }

  /// The parts of the package that the build and the tests need.
  private static let parts = [
    "Package.swift", "Sources", "Tests", "Examples", "Docs", "README.md", "CONTRIBUTING.md",
    "SECURITY.md", "CHANGELOG.md", "LICENSE", "Makefile", ".ci",
  ]

  /// Updates the copy; files that are the same are not written, so that the next build is short.
  ///
  /// - Parameter texts: The texts of changed and of added files, by path.
  package func update(replacing texts: [String: String]) throws {
    let files = FileManager.default
    var wanted: [String: Data] = [:]
    for path in try paths(under: root) {
      wanted[path] = try Data(contentsOf: root.appendingPathComponent(path))
    }
    for (path, text) in texts { wanted[path] = Data(text.utf8) }
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    for path in try paths(under: folder) where wanted[path] == nil {
      try files.removeItem(at: folder.appendingPathComponent(path))
    }
    for (path, data) in wanted {
      let file = folder.appendingPathComponent(path)
      if files.contents(atPath: file.path) == data { continue }
      try files.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: file)
      if files.isExecutableFile(atPath: root.appendingPathComponent(path).path) {
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      }
    }
  }

  private func paths(under root: URL) throws -> [String] {
    let files = FileManager.default
    var found: [String] = []
    for part in Self.parts {
      let place = root.appendingPathComponent(part)
      var isFolder: ObjCBool = false
      guard files.fileExists(atPath: place.path, isDirectory: &isFolder) else { continue }
      guard isFolder.boolValue else {
        found.append(part)
        continue
      }
      for path in try files.subpathsOfDirectory(atPath: place.path).sorted() {
        var isFolder: ObjCBool = false
        let whole = place.appendingPathComponent(path).path
        if files.fileExists(atPath: whole, isDirectory: &isFolder), !isFolder.boolValue {
          found.append("\(part)/\(path)")
        }
      }
    }
    return found
  }
}
