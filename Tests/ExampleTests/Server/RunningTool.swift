import Foundation
import Testing
import VerificationSupport

/// A process that runs while the test goes on; killed when nobody holds it any more.
final class RunningTool: Sendable {
  let output: PrintedLines
  let errors: PrintedLines
  private let process: StartedProcess

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - input: Where the process reads from; it finds nothing there without it.
  ///   - end: The byte behind each line of its output.
  init(_ process: ToolProcess, input: Pipe? = nil, end: UInt8 = UInt8(ascii: "\n")) throws {
    var process = process
    let (out, err) = (Pipe(), Pipe())
    process.input = input?.fileHandleForReading
    process.output = out.fileHandleForWriting
    process.errors = err.fileHandleForWriting
    self.process = try process.start()
    // The process alone has them now, so that they end with it.
    try out.fileHandleForWriting.close()
    try err.fileHandleForWriting.close()
    output = PrintedLines(out.fileHandleForReading, end: end)
    errors = PrintedLines(err.fileHandleForReading)
  }

  deinit { process.send(SIGKILL) }

  var processID: Int32 { process.id }

  func send(_ signal: CInt) { process.send(signal) }

  /// Waits for the end of the process: the exit code, or the signal with a minus sign.
  func exitCode() async -> CInt { await process.exitCode() }
}

/// The lines that a process prints, as they come.
final class PrintedLines: Sendable {
  private let lines: AsyncStream<String>

  init(_ handle: FileHandle, end: UInt8 = UInt8(ascii: "\n")) {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    self.lines = lines
    // A thread and not `readabilityHandler`: on Linux a descriptor that is closed while its
    // dispatch source is removed may end the process.
    Thread.detachNewThread {
      var rest = Data()
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while case let count = read(handle.fileDescriptor, &buffer, buffer.count), count > 0 {
        rest += buffer[..<count]
        while let last = rest.firstIndex(of: end) {
          continuation.yield(String(decoding: rest[..<last], as: UTF8.self))
          rest = Data(rest[(last + 1)...])
        }
      }
      continuation.finish()
    }
  }

  /// The next line that is wanted; the ones before are gone then.
  func line(where isWanted: (String) -> Bool) async throws -> String {
    var seen: [String] = []
    for await line in lines {
      if isWanted(line) { return line }
      seen.append(line)
    }
    throw LineError(seen: seen)
  }

  /// A process ended before it printed what was waited for.
  struct LineError: Error {
    var seen: [String]
  }
}
