import CommandLineKit
import Foundation

/// Writes a file atomically: it appears at its path only when it is complete, readable by its owner
/// only.
final class NewFile {
  private let path: String
  private let draft: String
  private let descriptor: CInt
  /// The number of bytes written.
  private(set) var byteCount = 0

  /// Creates a temporary file beside the final path.
  init(_ path: String) throws(ToolError) {
    self.path = path
    draft = path + ".\(getpid()).part"
    descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ToolError.cannotWrite(path) }
  }

  deinit { close(descriptor) }

  /// Appends to the file.
  func write(_ bytes: [UInt8]) throws(ToolError) {
    var left = bytes[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ToolError.cannotWrite(path) }
      left = left.dropFirst(count)
      byteCount += count
    }
  }

  /// Moves the file to its final path.
  func finish() throws(ToolError) {
    guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
      throw ToolError.cannotWrite(path)
    }
  }

  /// Removes the temporary file.
  func discard() { unlink(draft) }
}
