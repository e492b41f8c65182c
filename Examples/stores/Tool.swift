import CommandLineKit
import Foundation
import LoopbackServer
import SyncSupport
import Synchronization

/// The tool from the command line to the exit code.
enum Tool {
  /// Carries out one command line.
  ///
  /// - Returns: 0 when it was done, 1 when it failed, 2 when the command line makes no sense.
  static func run(_ arguments: [String], environment: [String: String]) async -> CInt {
    do {
      let (options, command) = try Command.parse(arguments)
      let output = Output(isJSON: options.isJSON)
      do {
        return try await perform(command, options, environment, output)
      } catch let error as UsageError {
        throw error
      } catch {
        output.endProgress()
        output.note("stores: \(words(error))")
        return 1
      }
    } catch let error as UsageError {
      let hint = error.topic.map { "stores help \($0)" } ?? "stores --help"
      FileHandle.standardError.write(
        Data("stores: \(error.description)\nTry: \(hint)\n".utf8))
      return 2
    } catch {
      FileHandle.standardError.write(Data("stores: \(error)\n".utf8))
      return 1
    }
  }

  private static func perform(
    _ command: Command, _ options: GlobalOptions, _ environment: [String: String],
    _ output: Output
  ) async throws -> CInt {
    if case .help(let topic) = command {
      Output.write(try Help.text(topic))
      return 0
    }
    let home = try Home(
      options.home, environment: environment, server: ServerAddress(options, environment))
    let device = options.device ?? "default"
    let open = {
      try await Session(home, device: device, account: options.account) { output.note($0) }
    }
    switch command {
    case .tabs(.watch):
      try await untilInterrupted {
        try await Watch(
          home: home, device: device, account: options.account, output: output
        ).run()
      }
    case .tabs(let verb): try await open().perform(verb, output)
    case .clipboard(let verb): try await open().perform(verb, output)
    case .results(let verb): try await open().perform(verb, output)
    case .account(let verb): try await open().perform(verb, output)
    case .sync: try await open().syncAll(output)
    case .demo: return try await Demo(home: home, output: output).run() ? 0 : 1
    case .reset(let isForced): try await home.reset(isForced: isForced, output)
    case .help: break
    }
    CrashPoint.pass(environment)
    return 0
  }

  /// Runs `body` until it ends or the person interrupts the program.
  private static func untilInterrupted(
    _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let task = Task { try await body() }
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { task.cancel() }
      source.resume()
      return source
    }
    defer { for source in sources { source.cancel() } }
    do {
      try await task.value
    } catch is CancellationError {
      return
    }
  }
}

/// Places where a process dies as in a crash, for the demo and the tests that start one.
enum CrashPoint {
  /// Set to 1, the process dies when its command is done and before it could say goodbye.
  static let afterCommand = "CLOUDSYNC_STORES_DIE_AFTER_COMMAND"

  /// Set to a number, the process dies when the server has carried out that many requests and
  /// the last one's answer has not left.
  static let afterRequest = "CLOUDSYNC_STORES_DIE_AFTER_REQUEST"

  /// Ends the process without any goodbye when the environment asks for it.
  static func pass(_ environment: [String: String]) {
    if environment[afterCommand] == "1" { die() }
  }

  private static let countdown = ProcessInfo.processInfo.environment[afterRequest]
    .flatMap { Int($0) }.map { Countdown($0) }

  /// Sees to it that the process dies in the middle of a request when the environment asks for it.
  static func prepare(_ server: LoopbackServer) {
    guard let countdown else { return }
    server.controls.runAfterCommit(next: countdown.count) { _ in
      if countdown.isOver() { die() }
    }
  }

  /// Ends the process when a server by HTTP has carried out its last request, before anybody
  /// here hears of that.
  static func passRequest() {
    if let countdown, countdown.isOver() { die() }
  }

  private final class Countdown: Sendable {
    let count: Int
    private let left: Mutex<Int>

    init(_ count: Int) {
      self.count = count
      left = Mutex(count)
    }

    func isOver() -> Bool {
      left.withLock { left in
        left -= 1
        return left <= 0
      }
    }
  }

  private static func die() { kill(getpid(), SIGKILL) }
}
