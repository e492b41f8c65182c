import CommandLineKit
import Foundation
import LoopbackHTTP
import Synchronization

/// `exec`: runs a command with a server.
struct Exec: Sendable {
  let options: ServerOptions
  let command: [String]

  /// Runs the command with a server.
  ///
  /// - Returns: The command's exit code; 128 plus the signal that killed it; 127 if it is not
  ///   found, 126 if it cannot be run.
  func run(_ output: Output) async throws -> CInt {
    let signals = try ReceivedSignals()
    // Nothing is to be completed before the server is ready.
    signals.handle(ReceivedSignals.end)
    let running = try RunningServer(options)
    // What arrives while the command starts is for the command.
    signals.hold()
    let child: ChildProcess
    do {
      child = try ChildProcess(command, environment: environment(for: running))
    } catch {
      try? await running.stop()
      throw error
    }
    signals.handle { signal in
      // The terminal has already sent the signal to the command; a second one may have another
      // effect.
      if !signal.isFromTerminal { child.send(signal.number) }
    }
    let code = await child.exitCode()
    // A signal of the terminal that the command has handled may arrive here only now.
    let isFirst = Mutex(true)
    signals.handle { signal in
      let ignored =
        signal.isFromTerminal
        && isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
      if !ignored { ReceivedSignals.end(signal) }
    }
    try await running.stop()
    return code
  }

  private func environment(for running: RunningServer) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment[Variable.server] = running.web.url
    environment[Variable.apiToken] = running.apiToken
    environment[Variable.controlToken] = running.web.controlToken
    environment[Variable.account] = running.accountTokens.first?.account
    environment[Variable.webAuthToken] = running.accountTokens.first?.webAuthToken
    if let container = options.container { environment[Variable.container] = container }
    return environment
  }
}
