import Foundation
import VerificationSupport

/// A terminal that nobody looks at.
final class PseudoTerminal: Sendable {
  /// No terminal could be had.
  struct Failure: Error {
    var code: CInt
  }

  private let primary: CInt
  private let path: String

  /// Opens a terminal whose lines have `columns` columns.
  init(columns: UInt16) throws {
    primary = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    guard primary >= 0 else { throw Failure(code: errno) }
    path = try Self.unlocked(primary)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(primary, UInt(TIOCSWINSZ), &size) == 0 else { throw Failure(code: errno) }
  }

  deinit { close(primary) }

  /// Lets the other side of a terminal be opened.
  ///
  /// - Returns: The path of the other side.
  private static func unlocked(_ primary: CInt) throws -> String {
    #if canImport(Darwin)
      guard grantpt(primary) == 0, unlockpt(primary) == 0, let name = ptsname(primary) else {
        throw Failure(code: errno)
      }
      return String(cString: name)
    #else
      // What unlockpt and ptsname do; Swift does not see those two here.
      let (unlock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
      var isLocked: CInt = 0
      var number: CUnsignedInt = 0
      guard ioctl(primary, unlock, &isLocked) == 0, ioctl(primary, getNumber, &number) == 0 else {
        throw Failure(code: errno)
      }
      return "/dev/pts/\(number)"
    #endif
  }

  /// Runs a process, with this as its output and errors, to its end.
  ///
  /// - Returns: What it printed, with plain line ends.
  func run(_ process: ToolProcess) async throws -> String {
    let descriptor = open(path, O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var process = process
    process.output = handle
    process.errors = handle
    // Read from the first byte on: a terminal holds 4 KiB, and who prints more waits for a reader.
    async let printed = everything()
    do {
      _ = try await process.start().exitCode()
    } catch {
      try handle.write(contentsOf: Data([Self.end]))
      throw error
    }
    try handle.write(contentsOf: Data([Self.end]))
    let text = await printed
    try handle.close()
    return text
  }

  /// A byte of ours, behind which there is nothing more to read.
  private static let end: UInt8 = 4

  /// What is printed up to our last byte, read on a thread of its own since reading blocks.
  private func everything() async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [primary] in
        var text = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while text.last != Self.end {
          let count = read(primary, &buffer, buffer.count)
          guard count > 0 else { break }
          text += buffer[..<count]
        }
        continuation.resume(
          returning: String(decoding: text.dropLast(), as: UTF8.self)
            .replacingOccurrences(of: "\r\n", with: "\n"))
      }
    }
  }
}
