import LoopbackHTTP
import Synchronization

/// An HTTP server that answers as its test says, and keeps the requests that it received.
final class ScriptedServer: Sendable {
  /// A request, and the number of earlier ones to the same path.
  struct Received: Sendable {
    var method: String
    var path: String
    var query: String
    var fields: [String: String]
    var body: String
    var index: Int

    /// Whether the path ends with `name`, such as `tokens/create`.
    func isFor(_ name: String) -> Bool { path.hasSuffix("/" + name) }
  }

  /// Everything that happened at the server.
  struct Log: Sendable {
    var received: [Received] = []
    /// The paths of the requests that were held until the client gave them up.
    var abandoned: [String] = []

    func count(_ name: String) -> Int { received.count { $0.isFor(name) } }
  }

  private struct Waiter {
    var condition: @Sendable (Log) -> Bool
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct Contents {
    var log = Log()
    var waiters: [Waiter] = []

    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      let log = log
      defer { waiters.removeAll { $0.condition(log) } }
      return waiters.filter { $0.condition(log) }.map(\.continuation)
    }
  }

  /// What the handlers of the server write down.
  private final class Recorder: Sendable {
    private let contents = Mutex(Contents())

    var log: Log { contents.withLock { $0.log } }

    func change<Value: Sendable>(_ body: (inout Log) -> Value) -> Value {
      let (value, ready) = contents.withLock { contents in
        (body(&contents.log), contents.takeWaiters())
      }
      for waiter in ready { waiter.resume() }
      return value
    }

    func wait(until condition: @escaping @Sendable (Log) -> Bool) async {
      await withCheckedContinuation { continuation in
        let ready = contents.withLock { contents in
          contents.waiters.append(Waiter(condition: condition, continuation: continuation))
          return contents.takeWaiters()
        }
        for waiter in ready { waiter.resume() }
      }
    }
  }

  /// The response to a request.
  enum Answer: Sendable {
    case response(HTTPResponse)
    /// The connection is closed without a response.
    case none
    /// No response, until the client gives the request up.
    case held
  }

  private let recorder = Recorder()
  private let http: HTTPServer

  init(_ answer: @escaping @Sendable (Received) async -> Answer) throws {
    let recorder = recorder
    http = try HTTPServer(
      admission: { _ in .accept(bodyBytes: 1 << 24) },
      handler: { request in
        let received = recorder.change { ScriptedServer.note(request, in: &$0) }
        switch await answer(received) {
        case .response(let response): return response
        case .none: return nil
        case .held:
          let never = AsyncStream<Void> { _ in }
          for await _ in never {}
          recorder.change { $0.abandoned.append(received.path) }
          return nil
        }
      })
  }

  private static func note(_ request: HTTPRequest, in log: inout Log) -> Received {
    let path = request.head.path
    let received = Received(
      method: request.head.method, path: path, query: request.head.query ?? "",
      fields: Dictionary(request.head.fields.map { ($0.name, $0.value) }) { first, _ in first },
      body: String(decoding: request.body, as: UTF8.self),
      index: log.received.count { $0.path == path })
    log.received.append(received)
    return received
  }

  var url: String { "http://127.0.0.1:\(http.port)" }
  var log: Log { recorder.log }
  var connectionCount: Int { http.connectionCount }

  /// Returns once `condition` holds.
  func wait(until condition: @escaping @Sendable (Log) -> Bool) async {
    await recorder.wait(until: condition)
  }

  /// Ends the server.
  ///
  /// - Returns: Whether no client is connected any more.
  func end() async -> Bool {
    await http.stop()
    return http.connectionCount == 0
  }
}

extension ScriptedServer.Answer {
  /// A response with a text, and a value of one header field.
  static func text(
    _ text: String = "", _ status: Int = 200, _ fields: (name: String, value: String)?...
  ) -> ScriptedServer.Answer {
    let fields = fields.compactMap(\.self).map {
      HTTPRequestHead.Field(name: $0.name, value: $0.value)
    }
    return .response(HTTPResponse(status, fields: fields, body: Array(text.utf8)))
  }
}
