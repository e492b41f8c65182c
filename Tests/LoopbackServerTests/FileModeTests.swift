import Foundation
import Testing

@testable import LoopbackServer

/// The permissions of a server's files.
///
/// Source: the rules for the server's threats.
@Suite("Modes of the server's files")
struct FileModeTests {
  /// Proves TH-17.
  @Test("A server's file, and those beside it, can be read by their owner only")
  func serverFilesAreOwnerReadableOnly() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    for _ in 1...2 {
      let server = try LoopbackServer(path: file.path)
      _ = try server.user(of: "alice")
      let names = file.contents.keys.sorted()
      #expect(names.contains("cloud.db"))
      for name in names {
        let path = file.folder.appendingPathComponent(name).path
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600, "\(name)")
      }
      server.close()
    }
    // A file that was there keeps the mode its owner gave it.
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: file.path)
    try LoopbackServer(path: file.path).close()
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o640)
  }

  @Test("A file is opened as immutable if it or its folder may not be written")
  func unwritableFileOrFolderIsImmutable() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    try LoopbackServer(path: file.path).close()
    func set(_ fileMode: Int, _ folderMode: Int) throws {
      for (path, mode) in [(file.path, fileMode), (file.folder.path, folderMode)] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      }
    }
    defer { try? set(0o600, 0o700) }
    // The system administrator may write everything.
    let mayWriteAll = geteuid() == 0
    for (fileMode, folderMode) in [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500)] {
      try set(fileMode, folderMode)
      #expect(ServerFile.isImmutable(file.path) == !mayWriteAll, "\(fileMode) \(folderMode)")
    }
    try set(0o600, 0o700)
    #expect(!ServerFile.isImmutable(file.path))
    #expect(!ServerFile.isImmutable(file.path + "-none"))
  }
}
