import VerificationSupport

/// A client of a relay with the socket that its bytes are passed on to.
final class RelayConnection {
  let client: LocalSocket
  let server: LocalSocket
  /// Whether the server is PostgreSQL.
  let isDatabase: Bool
  private var filter: any RelayFilter
  private var toServer: [UInt8] = []
  private var toClient: [UInt8] = []
  private var end: RelayOutput.End?
  /// When a silent connection is closed.
  private var closing: ContinuousClock.Instant?
  /// Whether the client sent a request that was not answered yet.
  private(set) var isWaiting = false
  private(set) var isOver = false

  /// For how long a silent connection is left open.
  private static let silence = Duration.seconds(8)

  init(
    _ client: LocalSocket, _ server: LocalSocket, _ filter: any RelayFilter, isDatabase: Bool
  ) {
    self.client = client
    self.server = server
    self.filter = filter
    self.isDatabase = isDatabase
  }

  /// What each side is waited for: reading, and writing where bytes are left.
  var interests: [(socket: LocalSocket, reads: Bool, writes: Bool)] {
    if closing != nil { return [] }
    return [
      (client, end == nil && toServer.count < 1 << 20, !toClient.isEmpty),
      (server, end != .both && toClient.count < 1 << 20, !toServer.isEmpty),
    ].filter { $0.1 || $0.2 }
  }

  /// Passes on what there is on sockets that are ready.
  func move(_ ready: Set<Int32>, _ orders: RelayOrders) {
    if let closing {
      if ContinuousClock.now > closing { close() }
      return
    }
    var bytes: [UInt8] = []
    if end == nil, toServer.count < 1 << 20, ready.contains(client.descriptor) {
      let reading = client.read(into: &bytes)
      if !bytes.isEmpty {
        isWaiting = true
        take(filter.fromClient(bytes, orders), to: \.toServer)
      } else if reading != .nothing {
        return close()
      }
    }
    bytes = []
    if end != .both, closing == nil, toClient.count < 1 << 20, ready.contains(server.descriptor) {
      let reading = server.read(into: &bytes)
      if !bytes.isEmpty {
        isWaiting = false
        // The answer that gets lost ends with the message that the server is ready.
        if end == .client { return close() }
        take(filter.fromServer(bytes, orders), to: \.toClient)
      } else if reading != .nothing {
        flush()
        return close()
      }
    }
    flush()
  }

  private func take(
    _ output: RelayOutput, to side: ReferenceWritableKeyPath<RelayConnection, [UInt8]>
  ) {
    self[keyPath: side] += output.bytes
    end = end ?? output.end
    if output.end == .silence { closing = .now + Self.silence }
  }

  private func flush() {
    for (socket, side) in [
      (server, \RelayConnection.toServer), (client, \RelayConnection.toClient),
    ] where !self[keyPath: side].isEmpty {
      guard let count = socket.write(self[keyPath: side][...]) else { return close() }
      self[keyPath: side].removeFirst(count)
    }
    if end == .both, toServer.isEmpty, toClient.isEmpty { close() }
    if end == .client, toServer.isEmpty {
      client.end()
      toClient = []
    }
  }

  /// Closes the client's side; the server goes on with its answer.
  func cutClient() { end = end ?? .client }

  private func close() {
    client.end()
    server.end()
    isOver = true
  }
}
