/// What a client was not sent yet.
struct HTTPOutput {
  /// How sending ended.
  enum Outcome {
    /// Nothing is left.
    case done
    /// The client has to take something first; whether it has taken anything this time.
    case blocked(hasProgressed: Bool)
    /// The client is gone.
    case failed
  }

  /// What is sent as one with a header; longer bodies are not copied.
  private static let joined = 16384
  /// The most bytes of a system call, and the most calls before others get a turn.
  private static let (callBytes, calls) = (1 << 20, 4)

  private var pieces: [[UInt8]] = []
  /// How much of the first piece is sent.
  private var sent = 0

  /// Whether nothing is left.
  var isEmpty: Bool { pieces.isEmpty }

  /// Puts a header and a body at the end.
  mutating func append(_ header: [UInt8], body: [UInt8] = []) {
    guard body.count > HTTPOutput.joined else {
      pieces.append(body.isEmpty ? header : header + body)
      return
    }
    pieces.append(header)
    pieces.append(body)
  }

  /// Sends as much as the client takes now.
  mutating func send(to descriptor: Int32) -> Outcome {
    var hasProgressed = false
    for _ in 0..<HTTPOutput.calls {
      guard let piece = pieces.first else { return .done }
      let count = min(HTTPOutput.callBytes, piece.count - sent)
      let written = piece.withUnsafeBytes { bytes in
        HTTPSocket.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[sent..<(sent + count)]))
      }
      switch written {
      case .bytes(let taken):
        hasProgressed = true
        sent += taken
        guard sent == piece.count else { continue }
        pieces.removeFirst()
        sent = 0
      case .blocked: return .blocked(hasProgressed: hasProgressed)
      case .end, .failed:
        pieces = []
        return .failed
      }
    }
    return pieces.isEmpty ? .done : .blocked(hasProgressed: hasProgressed)
  }
}
