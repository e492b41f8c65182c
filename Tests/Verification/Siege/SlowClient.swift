import CommandLineKit
import VerificationSupport

/// A client that sends or reads slowly.
final class SlowClient {
  /// The way in which a client is slow.
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

  /// The size of the file that a deaf client asks for.
  static let fileBytes = 8 << 20

  let manner: Manner
  let socket: LocalSocket
  /// What is sent byte by byte, and the number of bytes that were sent of it.
  private let slowPart: [UInt8]
  private var sent = 0
  private var received: [UInt8] = []
  private var receivedCount = 0
  /// The time from which the server counts.
  private(set) var began: Double
  private var nextByte: Double

  init(_ manner: Manner, _ access: Access, now: Double) throws(ToolError) {
    self.manner = manner
    socket = try LocalSocket(
      port: access.port, timeout: nil, receiveBuffer: manner == .deaf ? 4096 : nil)
    began = now
    nextByte = now
    let file = access.request("GET", access.filePath)
    let body = [UInt8](repeating: 32, count: 65536)
    let post = access.request(
      "POST", access.target("records/lookup", web: access.alice), body: body)
    let quickPart: [UInt8]
    (quickPart, slowPart) =
      switch manner {
      case .header: ([], access.lookup)
      case .body: (Array(post.dropLast(body.count)), body)
      case .silent: ([], [])
      case .idle: (access.lookup, [])
      case .deaf: (file + file, [])
      }
    if !quickPart.isEmpty { _ = socket.write(quickPart[...]) }
  }

  /// The status that the server sent before it closed.
  var status: String {
    String(String(decoding: received, as: UTF8.self).split(separator: " ").dropFirst().first ?? "-")
  }

  /// The time since then.
  func age(_ now: Double) -> Double { now - began }

  /// Sends one byte more if it is time; never the last.
  func dribble(now: Double) {
    guard sent < slowPart.count - 1, now >= nextByte else { return }
    nextByte = now + 0.1
    sent += socket.write(slowPart[sent..<(sent + 1)]) ?? 0
  }

  /// Reads what came; whether the server has ended the connection.
  func hasEnded(now: Double) -> Bool {
    while true {
      var bytes: [UInt8] = []
      switch socket.read(into: &bytes) {
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
    socket.setReceiveBuffer(1 << 20)
    while socket.wait(writing: false, milliseconds: 5000) {
      if hasEnded(now: began) { return receivedCount < SlowClient.fileBytes }
    }
    return false
  }
}
