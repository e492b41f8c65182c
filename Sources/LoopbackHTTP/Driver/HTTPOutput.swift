/// The output that is still to be sent to a client.
struct HTTPOutput {
  /// The result of a send.
  enum Outcome {
    /// Everything was sent.
    case done
    /// The socket is not writable; `hasProgressed` tells whether any bytes were sent this time.
    case blocked(hasProgressed: Bool)
    /// The connection is broken.
    case failed
  }

  /// The maximum size of a body that is copied behind its header.
  private static let joined = 16384
  /// The maximum bytes of a system call, and the maximum calls before other connections are served.
  private static let (callBytes, calls) = (1 << 20, 4)

  private var pieces: [[UInt8]] = []
  /// The number of sent bytes of the first piece.
  private var sent = 0

  /// Whether everything was sent.
  var isEmpty: Bool { pieces.isEmpty }

  /// Appends a header and a body.
  mutating func append(_ header: [UInt8], body: [UInt8] = []) {
    guard body.count > HTTPOutput.joined else {
      pieces.append(body.isEmpty ? header : header + body)
      return
    }
    if !header.isEmpty { pieces.append(header) }
    pieces.append(body)
  }

  /// Sends as many bytes as the socket accepts.
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
