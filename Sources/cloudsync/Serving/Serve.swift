import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// `serve`: a server that runs until it is told to stop.
struct Serve: Sendable {
  let options: ServerOptions

  /// Starts the server, says where it is, and waits for a signal; a second one ends at once.
  func run(_ output: Output) async throws -> CInt {
    let signals = try ReceivedSignals()
    let running = try RunningServer(options)
    Output.write(output.isJSON ? running.json.text + "\n" : running.text)
    await signals.next()
    output.note("cloudsync: stopping; once more to end at once")
    await running.stop()
    output.note("cloudsync: stopped")
    return 0
  }
}
