/// Reads PostgreSQL's protocol, version 3, and cuts a connection at a point of it.
struct DatabaseFilter: RelayFilter {
  /// The state of a connection.
  private enum Phase {
    /// The first message is not complete.
    case startup
    /// Messages are passed on.
    case open
    /// The message `Sync` behind `COMMIT` is passed on, and its answer is not.
    case losingAnswer
    /// The answer to `COMMIT` is passed on in part, or as a whole and nothing behind it.
    case cuttingAnswer(whole: Bool)
  }

  private var phase = Phase.startup
  private var sent: [UInt8] = []
  private var received: [UInt8] = []
  /// The names of the prepared statements that commit, and of those that begin to read.
  private var commits: Set<[UInt8]> = []
  private var readings: Set<[UInt8]> = []
  private var isReading = false

  mutating func fromClient(_ bytes: [UInt8], _ orders: RelayOrders) -> RelayOutput {
    sent += bytes
    if case .startup = phase {
      // Its length comes without a type before it.
      guard let length = Self.length(in: sent[...]), sent.count >= length else {
        return RelayOutput(bytes: [])
      }
      phase = .open
      let message = Array(sent.prefix(length))
      sent.removeFirst(length)
      return RelayOutput(bytes: message, end: orders.take(.startup).map { _ in .both })
    }
    var output = RelayOutput(bytes: [])
    var start = 0
    while output.end == nil, let message = Self.message(in: sent[start...]) {
      output.end = note(message, orders)
      switch output.end {
      case nil, .client: output.bytes += message
      case .both: output.bytes += message.prefix(message.count / 2)
      case .silence: break
      }
      start = message.endIndex
    }
    sent.removeFirst(start)
    return output
  }

  /// What becomes of the connection with a message of the client; none of a commit is passed on.
  private mutating func note(_ message: ArraySlice<UInt8>, _ orders: RelayOrders) -> RelayOutput
    .End?
  {
    let fields = message.dropFirst(5)
    switch message.first {
    case UInt8(ascii: "P"):
      let name = Array(fields.prefix { $0 != 0 })
      let text = fields.dropFirst(name.count + 1).prefix { $0 != 0 }
      if text.elementsEqual("COMMIT".utf8) { commits.insert(name) }
      if text.elementsEqual("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".utf8) {
        readings.insert(name)
      }
      if orders.take(.statement) != nil { return .both }
    case UInt8(ascii: "B"):
      let name = Array(fields.dropFirst(fields.prefix { $0 != 0 }.count + 1).prefix { $0 != 0 })
      if readings.contains(name) { isReading = true }
      if commits.contains(name) { return noteCommit(orders) }
      if orders.take(.statement) != nil { return .both }
    case UInt8(ascii: "S"):
      if case .losingAnswer = phase { return .client }
    default: break
    }
    return nil
  }

  private mutating func noteCommit(_ orders: RelayOrders) -> RelayOutput.End? {
    defer { isReading = false }
    guard !isReading else { return nil }
    switch orders.take(.beforeCommit, .afterCommit, .withinCommit, .afterAnswer, .silence) {
    case .beforeCommit: return .both
    case .silence: return .silence
    case .afterCommit: phase = .losingAnswer
    case .withinCommit: phase = .cuttingAnswer(whole: false)
    case .afterAnswer: phase = .cuttingAnswer(whole: true)
    case .startup, .statement, .answer, nil: break
    }
    return nil
  }

  mutating func fromServer(_ bytes: [UInt8], _ orders: RelayOrders) -> RelayOutput {
    if case .open = phase, orders.take(.answer) != nil {
      return RelayOutput(bytes: Array(bytes.prefix(bytes.count / 2)), end: .both)
    }
    guard case .cuttingAnswer(let whole) = phase else { return RelayOutput(bytes: bytes) }
    received += bytes
    var output = RelayOutput(bytes: [])
    var start = 0
    while output.end == nil, let message = Self.message(in: received[start...]) {
      let isCommit =
        message.first == UInt8(ascii: "C") && message.dropFirst(5).starts(with: "COMMIT".utf8)
      output.bytes += isCommit && !whole ? message.prefix(message.count / 2) : message
      if isCommit { output.end = .both }
      start = message.endIndex
    }
    received.removeFirst(start)
    return output
  }

  /// The first message, with its type and length; `nil` if it is not complete.
  private static func message(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let length = length(in: bytes.dropFirst()), bytes.count > length else { return nil }
    return bytes.prefix(1 + length)
  }

  private static func length(in bytes: ArraySlice<UInt8>) -> Int? {
    bytes.count < 4 ? nil : bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }
}
