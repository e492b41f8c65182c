import Foundation
import Synchronization
import Testing

/// A process that runs while the test goes on; killed when nobody holds it any more.
// The process belongs to this one object and is only signalled after it was started; Foundation
// guards its own state.
final class RunningTool: @unchecked Sendable {
  let output: PrintedLines
  let errors: PrintedLines
  private let process: Process
  private let ended: AsyncStream<CInt>

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - input: Where the process reads from; it finds nothing there without it.
  ///   - end: The byte behind each line of its output.
  init(_ process: Process, input: Pipe? = nil, end: UInt8 = UInt8(ascii: "\n")) throws {
    self.process = process
    let (out, err) = (Pipe(), Pipe())
    process.standardInput = input ?? FileHandle.nullDevice
    process.standardOutput = out
    process.standardError = err
    let (ended, continuation) = AsyncStream.makeStream(of: CInt.self)
    self.ended = ended
    process.terminationHandler = {
      continuation.yield(BuiltTool.code($0))
      continuation.finish()
    }
    output = PrintedLines(out.fileHandleForReading, end: end)
    errors = PrintedLines(err.fileHandleForReading)
    try RunningTool.starting.withLock { _ in
      // A run of the tests may have been started with nohup; what it starts would ignore it too,
      // and a shell that was started so can't hear of it any more.
      let before = signal(SIGHUP, SIG_DFL)
      defer { _ = signal(SIGHUP, before) }
      try process.run()
    }
  }

  private static let starting = Mutex(())

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  func send(_ signal: CInt) { kill(process.processIdentifier, signal) }

  /// Waits for the end of the process: the exit code, or the signal with a minus sign.
  ///
  /// Asks the system, because Foundation takes a process for running as long as any process has the
  /// descriptors that were open when it was started. Only if Foundation was first to take the end
  /// from the system does it have the code.
  func exitCode() async -> CInt {
    let id = id_t(process.processIdentifier)
    let code: CInt? = await withCheckedContinuation { done in
      Thread.detachNewThread {
        var info = siginfo_t()
        while waitid(P_PID, id, &info, WEXITED | WNOWAIT) != 0 {
          if errno != EINTR { return done.resume(returning: nil) }
        }
        #if canImport(Glibc)
          let status = info._sifields._sigchld.si_status
        #elseif canImport(Musl) || canImport(Bionic)
          let status = info.__si_fields.__si_common.__second.__sigchld.si_status
        #else
          let status = info.si_status
        #endif
        done.resume(returning: info.si_code == CInt(CLD_EXITED) ? status : -status)
      }
    }
    if let code { return code }
    for await code in ended { return code }
    return BuiltTool.code(process)
  }
}

/// The lines that a process prints, as they come.
final class PrintedLines: Sendable {
  private let lines: AsyncStream<String>

  init(_ handle: FileHandle, end: UInt8 = UInt8(ascii: "\n")) {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    self.lines = lines
    let rest = Mutex(Data())
    handle.readabilityHandler = { handle in
      let data = handle.availableData
      guard !data.isEmpty else {
        handle.readabilityHandler = nil
        continuation.finish()
        return
      }
      rest.withLock { rest in
        rest += data
        while let last = rest.firstIndex(of: end) {
          continuation.yield(String(decoding: rest[..<last], as: UTF8.self))
          rest = Data(rest[(last + 1)...])
        }
      }
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
