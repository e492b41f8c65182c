import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// `serve`: runs a server until it is stopped.
struct Serve: Sendable {
  let options: ServerOptions

  /// Starts the server, prints its address, and waits for a signal; a second signal ends it at
  /// once.
  func run(_ output: Output) async throws -> CInt {
    let signals = try ReceivedSignals()
    // Nothing is to be completed before the server is ready.
    signals.handle(ReceivedSignals.end)
    // A log that is rotated meanwhile must not end the server.
    signals.handleReopening {}
    let running = try RunningServer(options, isJSON: output.isJSON, isService: true)
    signals.handleReopening { running.reopenRequestLog() }
    if let warning = options.warning { output.note(warning) }
    Output.write(output.isJSON ? running.json.text + "\n" : running.text)
    await signals.next()
    output.note("cloudsync: stopping; interrupt again to end immediately")
    try await running.stop()
    output.note("cloudsync: stopped")
    return 0
  }
}
