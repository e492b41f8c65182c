import Foundation

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

  /// Runs a process that was not started yet, with this as its output and errors, to its end.
  ///
  /// - Returns: What it printed, with plain line ends.
  func run(_ process: Process) async throws -> String {
    let descriptor = open(path, O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    // Closed only after a word of ours, behind which there is nothing more to read.
    var text = Data()
    try handle.write(contentsOf: Data([4]))
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while text.last != 4 {
      let count = read(primary, &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    try handle.close()
    return String(decoding: text.dropLast(), as: UTF8.self)
      .replacingOccurrences(of: "\r\n", with: "\n")
  }
}
