/// One client that takes its time.
final class SlowClient {
  /// How it is slow.
  enum Manner: String, CaseIterable {
    /// Sends a header byte by byte.
    case header
    /// Sends a body byte by byte.
    case body
    /// Connects and says nothing.
    case silent
    /// Asks once and then says nothing.
    case idle
    /// Asks for much and takes nothing.
    case deaf

    /// After how many seconds the server has to close at the latest: its limit, a second for the
    /// clock it looks at once a second, and one for a machine that has other things to do.
    var limit: Double {
      switch self {
      case .header, .silent: 12
      // Its bytes earn it a little more than the ten seconds that every body has.
      case .body: 13
      case .idle: 62
      case .deaf: 32
      }
    }
  }

  /// How a deaf client finds out, at the end of the server's patience, whether it was cut.
  static let fileBytes = 8 << 20

  let manner: Manner
  let wire: Wire
  private let toSend: [UInt8]
  private var sent = 0
  private var received: [UInt8] = []
  private var receivedCount = 0
  /// When the server's patience began.
  private(set) var began: Double
  private var nextByte: Double

  init(_ manner: Manner, _ land: Land, now: Double) throws(SiegeFault) {
    self.manner = manner
    wire = try Wire(port: land.keys.port, receiveBuffer: manner == .deaf ? 4096 : nil)
    began = now
    nextByte = now
    switch manner {
    case .header: toSend = land.lookup
    case .body:
      toSend = land.request(
        "POST", land.target("records/lookup", web: land.keys.alice),
        body: [UInt8](repeating: 32, count: 65536))
      let headEnd = toSend.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? 0
      sent = wire.send(toSend[..<headEnd]) ?? 0
    case .silent: toSend = []
    case .idle:
      toSend = []
      _ = wire.send(land.lookup[...])
    case .deaf:
      toSend = []
      let request = land.request("GET", land.filePath)
      _ = wire.send((request + request)[...])
    }
  }

  /// What the server answered before it closed.
  var status: String {
    String(String(decoding: received, as: UTF8.self).split(separator: " ").dropFirst().first ?? "-")
  }

  /// For how long the server has been patient.
  func age(_ now: Double) -> Double { now - began }

  /// Sends one byte more if it is time; never the last.
  func dribble(now: Double) {
    guard sent < toSend.count - 1, now >= nextByte else { return }
    nextByte = now + 0.1
    sent += wire.send(toSend[sent..<(sent + 1)]) ?? 0
  }

  /// Reads what came; whether the server has ended the connection.
  func hasEnded(now: Double) -> Bool {
    while true {
      var bytes: [UInt8] = []
      switch wire.receive(into: &bytes) {
      case .bytes:
        // From its answer on, the server waits for the next request.
        if manner == .idle { began = now }
        receivedCount += bytes.count
        if received.count < 64 { received += bytes.prefix(64) }
      case .nothing: return false
      case .end, .broken: return true
      }
    }
  }

  /// Whether the server had cut a client that took nothing: then the file's end never comes.
  func wasCut() -> Bool {
    wire.widen()
    while wire.wait(writing: false, milliseconds: 5000) {
      if hasEnded(now: began) { return receivedCount < SlowClient.fileBytes }
    }
    return false
  }
}
