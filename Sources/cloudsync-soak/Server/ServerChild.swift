import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The server's process, seen from the soak: at most one at a time, always on the same port and
/// file.
final class ServerChild: Sendable {
  /// What a server says when it listens.
  struct Greeting: Hashable, Sendable {
    var apiToken: String
    /// The web tokens, by account.
    var webTokens: [String]
  }

  /// `@unchecked` because Foundation does not say whether a process is: guarded by the lock of
  /// `running`, and by there being one task that starts and ends servers.
  private struct Running: @unchecked Sendable {
    var process: Process
    var input: FileHandle
    var ended: Ended
  }

  private let program: URL
  private let running = Mutex<Running?>(nil)
  /// The file all its servers keep.
  let path: String
  /// The port they all listen on.
  let port: Int

  /// Servers for the file at `path`, on `port`; none is started.
  init(port: Int, path: String) throws {
    guard let program = Bundle.main.executableURL else {
      throw SoakError("this program does not know where it lies")
    }
    self.program = program
    self.port = port
    self.path = path
  }

  /// Where it is reached.
  var url: String { "http://127.0.0.1:\(port)" }

  /// The number of the process that runs now.
  var processID: Int32? { running.withLock { $0?.process.processIdentifier } }

  /// Starts a server, and returns when it listens.
  func start() async throws -> Greeting {
    let process = Process()
    process.executableURL = program
    process.arguments = ["server", String(port), path]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    let ended = Ended()
    process.terminationHandler = { ended.fulfil($0.terminationStatus) }
    try process.run()
    running.withLock {
      $0 = Running(process: process, input: input.fileHandleForWriting, ended: ended)
    }
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      guard let bytes = try output.fileHandleForReading.read(upToCount: 1), !bytes.isEmpty else {
        let status = await end()
        throw ServerStartFailure(status: status)
      }
      line += bytes
    }
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2 + ServerProgram.accounts.count, words[0] == "ready" else {
      throw SoakError("the server greets in an unknown way")
    }
    return Greeting(apiToken: String(words[1]), webTokens: words[2...].map { String($0) })
  }

  /// Kills the server, which notices nothing of it, and returns when it is gone.
  func kill() async {
    if let id = processID { _ = signal(id, SIGKILL) }
    _ = await end()
  }

  /// Lets the server end by itself; returns its exit code.
  func stop() async -> Int32 { await end() }

  private func end() async -> Int32 {
    let running = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let running else { return 0 }
    try? running.input.close()
    return await running.ended.status
  }

  private func signal(_ id: Int32, _ number: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.kill(id, number)
    #elseif canImport(Musl)
      Musl.kill(id, number)
    #else
      Glibc.kill(id, number)
    #endif
  }
}

/// A server that ended before it listened.
struct ServerStartFailure: Error, CustomStringConvertible {
  var status: Int32

  var description: String { "the server ended with status \(status) before it listened" }
}

/// The end of a process, which may be waited for before or after it.
private final class Ended: Sendable {
  private struct State {
    var status: Int32?
    var waiting: [CheckedContinuation<Int32, Never>] = []
  }

  private let state = Mutex(State())

  func fulfil(_ status: Int32) {
    let waiting = state.withLock { state in
      state.status = status
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: status) }
  }

  var status: Int32 {
    get async {
      await withCheckedContinuation { continuation in
        let status = state.withLock { state in
          if state.status == nil { state.waiting.append(continuation) }
          return state.status
        }
        if let status { continuation.resume(returning: status) }
      }
    }
  }
}
