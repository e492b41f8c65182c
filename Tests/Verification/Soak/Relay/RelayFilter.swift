/// What a relay does with the bytes of one connection.
protocol RelayFilter {
  /// The bytes for the server in place of `bytes`, which came from the client.
  mutating func fromClient(_ bytes: [UInt8], _ orders: RelayOrders) -> RelayOutput

  /// The bytes for the client in place of `bytes`, which came from the server.
  mutating func fromServer(_ bytes: [UInt8], _ orders: RelayOrders) -> RelayOutput
}

/// The bytes to pass on, and how the connection ends afterwards, if it does.
struct RelayOutput {
  /// What becomes of a connection.
  enum End {
    /// Both sides are closed.
    case both
    /// The client's side is closed, the server's once it has answered.
    case client
    /// Nothing more is passed on, and both sides are closed after a while.
    case silence
  }

  var bytes: [UInt8]
  var end: End?
}

/// Lets a client send one request on each connection, so that the next may go to another server.
struct RequestFilter: RelayFilter {
  private var head: [UInt8]? = []

  mutating func fromClient(_ bytes: [UInt8], _ orders: RelayOrders) -> RelayOutput {
    guard let begun = head else { return RelayOutput(bytes: bytes) }
    let known = begun + bytes
    guard let end = known.firstIndex(of: UInt8(ascii: "\n")) else {
      head = known
      return RelayOutput(bytes: [])
    }
    head = nil
    return RelayOutput(
      bytes: known[...end] + Array("Connection: close\r\n".utf8) + known[(end + 1)...])
  }

  mutating func fromServer(_ bytes: [UInt8], _ orders: RelayOrders) -> RelayOutput {
    RelayOutput(bytes: bytes)
  }
}
