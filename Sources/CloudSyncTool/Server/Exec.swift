import CommandLineKit
import Foundation
import LoopbackHTTP

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
    // A signal that arrives while the command starts is passed on when it runs.
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
    signals.handleNext { signal in
      if !signal.isFromTerminal { ReceivedSignals.end(signal) }
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
