import CommandLineKit
import Foundation
import Synchronization
import VerificationSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The server's process, seen from the soak: at most one at a time, always on the same port and
/// file.
///
/// It is started without Foundation, which would leave a run loop with its descriptors behind on
/// each thread that starts one. One task at a time may start and end servers.
final class ServerChild: Sendable {
  /// What a server says when it listens.
  struct Greeting: Hashable, Sendable {
    var apiToken: String
    /// The web tokens, by account.
    var webTokens: [String]
  }

  private struct Running: Sendable {
    var id: pid_t
    /// What the server's end waits for the end of.
    var input: Int32
  }

  private let running = Mutex<Running?>(nil)
  /// The file all its servers keep.
  let path: String
  /// The port they all listen on.
  let port: Int

  /// Servers for the file at `path`, on `port`; none is started.
  init(port: Int, path: String) throws {
    self.port = port
    self.path = path
  }

  /// Where it is reached.
  var url: String { "http://127.0.0.1:\(port)" }

  /// The number of the process that runs now.
  var processID: Int32? { running.withLock { $0?.id } }

  /// Starts a server, and returns when it listens.
  func start() async throws -> Greeting {
    let input = try Channel()
    let output = try Channel()
    let id = try ServerChild.spawn(
      SoakCommand.childWords(["server", String(port), path]), input: input.reading,
      output: output.writing)
    _ = close(input.reading)
    _ = close(output.writing)
    defer { _ = close(output.reading) }
    running.withLock { $0 = Running(id: id, input: input.writing) }
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      var byte: UInt8 = 0
      let count = read(output.reading, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else {
        throw ToolError("the server ended with status \(await end()) before it listened")
      }
      line.append(byte)
    }
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2 + ServerProgram.accounts.count, words[0] == "ready" else {
      throw ToolError("the server greets in an unknown way")
    }
    return Greeting(apiToken: String(words[1]), webTokens: words[2...].map { String($0) })
  }

  /// Kills the server, which notices nothing of it, and returns when it is gone.
  func kill() async {
    if let id = processID { _ = signal(id, SIGKILL) }
    _ = await end()
  }

  /// Lets the server end by itself; returns its exit code, or the signal with a minus sign.
  func stop() async -> Int32 { await end() }

  private func end() async -> Int32 {
    let running = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let running else { return 0 }
    _ = close(running.input)
    var status: Int32 = 0
    while true {
      let found = waitpid(running.id, &status, WNOHANG)
      if found == running.id { break }
      if found < 0, errno != EINTR { return -1 }
      try? await Task.sleep(for: .milliseconds(2))
    }
    let number = status & 0x7f
    return number == 0 ? (status >> 8) & 0xff : -number
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

  /// Starts a program that reads from one descriptor and writes to another; everything else that
  /// is open here is closed there.
  private static func spawn(
    _ words: [String], input: Int32, output: Int32
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    for descriptor in Int32(3)..<1024 {
      #if canImport(Darwin)
        // There it is an error to close what is not open.
        guard fcntl(descriptor, F_GETFD) >= 0 else { continue }
      #endif
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var arguments = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var id: pid_t = 0
    let error = posix_spawn(&id, words[0], &actions, nil, arguments, environ)
    guard error == 0 else { throw ToolError("the server can't be started: error \(error)") }
    return id
  }
}

/// A pipe whose ends no other program inherits.
private struct Channel {
  var reading: Int32
  var writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ToolError("no pipe can be made") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }
}
