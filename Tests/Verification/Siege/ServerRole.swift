import CloudProtocol
import Foundation
import LoopbackHTTP
import LoopbackServer

/// The other process: a server that says how it is reached and runs until its input ends.
enum ServerRole {
  /// What a besieger has to know of a server.
  struct Keys {
    var port: Int
    var api: String
    var alice: String
    var mallory: String

    /// The keys as a line of text.
    var line: String { "\(port) \(api) \(alice) \(mallory)" }

    init(port: Int, api: String, alice: String, mallory: String) {
      self.port = port
      self.api = api
      self.alice = alice
      self.mallory = mallory
    }

    /// Reads a line; `nil` when it is none.
    init?(line: String) {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 4, let port = Int(words[0]) else { return nil }
      self.init(port: port, api: words[1], alice: words[2], mallory: words[3])
    }
  }

  static func run(path: String?) async throws {
    let server = try path.map { try LoopbackServer(path: $0) } ?? LoopbackServer()
    let web = try LoopbackWebServer(
      server, options: .init(allowedOrigins: ["http://allowed.example"]))
    let keys = Keys(
      port: web.port, api: web.apiToken(), alice: try web.webAuthToken(for: "alice"),
      mallory: try web.webAuthToken(for: "mallory"))
    FileHandle.standardOutput.write(Data((keys.line + "\n").utf8))
    while let line = readLine(), line != "stop" {}
    await web.stop()
    server.close()
  }
}
