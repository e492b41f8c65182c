import CommandLineKit
import Foundation
import Synchronization
import VerificationSupport

/// Passes connections on to PostgreSQL and to servers, and cuts them when it is ordered to.
///
/// All connections are moved by one thread, which ends with the orders.
final class Relay: Sendable {
  /// The destination of connections.
  enum Route: Sendable {
    /// A PostgreSQL server, by the path of its socket.
    case database(String)
    /// Servers, by their ports; each connection goes to one of them.
    case servers([Int])
  }

  let orders = RelayOrders()
  /// The ports for the routes.
  let ports: [Int]
  private let loop: Mutex<Loop>

  /// Begins to listen.
  init(_ routes: [Route]) throws(ToolError) {
    var listeners: [(socket: LocalSocket, route: Route)] = []
    var ports: [Int] = []
    for route in routes {
      let (socket, port) = try LocalSocket.listener(backlog: 64)
      listeners.append((socket, route))
      ports.append(port)
    }
    self.ports = ports
    loop = Mutex(Loop(listeners: listeners))
    // The thread holds the lock until the relay ends.
    Thread.detachNewThread { [orders] in self.loop.withLock { $0.run(orders) } }
  }

  /// The connections, which one thread uses.
  private struct Loop {
    let listeners: [(socket: LocalSocket, route: Route)]
    private var connections: [RelayConnection] = []
    private var turn = 0

    init(listeners: [(socket: LocalSocket, route: Route)]) { self.listeners = listeners }

    mutating func run(_ orders: RelayOrders) {
      while !orders.isOver {
        let ready = wait()
        for (index, listener) in listeners.enumerated()
        where ready.contains(listener.socket.descriptor) {
          accept(index)
        }
        for connection in connections { connection.move(ready, orders) }
        let waiting = connections.filter { $0.isWaiting && !$0.isDatabase }
        if let one = waiting.randomElement(), orders.takeClient() { one.cutClient() }
        connections.removeAll { $0.isOver }
      }
      connections = []
    }

    /// Waits until a socket is ready, for a moment at most; the descriptors that are.
    private func wait() -> Set<Int32> {
      var entries = listeners.map {
        pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0)
      }
      for interest in connections.flatMap(\.interests) {
        let events = (interest.reads ? POLLIN : 0) | (interest.writes ? POLLOUT : 0)
        entries.append(
          pollfd(fd: interest.socket.descriptor, events: Int16(events), revents: 0))
      }
      _ = poll(&entries, nfds_t(entries.count), 20)
      return Set(entries.filter { $0.revents != 0 }.map(\.fd))
    }

    private mutating func accept(_ index: Int) {
      guard let client = try? listeners[index].socket.nextConnection() else { return }
      client.stopWaiting()
      switch listeners[index].route {
      case .database(let path):
        guard let server = try? LocalSocket(path: path) else { return client.end() }
        connections.append(RelayConnection(client, server, DatabaseFilter(), isDatabase: true))
      case .servers(let ports):
        turn += 1
        for attempt in ports.indices {
          let port = ports[(turn + attempt) % ports.count]
          guard let server = try? LocalSocket(port: port, timeout: nil) else { continue }
          return connections.append(
            RelayConnection(client, server, RequestFilter(), isDatabase: false))
        }
        client.end()
      }
    }
  }
}
