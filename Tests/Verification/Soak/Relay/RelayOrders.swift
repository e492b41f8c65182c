import Synchronization

/// What a relay is to interrupt next, and what it has interrupted.
final class RelayOrders: Sendable {
  private struct State {
    var point: CutPoint?
    var clients = 0
    var cuts: [CutPoint: Int] = [:]
    var cutClients = 0
    var isOver = false
  }

  private let state = Mutex(State())

  /// Orders one cut of a connection to PostgreSQL, in place of an earlier order.
  func cut(_ point: CutPoint?) { state.withLock { $0.point = point } }

  /// Orders that clients of servers that wait for an answer are cut off.
  func cutClients(_ count: Int) { state.withLock { $0.clients = count } }

  /// Ends the relay.
  func end() { state.withLock { $0.isOver = true } }

  /// Whether the relay has to end.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The cuts so far, by their point.
  var cuts: [CutPoint: Int] { state.withLock { $0.cuts } }

  /// The number of clients that were cut off.
  var clientCuts: Int { state.withLock { $0.cutClients } }

  /// Takes the order if it is for one of `points`.
  func take(_ points: CutPoint...) -> CutPoint? {
    state.withLock { state in
      guard let point = state.point, points.contains(point) else { return nil }
      state.point = nil
      state.cuts[point, default: 0] += 1
      return point
    }
  }

  /// Whether a client is to be cut off.
  func takeClient() -> Bool {
    state.withLock { state in
      guard state.clients > 0 else { return false }
      state.clients -= 1
      state.cutClients += 1
      return true
    }
  }
}
