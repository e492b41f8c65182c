import CommandLineKit
import Disk
import Foundation

/// Writes a file atomically: it appears at its path only when it is complete, readable by its owner
/// only.
///
/// A symbolic link stays one, and its target is replaced. What is not a file, such as a pipe or a
/// device, is written to directly.
final class NewFile {
  private let path: String
  /// The temporary file, and the file that it becomes; `nil` if the path is written to directly.
  private let draft: (path: String, target: String)?
  private let descriptor: CInt
  /// The number of bytes written.
  private(set) var byteCount = 0

  /// Creates a temporary file beside the final path.
  init(_ path: String) throws(ToolError) {
    self.path = path
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT != S_IFREG {
      draft = nil
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
    } else {
      let target = exists ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
      // Not the process ID: in a container it is the same after each restart.
      let draft = target + ".\(UInt32.random(in: 0...(.max))).part"
      self.draft = (draft, target)
      descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard descriptor >= 0 else { throw ToolError.cannotWrite(path) }
  }

  /// Checks that the file can be created and is not the server's file, and leaves nothing behind.
  ///
  /// - Parameter data: the path of the server's file, or the address of its database, or `nil`.
  static func check(_ path: String, besides data: String?) throws(ToolError) {
    let places = [path, data].map { $0.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath() } }
    guard places[0] != places[1] else {
      throw ToolError(
        "\(quoted(path)) is the server's file; give the archive another name",
        code: ExitCode.usage)
    }
    try NewFile(path).discard()
  }

  deinit { close(descriptor) }

  /// Appends to the file.
  func write(_ bytes: [UInt8]) throws(ToolError) {
    guard Output.put(bytes, descriptor) == 0 else { throw ToolError.cannotWrite(path) }
    byteCount += bytes.count
  }

  /// Moves the file to its final path, where it is after a power failure, too.
  func finish() throws(ToolError) {
    guard let draft else { return }
    guard fsync(descriptor) == 0, rename(draft.path, draft.target) == 0 else {
      throw ToolError.cannotWrite(path)
    }
    do throws(DiskError) { try SystemDisk().synchronizeFolder(of: draft.target) } catch {
      throw ToolError.cannotWrite(path)
    }
  }

  /// Removes the temporary file.
  func discard() {
    if let draft { unlink(draft.path) }
  }
}
