import CommandLineKit
import Foundation

/// The open file of a request log, to which lines are appended.
struct RequestLogFile: Sendable {
  private let descriptor: CInt
  /// Whether the file ends with a part of a line, for the rest of which there was no space.
  private(set) var isCut: Bool

  /// The standard error of this process.
  static var standardError: RequestLogFile {
    RequestLogFile(descriptor: STDERR_FILENO, isCut: false)
  }

  private init(descriptor: CInt, isCut: Bool) {
    self.descriptor = descriptor
    self.isCut = isCut
  }

  /// Opens the file at `path`, which is created, readable by its owner alone, or continued.
  init(_ path: String) throws(ToolError) {
    let isCut = RequestLogFile.endsWithPart(of: path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ToolError.cannotWrite(path) }
    self.init(descriptor: descriptor, isCut: isCut)
  }

  /// Whether the file at `path` ends inside a line; `false` for a pipe, which has no end to read.
  private static func endsWithPart(of path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { _ = Foundation.close(descriptor) }
    var last: UInt8 = 0
    return lseek(descriptor, -1, SEEK_END) >= 0 && read(descriptor, &last, 1) == 1
      && last != UInt8(ascii: "\n")
  }

  /// Appends text.
  ///
  /// - Returns: Whether all of it was written.
  mutating func append(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var count = 0
    defer { if count > 0 { isCut = bytes[count - 1] != UInt8(ascii: "\n") } }
    while count < bytes.count {
      let written = bytes[count...].withUnsafeBytes {
        write(descriptor, $0.baseAddress, $0.count)
      }
      if written > 0 {
        count += written
      } else if written < 0, errno == EAGAIN {
        // Another process that shares the terminal or pipe made it non-blocking.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
      } else if written == 0 || errno != EINTR {
        return false
      }
    }
    return true
  }

  /// Closes the file.
  func close() { _ = Foundation.close(descriptor) }
}
