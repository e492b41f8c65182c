/// An incremental parser of one HTTP/1 response, fed with chunks of any size.
///
/// Call `take(_:)` with each chunk and `end()` when the connection closes, until `result` is set.
///
/// Source: RFC 9112, 6 and 7.
struct HTTPResponseParser {
  /// The reason a response is rejected.
  enum ParseError: Error {
    /// It is not an HTTP/1 response.
    case malformed
    /// Its header or its body exceeds the limit.
    case tooLarge
    /// The connection closed before the end of the response.
    case incomplete
  }

  private enum State: Equatable {
    case status
    case fields
    case body(remaining: Int)
    case bodyToEnd
    case chunkSize
    case chunk(remaining: Int)
    case chunkEnd
    case trailer
    case complete
  }

  private static let maximumLineBytes = 1 << 16
  private let maximumBodyBytes: Int
  private var state = State.status
  private var line: [UInt8] = []
  private var lineBytes = 0
  private var response = HTTPClientResponse(status: 0)
  /// Whether the connection can be reused after this response.
  private(set) var keepsConnection = true

  /// Creates a parser that accepts bodies of up to `maximumBodyBytes`.
  init(maximumBodyBytes: Int = 1 << 31) { self.maximumBodyBytes = maximumBodyBytes }

  /// The response, once it is complete.
  var result: HTTPClientResponse? { state == .complete ? response : nil }

  /// Parses received bytes.
  mutating func take(_ bytes: ArraySlice<UInt8>) throws(ParseError) {
    var rest = bytes
    while let first = rest.first {
      switch state {
      case .complete:
        // No further response was requested, so these bytes belong to none.
        keepsConnection = false
        return
      case .bodyToEnd: rest = try takeBody(rest, upTo: rest.count)
      case .body(let remaining):
        let count = rest.count
        rest = try takeBody(rest, upTo: remaining)
        let left = remaining - (count - rest.count)
        state = left == 0 ? .complete : .body(remaining: left)
      case .chunk(let remaining):
        let count = rest.count
        rest = try takeBody(rest, upTo: remaining)
        let left = remaining - (count - rest.count)
        state = left == 0 ? .chunkEnd : .chunk(remaining: left)
      case .status, .fields, .chunkSize, .chunkEnd, .trailer:
        rest = rest.dropFirst()
        lineBytes += 1
        guard lineBytes <= HTTPResponseParser.maximumLineBytes else { throw .tooLarge }
        guard first == UInt8(ascii: "\n") else {
          line.append(first)
          continue
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        try takeLine()
        line.removeAll(keepingCapacity: true)
      }
    }
  }

  /// Ends the input: the connection was closed.
  mutating func end() throws(ParseError) {
    keepsConnection = false
    if state == .bodyToEnd { state = .complete }
    guard state == .complete else { throw .incomplete }
  }

  private mutating func takeBody(
    _ bytes: ArraySlice<UInt8>, upTo count: Int
  ) throws(ParseError) -> ArraySlice<UInt8> {
    let part = bytes.prefix(count)
    guard part.count <= maximumBodyBytes - response.body.count else { throw .tooLarge }
    response.body.append(contentsOf: part)
    return bytes.dropFirst(part.count)
  }

  private mutating func takeLine() throws(ParseError) {
    switch state {
    case .status: try takeStatus()
    case .fields: if line.isEmpty { try endHead() } else { try takeField() }
    case .chunkSize:
      let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
      guard let size = HTTPResponseParser.number(digits, radix: 16) else { throw .malformed }
      lineBytes = 0
      state = size == 0 ? .trailer : .chunk(remaining: size)
    case .chunkEnd:
      guard line.isEmpty else { throw .malformed }
      state = .chunkSize
    case .trailer: if line.isEmpty { state = .complete }
    case .body, .bodyToEnd, .chunk, .complete: break  // Not parsed by line.
    }
  }

  private mutating func takeStatus() throws(ParseError) {
    guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), line[8] == 0x20,
      line.count == 12 || line[12] == 0x20,
      let status = HTTPResponseParser.number(line[9..<12], radix: 10), status >= 100
    else { throw .malformed }
    keepsConnection = line[7] != UInt8(ascii: "0")
    response = HTTPClientResponse(status: status)
    state = .fields
  }

  private mutating func takeField() throws(ParseError) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw .malformed }
    var value = line[(colon + 1)...]
    while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
    while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
    response.fields.append(
      HTTPClientRequest.Field(
        name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
        value: String(decoding: value, as: UTF8.self)))
  }

  /// Determines how the body ends.
  private mutating func endHead() throws(ParseError) {
    if response.field("connection")?.lowercased() == "close" { keepsConnection = false }
    if (100..<200).contains(response.status) {
      // An interim response; the final one follows.
      guard response.status != 101 else { throw .malformed }
      state = .status
      return
    }
    if response.status == 204 || response.status == 304 {
      state = .complete
      return
    }
    let lengths = response.fields.filter { $0.name == "content-length" }.map(\.value)
    if let coding = response.field("transfer-encoding") {
      guard coding.lowercased() == "chunked", lengths.isEmpty else { throw .malformed }
      lineBytes = 0
      state = .chunkSize
      return
    }
    guard let length = lengths.first else {
      state = .bodyToEnd
      return
    }
    guard lengths.allSatisfy({ $0 == length }),
      let count = HTTPResponseParser.number(Array(length.utf8)[...], radix: 10)
    else { throw .malformed }
    guard count <= maximumBodyBytes else { throw .tooLarge }
    // Bounded, because the announced bytes need not arrive.
    response.body.reserveCapacity(min(count, 1 << 20))
    state = count == 0 ? .complete : .body(remaining: count)
  }

  /// Parses digits; `nil` for other characters or when the value exceeds `Int`.
  private static func number(_ digits: ArraySlice<UInt8>, radix: Int) -> Int? {
    let text = String(decoding: digits, as: UTF8.self)
    // A sign is no digit.
    guard digits.count <= 19, text.allSatisfy(\.isHexDigit) else { return nil }
    return Int(text, radix: radix)
  }
}
