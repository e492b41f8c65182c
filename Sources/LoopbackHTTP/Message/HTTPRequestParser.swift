/// Finds requests in the bytes of a connection.
///
/// Bytes go in as they come, in pieces of any size; what they mean comes out, the same for every
/// way of cutting. What could be read in two ways is refused, because a server that guesses
/// another end of a request than its neighbour can be made to take one request for two.
/// Source: RFC 9112, and the known tricks against its readers.
package struct HTTPRequestParser: Sendable {
  /// What was found.
  package enum Event: Hashable, Sendable {
    /// A request begins.
    case head(HTTPRequestHead)
    /// A piece of its body.
    case body([UInt8])
    /// It is complete; the next one may follow.
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
  /// What was not read yet, from `position`.
  var bytes: [UInt8] = []
  var position = 0
  /// Where the search for the end of a line goes on.
  var searched = 0
  /// What the header being read has so far.
  var lines: [ArraySlice<UInt8>] = []
  var lineBytes = 0
  /// How many bytes of the body were seen.
  var bodyBytes = 0
  var hasSkippedLine = false

  /// A parser at the start of a connection.
  package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

  /// Takes what came from the connection.
  package mutating func append(_ more: some Sequence<UInt8>) {
    if position > 0, position == bytes.count || position > 65536 {
      bytes.removeFirst(position)
      searched -= position
      position = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Whether bytes wait that belong to a request that is not complete.
  package var isInsideRequest: Bool {
    if case .head = state { return position < bytes.count || !lines.isEmpty }
    return true
  }

  /// How many bytes wait that were not looked at as a part of a request.
  package var unreadBytes: Int { bytes.count - position }

  /// What comes next; `nil` when more bytes are needed.
  /// - Throws: the refusal of a request that breaks the rules, and the same from then on.
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
        (lineBytes, bodyBytes) = (0, 0)
        hasSkippedLine = false
        // An idle connection must not keep the room that a large request took.
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
          // Checked like a header, and then forgotten: nothing here wants trailers.
          _ = try HTTPRequestHead.Field(line)
          try count(line)
        }
      }
    }
  }

  /// Up to `most` bytes, if there are any.
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

  /// The next line without its end; `nil` when it is not complete.
  mutating func readLine(
    atMost limit: Int, _ status: Int, _ what: String
  ) throws(HTTPRefusal) -> ArraySlice<UInt8>? {
    while searched < bytes.count, bytes[searched] != 0x0A {
      guard searched - position <= limit else {
        throw HTTPRefusal(status, "\(what) is longer than \(limit) bytes")
      }
      if searched > position, bytes[searched - 1] == 0x0D {
        throw HTTPRefusal(400, "a carriage return stands alone")
      }
      searched += 1
    }
    guard searched < bytes.count else { return nil }
    guard searched > position, bytes[searched - 1] == 0x0D else {
      throw HTTPRefusal(400, "a line feed stands alone")
    }
    let line = bytes[position..<(searched - 1)]
    guard line.count <= limit else {
      throw HTTPRefusal(status, "\(what) is longer than \(limit) bytes")
    }
    skip(searched + 1 - position)
    return line
  }

  /// Counts a line of the header or the trailer toward the limits.
  mutating func count(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
    lines.append(line)
    lineBytes += line.count + 2
    guard lineBytes <= limits.headerBytes else {
      throw HTTPRefusal(431, "the header is longer than \(limits.headerBytes) bytes")
    }
    guard lines.count <= limits.fieldCount + 1 else {
      throw HTTPRefusal(431, "there are more than \(limits.fieldCount) header fields")
    }
  }

  /// The size in the first line of a chunk.
  private mutating func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int {
    let digits = line.prefix { $0.hexadecimalValue != nil }
    guard !digits.isEmpty, HTTPRequestParser.isExtension(line[digits.endIndex...]) else {
      throw HTTPRefusal(400, "a chunk's size is no hexadecimal number, or its extension is none")
    }
    // Zeros in front mean nothing; the line's length is bounded.
    let significant = digits.drop { $0 == 0x30 }
    guard significant.count <= 16 else {
      throw HTTPRefusal(400, "a chunk's size has more than 64 bits")
    }
    let number = significant.reduce(UInt64(0)) { $0 << 4 | UInt64($1.hexadecimalValue ?? 0) }
    let size = Int(clamping: number)
    let (total, isTooLarge) = bodyBytes.addingReportingOverflow(size)
    guard !isTooLarge, total <= limits.bodyBytes else {
      throw HTTPRefusal(413, "the body is longer than \(limits.bodyBytes) bytes")
    }
    bodyBytes = total
    return size
  }

  /// Whether these bytes are nothing, or extensions: each a semicolon and a name, and a value
  /// behind an equals sign where it has one, with blanks between them.
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
  /// Whether it may stand in a method or in a field's name.
  var isTokenCharacter: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }

  /// Whether it may stand in a field's value.
  var isFieldContent: Bool { self == 0x09 || (self >= 0x20 && self != 0x7F) }

  /// What it is worth as a hexadecimal digit.
  var hexadecimalValue: Int? {
    switch self {
    case 0x30...0x39: Int(self) - 0x30
    case 0x41...0x46: Int(self) - 0x37
    case 0x61...0x66: Int(self) - 0x57
    default: nil
    }
  }
}
