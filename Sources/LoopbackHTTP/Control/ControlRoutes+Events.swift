import LoopbackServer
import WebServices

/// The event feed.
extension ControlRoutes {
  /// The maximum time, in seconds, for which a response waits for an event.
  static let longestWait: Int64 = 25

  /// The maximum number of events in one response.
  static let eventPage = 500

  func requests(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(head.query, knowing: ["after", "limit"])
    let after = try query.count("after", in: 0...Int.max, or: 0)
    let limit = try query.count("limit", in: 1...ControlRoutes.longestPage, or: 500)
    let page = server.controls.requests.drop { $0.number <= after }.prefix(limit)
    return .members([
      "requests": .array(page.map(ControlNotation.json)),
      "next": .integer(page.last?.number ?? after),
    ])
  }

  func events(_ head: HTTPRequestHead) async throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(head.query, knowing: ["after", "wait"])
    let after = try query.count("after", in: 0...Int.max, or: 0)
    let wait = try query.count("wait", in: 0...ControlRoutes.longestWait, or: 0)
    if wait > 0 { await waitForEvents(after: after, atMost: .seconds(wait)) }
    let page = server.events(after: after, limit: ControlRoutes.eventPage)
    return .members([
      "events": .array(page.events.map(ControlNotation.json)), "next": .integer(page.next),
      "missed": .bool(page.missed),
    ])
  }

  /// The first task to finish cancels the other.
  private func waitForEvents(after number: Int, atMost time: Duration) async {
    let (server, clock) = (server, clock)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await server.waitForEvents(after: number) }
      // A cancelled sleep ends the wait as well.
      group.addTask { try? await clock.sleep(for: time) }
      await group.next()
      group.cancelAll()
    }
  }
}
