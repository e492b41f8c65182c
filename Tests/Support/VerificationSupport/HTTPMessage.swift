package import CommandLineKit

/// One HTTP request or response.
package struct HTTPMessage: Sendable {
  /// The message from its first byte to its last.
  package let bytes: [UInt8]
  private let bodyStart: Int

  /// The lines of the head, in lower case.
  package var head: [Substring] {
    String(decoding: bytes[..<(bodyStart - 4)], as: UTF8.self).lowercased()
      .split(separator: "\r\n", omittingEmptySubsequences: false)
  }
  /// The body.
  package var body: ArraySlice<UInt8> { bytes[bodyStart...] }
  /// The message as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The status of a response; 0 for anything else.
  package var status: Int {
    guard bytes.starts(with: Array("HTTP/1.1 ".utf8)) else { return 0 }
    return Int(String(decoding: bytes[9..<min(12, bodyStart)], as: UTF8.self)) ?? 0
  }
  /// Whether the connection ends after this message.
  package var closes: Bool { head.contains("connection: close") }

  /// The bytes of a request; `fields` are lines with their ends.
  package static func request(
    _ method: String, _ target: String, host: String = "localhost", fields: String = "",
    body: [UInt8] = []
  ) -> [UInt8] {
    let length = body.isEmpty ? "" : "Content-Length: \(body.count)\r\n"
    return Array("\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\(length)\r\n".utf8)
      + body
  }

  /// Splits the bytes of a connection into messages by their `content-length`.
  package struct Reader: Sendable {
    /// The received bytes that belong to no complete message yet.
    package var unread: [UInt8] = []
    private var head: (end: Int, bodyLength: Int)?

    /// Creates a reader without bytes.
    package init() {}

    /// The next message; `nil` if it is not complete.
    ///
    /// - Parameter hasBody: `false` for the response to `HEAD`, which has no body.
    package mutating func next(hasBody: Bool = true) throws(ToolError) -> HTTPMessage? {
      if head == nil { head = unread.withUnsafeBytes(Reader.head(of:)) }
      guard let (start, length) = head else {
        guard unread.count < 1 << 16 else { throw ToolError("a head without an end") }
        return nil
      }
      let end = start + (hasBody ? length : 0)
      guard unread.count >= end else { return nil }
      head = nil
      let message = HTTPMessage(bytes: Array(unread[..<end]), bodyStart: start)
      unread.removeFirst(end)
      return message
    }

    /// The letters of the field's name and the blank in lower case; the hyphen and the colon have
    /// that bit as well.
    private static let lengthName = Array("content-length: ".utf8)

    /// The end of the head in `bytes` and the length of the body; `nil` for a part of a head.
    ///
    /// A search in bytes, since the time of a benchmark's client counts as the server's.
    private static func head(of bytes: UnsafeRawBufferPointer) -> (end: Int, bodyLength: Int)? {
      var bodyLength = 0
      var line = 0
      while let end = bytes[line...].firstIndex(of: 10) {
        if end == line + 1, line >= 2 { return (end + 1, bodyLength) }
        let isLength = zip(bytes[line..<end], lengthName).allSatisfy { $0 | 0x20 == $1 }
        if isLength, end > line + lengthName.count {
          bodyLength =
            Int(String(decoding: bytes[(line + lengthName.count)..<(end - 1)], as: UTF8.self)) ?? 0
        }
        line = end + 1
      }
      return nil
    }
  }
}

/// An HTTP client that sends one request after the other on one connection and waits for each
/// response; belongs to one thread at a time.
package final class LocalClient {
  private static let seconds = 30

  private let socket: LocalSocket
  private var reader = HTTPMessage.Reader()

  /// Connects to `port`.
  package convenience init(port: Int) throws(ToolError) {
    self.init(try LocalSocket(port: port, timeout: Self.seconds))
  }

  /// Uses a connection.
  package init(_ socket: LocalSocket) { self.socket = socket }

  /// Sends `bytes`.
  package func send(_ bytes: [UInt8]) throws(ToolError) {
    guard socket.writeAll(bytes) else { throw ToolError("the connection ended in a request") }
  }

  /// The next message of the other end; `nil` if it has ended the connection.
  package func receive() throws(ToolError) -> HTTPMessage? {
    while true {
      if let message = try reader.next() { return message }
      switch socket.read(into: &reader.unread) {
      case .bytes: continue
      case .nothing: throw ToolError("no message in \(Self.seconds) s")
      case .end where reader.unread.isEmpty: return nil
      case .end, .broken: throw ToolError("the connection ended in a message")
      }
    }
  }

  /// The response to a request.
  package func ask(_ request: [UInt8]) throws(ToolError) -> HTTPMessage {
    try send(request)
    guard let answer = try receive() else { throw ToolError("the connection ended") }
    return answer
  }

  /// The response to a request, which must have the status 200.
  package func expect(_ request: [UInt8], _ what: String) throws(ToolError) -> HTTPMessage {
    let answer = try ask(request)
    guard answer.status == 200 else { throw ToolError("\(what): \(answer.text.prefix(2000))") }
    return answer
  }
}
