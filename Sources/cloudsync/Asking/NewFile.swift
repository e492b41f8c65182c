import CommandLineKit
import Foundation

/// A file that appears at its place only when it is whole, and that only its owner can read.
final class NewFile {
  private let path: String
  private let draft: String
  private let descriptor: CInt
  /// How much was written.
  private(set) var byteCount = 0

  /// Begins a file beside the place where it will be.
  init(_ path: String) throws(ToolError) {
    self.path = path
    draft = path + ".\(getpid()).part"
    descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ToolError("cannot write \(quoted(path)): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// Adds to the file.
  func write(_ bytes: [UInt8]) throws(ToolError) {
    var left = bytes[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw ToolError("cannot write \(quoted(path)): \(String(cString: strerror(errno)))")
      }
      left = left.dropFirst(count)
      byteCount += count
    }
  }

  /// Puts the file at its place.
  func finish() throws(ToolError) {
    guard fsync(descriptor) == 0, rename(draft, path) == 0 else {
      throw ToolError("cannot write \(quoted(path)): \(String(cString: strerror(errno)))")
    }
  }

  /// Removes what was begun.
  func discard() { unlink(draft) }
}
