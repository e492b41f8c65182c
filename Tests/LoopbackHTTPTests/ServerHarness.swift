import CloudSyncTesting
import Foundation
import Synchronization
import Testing
import VerificationSupport

@testable import LoopbackHTTP

/// A server for a test, with a clock that stands, and what its handlers say and wait for.
///
/// A request of `/checked` is accepted, or with the query `refused` refused, when it is released.
/// Every path is echoed but these: `/wait` answers when it is released or cancelled, `/stubborn`
/// only when it is released, `/big` with many bytes, `/none` with a status that is none, `/status`
/// with that of its query; `/lost` has no answer.
final class ServerHarness: Sendable {
  static let bigBody = [UInt8](unsafeUninitializedCapacity: 30 << 20) { buffer, count in
    for index in buffer.indices { buffer.initializeElement(at: index, to: UInt8(index & 0x7F)) }
    count = buffer.count
  }

  let clock: SimulatedClock
  let server: HTTPServer
  let started: Signal
  let release: Signal
  let cancelled: Signal
  private let box: HandlerBox

  /// The number of requests that reached a handler.
  var handled: Int { box.handled.load(ordering: .relaxed) }

  private final class HandlerBox: Sendable {
    let started = Signal()
    let release = Signal()
    let cancelled = Signal()
    let handled = Atomic<Int>(0)

    func check(_ head: HTTPRequestHead) async -> HTTPResponse? {
      started.fire()
      await release.wait()
      return head.query == "refused" ? HTTPResponse(HTTPRefusal(403, "not here")) : nil
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse? {
      handled.add(1, ordering: .relaxed)
      switch request.head.path {
      case "/wait":
        started.fire()
        await withTaskCancellationHandler {
          await release.wait()
        } onCancel: {
          cancelled.fire()
          release.fire()
        }
      case "/stubborn":
        started.fire()
        await withTaskCancellationHandler {
          await release.wait()
        } onCancel: {
          cancelled.fire()
        }
      case "/big": return HTTPResponse(200, body: ServerHarness.bigBody)
      case "/none": return HTTPResponse(99)
      case "/status": return HTTPResponse(request.head.query.flatMap { Int($0) } ?? 200)
      case "/lost": return nil
      default: break
      }
      return HTTPResponse(
        200, fields: [.init(name: "x-echo", value: "a\r\nb")],
        body: Array(ServerHarness.told(request).utf8))
    }
  }

  private init(
    _ options: HTTPServerOptions, _ clock: SimulatedClock,
    acceptance: @escaping @Sendable (Int32) -> HTTPSocket.Acceptance
  ) throws {
    let box = HandlerBox()
    self.box = box
    (started, release, cancelled) = (box.started, box.release, box.cancelled)
    self.clock = clock
    var options = options
    options.clock = clock
    server = try HTTPServer(
      options,
      admission: { head in
        switch head.path {
        case "/forbidden": .refuse(HTTPResponse(HTTPRefusal(403, "not here")))
        case "/small": .accept(bodyBytes: 10)
        case "/checked": .acceptAfter(check: { await box.check(head) }, bodyBytes: 10)
        default: .accept(bodyBytes: .max)
        }
      }, handler: { await box.answer($0) }, acceptance: acceptance)
  }

  /// Begins to stop the server; the signal fires when it has stopped.
  func stop() -> Signal {
    let stopped = Signal()
    Task { [server] in
      await server.stop()
      stopped.fire()
    }
    return stopped
  }

  /// The text of a request: method, path, query and body.
  static func told(_ request: HTTPRequest) -> String {
    let head = request.head
    let body = request.body.isEmpty ? "" : " " + String(decoding: request.body, as: UTF8.self)
    return "\(head.method) \(head.path)\(head.query.map { "?\($0)" } ?? "")" + body
  }

  /// Runs a test on a server of its own, stops it, and looks for what it leaves behind.
  static func run(
    _ options: HTTPServerOptions = HTTPServerOptions(),
    acceptance: @escaping @Sendable (Int32) -> HTTPSocket.Acceptance = HTTPSocket.accept,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ test: (ServerHarness) async throws -> Void
  ) async throws {
    let harness = try ServerHarness(options, SimulatedClock(), acceptance: acceptance)
    do {
      try await test(harness)
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
    harness.release.fire()
    let server = harness.server
    let stopped = harness.stop()
    while !stopped.hasFired {
      harness.clock.advance(by: .seconds(1))
      await Task.yield()
    }
    #expect(server.connectionCount == 0, sourceLocation: sourceLocation)
    // A port that was given back may be another test's by now.
    let left = SocketTable.sockets(port: server.port)
    #expect(
      left == [] || left.contains(SocketTable.listening), "\(left)",
      sourceLocation: sourceLocation)
  }

  func client(receiveBuffer: Int32? = nil) throws -> TestClient {
    try TestClient(port: server.port, receiveBuffer: receiveBuffer)
  }

  /// A request of a path.
  func get(_ path: String, method: String = "GET", fields: [String] = []) -> String {
    ([
      "\(method) \(path) HTTP/1.1", "Host: localhost",
    ] + fields + ["", ""]).joined(separator: "\r\n")
  }

  /// Returns when the server has done what it had begun.
  func settled() async { _ = await server.core.isDone }

  /// Passes the time until the handler's task is cancelled.
  func waitForCancellation() async {
    while !cancelled.hasFired {
      await clock.pass(.milliseconds(100))
      await settled()
    }
  }

  /// Returns when the server has so many connections; gives up after a while.
  func reach(connections: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
    let start = ContinuousClock.now
    while server.connectionCount != connections {
      guard start.duration(to: .now) < .seconds(20) else {
        Issue.record(
          "\(server.connectionCount) connections, not \(connections)",
          sourceLocation: sourceLocation)
        return
      }
      await Task.yield()
    }
    await settled()
  }
}

/// The system's table of sockets; empty on systems that have no file of it.
enum SocketTable {
  /// The entry of a server on the loopback address.
  static let listening = "0100007F 0A"

  /// The sockets of this machine's programs with a port of their own: address and state.
  ///
  /// The system's table moves while it is read, so that a look may miss what is there; of three
  /// looks the longest counts.
  static func sockets(port: Int) -> [String] {
    (0..<3).map { _ in look(port: port) }.max { $0.count < $1.count } ?? []
  }

  private static func look(port: Int) -> [String] {
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path -> [String] in
      guard let data = FileManager.default.contents(atPath: path) else { return [] }
      return String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst().compactMap {
        let columns = $0.split(separator: " ")
        let local = columns.count > 9 ? columns[1].split(separator: ":") : []
        // What has no inode belongs to no program any more.
        guard local.count == 2, Int(local[1], radix: 16) == port, columns[9] != "0" else {
          return nil
        }
        return "\(local[0]) \(columns[3])"
      }
    }
  }
}
