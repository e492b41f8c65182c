import CommandLineKit
import Foundation
import LoopbackHTTP

/// `exec`: a server for as long as a command runs.
struct Exec: Sendable {
  let options: ServerOptions
  let command: [String]

  /// Runs the command beside a server.
  ///
  /// - Returns: The command's exit code; 128 and the signal that killed it; 127 when it is not
  ///   found, 126 when it can't be run.
  func run(_ output: Output) async throws -> CInt {
    let signals = try ReceivedSignals()
    let running = try RunningServer(options)
    let child: ChildProcess
    do {
      child = try ChildProcess(command, environment: environment(for: running))
    } catch {
      await running.stop()
      throw error
    }
    signals.handle { signal in
      // The terminal has told the command as well; twice may mean something else to it.
      if !signal.isFromTerminal { child.send(signal.number) }
    }
    let code = await child.exitCode()
    signals.handle(ReceivedSignals.end)
    await running.stop()
    return code
  }

  private func environment(for running: RunningServer) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment[Variable.server] = running.web.url
    environment[Variable.apiToken] = running.apiToken
    environment[Variable.controlToken] = running.web.controlToken
    environment[Variable.account] = running.guests.first?.account
    environment[Variable.webAuthToken] = running.guests.first?.webAuthToken
    if let container = options.container { environment[Variable.container] = container }
    return environment
  }
}
