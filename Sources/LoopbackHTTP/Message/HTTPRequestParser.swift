/// An incremental HTTP/1.1 request parser.
///
/// Append bytes in pieces of any size, then call `next()` until it returns `nil`; the events do not
/// depend on how the input is split. Ambiguous input is rejected to prevent request smuggling.
/// Source: RFC 9112.
package struct HTTPRequestParser: Sendable {
  /// An event of the parser.
  package enum Event: Hashable, Sendable {
    /// The head of a request.
    case head(HTTPRequestHead)
    /// A piece of the body.
    case body([UInt8])
    /// The end of the request; another request may follow.
    case end
  }

  enum State: Sendable {
    case head
    case body(remaining: Int)
    case chunkSize
    case chunk(remaining: Int)
    case chunkEnd
    case trailer
    case ended
    case refused(HTTPRefusal)
  }

  let limits: HTTPLimits
  var state = State.head
  /// The input; the unread part starts at `position`.
  var bytes: [UInt8] = []
  var position = 0
  /// The position at which the search for the end of a line continues.
  var searched = 0
  /// The request line and the header lines read so far; copies, since a slice keeps its buffer.
  var lines: [[UInt8]] = []
  /// The number and the size of the header or trailer lines read so far.
  var (lineCount, lineBytes) = (0, 0)
  /// The number of body bytes read so far.
  var bodyBytes = 0
  /// The maximum size of the current body in bytes; after a head, another one can be set.
  var bodyLimit: Int
  var hasSkippedLine = false

  /// Creates a parser for a new connection.
  package init(limits: HTTPLimits = HTTPLimits()) {
    self.limits = limits
    bodyLimit = limits.bodyBytes
  }

  /// Appends input from the connection.
  package mutating func append(_ more: some Sequence<UInt8>) {
    if position > 0, position == bytes.count || position > 65536 {
      bytes.removeFirst(position)
      searched -= position
      position = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Whether an incomplete request has been started.
  package var isInsideRequest: Bool {
    if case .head = state { return position < bytes.count || !lines.isEmpty }
    return true
  }

  /// The number of bytes that are not parsed yet.
  package var unreadBytes: Int { bytes.count - position }

  /// The next event; `nil` when more bytes are needed.
  /// - Throws: `HTTPRefusal` for an invalid request; every later call throws the same error.
  package mutating func next() throws(HTTPRefusal) -> Event? {
    do throws(HTTPRefusal) {
      return try advance()
    } catch {
      state = .refused(error)
      bytes = []
      position = 0
      throw error
    }
  }

  private mutating func advance() throws(HTTPRefusal) -> Event? {
    while true {
      switch state {
      case .refused(let refusal): throw refusal
      case .ended:
        state = .head
        lines = []
        (lineCount, lineBytes, bodyBytes) = (0, 0, 0)
        bodyLimit = limits.bodyBytes
        hasSkippedLine = false
        // An idle connection must not keep the buffer of a large request.
        if position == bytes.count, bytes.capacity > 16384 {
          bytes = []
          (position, searched) = (0, 0)
        }
        return .end
      case .head:
        guard let head = try readHead() else { return nil }
        return .head(head)
      case .body(let remaining):
        guard let piece = take(remaining) else { return nil }
        let left = remaining - piece.count
        state = left == 0 ? .ended : .body(remaining: left)
        return .body(piece)
      case .chunkSize:
        guard let line = try readLine(atMost: 256, 400, "a chunk's size") else { return nil }
        let size = try chunkSize(line)
        state = size == 0 ? .trailer : .chunk(remaining: size)
      case .chunk(let remaining):
        guard let piece = take(remaining) else { return nil }
        let left = remaining - piece.count
        state = left == 0 ? .chunkEnd : .chunk(remaining: left)
        return .body(piece)
      case .chunkEnd:
        guard bytes.count - position >= 2 else {
          guard bytes.count == position || bytes[position] == 0x0D else {
            throw HTTPRefusal(400, "a chunk is longer than its size says")
          }
          return nil
        }
        guard bytes[position] == 0x0D, bytes[position + 1] == 0x0A else {
          throw HTTPRefusal(400, "a chunk is longer than its size says")
        }
        skip(2)
        state = .chunkSize
      case .trailer:
        guard let line = try readLine(atMost: limits.headerBytes, 431, "a trailer") else {
          return nil
        }
        if line.isEmpty {
          state = .ended
        } else {
          // Trailers are validated like header fields and then discarded.
          _ = try HTTPRequestHead.Field(line)
          try count(line)
        }
      }
    }
  }

  /// Up to `most` bytes; `nil` when there are none.
  private mutating func take(_ most: Int) -> [UInt8]? {
    let count = min(most, bytes.count - position)
    guard count > 0 else { return nil }
    defer { skip(count) }
    return Array(bytes[position..<(position + count)])
  }

  mutating func skip(_ count: Int) {
    position += count
    searched = position
  }

  /// The next line without its end; `nil` when it is incomplete.
  mutating func readLine(
    atMost limit: Int, _ status: Int, _ what: String
  ) throws(HTTPRefusal) -> ArraySlice<UInt8>? {
    while searched < bytes.count, bytes[searched] != 0x0A {
      guard searched - position <= limit else {
        throw HTTPRefusal(status, "\(what) is longer than \(limit) bytes")
      }
      if searched > position, bytes[searched - 1] == 0x0D {
        throw HTTPRefusal(400, "a carriage return is not followed by a line feed")
      }
      searched += 1
    }
    guard searched < bytes.count else { return nil }
    guard searched > position, bytes[searched - 1] == 0x0D else {
      throw HTTPRefusal(400, "a line feed is not preceded by a carriage return")
    }
    let line = bytes[position..<(searched - 1)]
    guard line.count <= limit else {
      throw HTTPRefusal(status, "\(what) is longer than \(limit) bytes")
    }
    skip(searched + 1 - position)
    return line
  }

  /// Counts a header or trailer line toward the limits.
  mutating func count(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
    lineCount += 1
    lineBytes += line.count + 2
    guard lineBytes <= limits.headerBytes else {
      throw HTTPRefusal(431, "the header is longer than \(limits.headerBytes) bytes")
    }
    guard lineCount <= limits.fieldCount else {
      throw HTTPRefusal(431, "there are more than \(limits.fieldCount) header fields")
    }
  }

  /// Parses the size line of a chunk.
  private mutating func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int {
    let digits = line.prefix { $0.hexadecimalValue != nil }
    guard !digits.isEmpty, HTTPRequestParser.isExtension(line[digits.endIndex...]) else {
      throw HTTPRefusal(400, "a chunk's size or extension is malformed")
    }
    // Leading zeros are ignored; the length of the line is bounded.
    let significant = digits.drop { $0 == 0x30 }
    guard significant.count <= 16 else {
      throw HTTPRefusal(400, "a chunk's size has more than 64 bits")
    }
    let number = significant.reduce(UInt64(0)) { $0 << 4 | UInt64($1.hexadecimalValue ?? 0) }
    let size = Int(clamping: number)
    let (total, isTooLarge) = bodyBytes.addingReportingOverflow(size)
    guard !isTooLarge, total <= bodyLimit else {
      throw HTTPRefusal(413, "the body is longer than \(bodyLimit) bytes")
    }
    bodyBytes = total
    return size
  }

  /// Whether the bytes are empty or valid chunk extensions: each a semicolon, a name and optionally
  /// an equals sign and a value, with optional blanks.
  ///
  /// Source: RFC 9112, section 7.1.1.
  private static func isExtension(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    func skipBlanks() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
    func skipToken() -> Bool {
      let token = rest.prefix(while: \.isTokenCharacter)
      rest = rest[token.endIndex...]
      return !token.isEmpty
    }
    func skipValue() -> Bool {
      guard rest.first == 0x22 else { return skipToken() }
      rest.removeFirst()
      while let byte = rest.popFirst(), byte.isFieldContent {
        if byte == 0x22 { return true }
        if byte == 0x5C, rest.popFirst()?.isFieldContent != true { return false }
      }
      return false
    }
    while !rest.isEmpty {
      skipBlanks()
      guard rest.popFirst() == 0x3B else { return false }
      skipBlanks()
      guard skipToken() else { return false }
      let end = rest
      skipBlanks()
      guard rest.first == 0x3D else {
        rest = end
        continue
      }
      rest.removeFirst()
      skipBlanks()
      guard skipValue() else { return false }
    }
    return true
  }
}

extension UInt8 {
  /// Whether the byte may occur in a method or a field name.
  var isTokenCharacter: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }

  /// Whether the byte may occur in a field value.
  var isFieldContent: Bool { self == 0x09 || (self >= 0x20 && self != 0x7F) }

  /// The value of the hexadecimal digit.
  var hexadecimalValue: Int? {
    switch self {
    case 0x30...0x39: Int(self) - 0x30
    case 0x41...0x46: Int(self) - 0x37
    case 0x61...0x66: Int(self) - 0x57
    default: nil
    }
  }
}
