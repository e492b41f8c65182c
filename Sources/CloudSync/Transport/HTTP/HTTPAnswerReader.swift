/// Finds one answer in the bytes that a connection brings, in pieces of any size.
///
/// Source: RFC 9112, 6 and 7.
struct HTTPAnswerReader {
  /// What is wrong with an answer.
  enum Fault: Error {
    /// It is not one of HTTP/1.
    case malformed
    /// Its header or its body is larger than anybody needs.
    case tooLarge
    /// The connection ended before it did.
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

  private static let mostLineBytes = 1 << 16
  private let mostBodyBytes: Int
  private var state = State.status
  private var line: [UInt8] = []
  private var lineBytes = 0
  private var answer = HTTPAnswer(status: 0)
  /// Whether the connection can carry another request after this answer.
  private(set) var keepsConnection = true

  /// A reader that takes bodies up to `mostBodyBytes`.
  init(mostBodyBytes: Int = 1 << 31) { self.mostBodyBytes = mostBodyBytes }

  /// The answer, when it is complete.
  var result: HTTPAnswer? { state == .complete ? answer : nil }

  /// Takes what came.
  mutating func take(_ bytes: ArraySlice<UInt8>) throws(Fault) {
    var rest = bytes
    while let first = rest.first {
      switch state {
      case .complete:
        // Nobody asked for more, so what it is an answer to is not known.
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
        guard lineBytes <= HTTPAnswerReader.mostLineBytes else { throw .tooLarge }
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

  /// Learns that nothing more will come.
  mutating func end() throws(Fault) {
    keepsConnection = false
    if state == .bodyToEnd { state = .complete }
    guard state == .complete else { throw .incomplete }
  }

  private mutating func takeBody(
    _ bytes: ArraySlice<UInt8>, upTo count: Int
  ) throws(Fault) -> ArraySlice<UInt8> {
    let part = bytes.prefix(count)
    guard part.count <= mostBodyBytes - answer.body.count else { throw .tooLarge }
    answer.body.append(contentsOf: part)
    return bytes.dropFirst(part.count)
  }

  private mutating func takeLine() throws(Fault) {
    switch state {
    case .status: try takeStatus()
    case .fields: if line.isEmpty { try endHead() } else { try takeField() }
    case .chunkSize:
      let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
      guard let size = HTTPAnswerReader.number(digits, radix: 16) else { throw .malformed }
      lineBytes = 0
      state = size == 0 ? .trailer : .chunk(remaining: size)
    case .chunkEnd:
      guard line.isEmpty else { throw .malformed }
      state = .chunkSize
    case .trailer: if line.isEmpty { state = .complete }
    case .body, .bodyToEnd, .chunk, .complete: break  // These are not read by lines.
    }
  }

  private mutating func takeStatus() throws(Fault) {
    guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), line[8] == 0x20,
      line.count == 12 || line[12] == 0x20,
      let status = HTTPAnswerReader.number(line[9..<12], radix: 10), status >= 100
    else { throw .malformed }
    keepsConnection = line[7] != UInt8(ascii: "0")
    answer = HTTPAnswer(status: status)
    state = .fields
  }

  private mutating func takeField() throws(Fault) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw .malformed }
    var value = line[(colon + 1)...]
    while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
    while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
    answer.fields.append(
      HTTPQuestion.Field(
        name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
        value: String(decoding: value, as: UTF8.self)))
  }

  /// Settles how the body ends.
  private mutating func endHead() throws(Fault) {
    if answer.field("connection")?.lowercased() == "close" { keepsConnection = false }
    if (100..<200).contains(answer.status) {
      // Word of what is to come; the answer itself follows.
      guard answer.status != 101 else { throw .malformed }
      state = .status
      return
    }
    if answer.status == 204 || answer.status == 304 {
      state = .complete
      return
    }
    let lengths = answer.fields.filter { $0.name == "content-length" }.map(\.value)
    if let coding = answer.field("transfer-encoding") {
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
      let count = HTTPAnswerReader.number(Array(length.utf8)[...], radix: 10)
    else { throw .malformed }
    guard count <= mostBodyBytes else { throw .tooLarge }
    // No more than a while's worth: what is announced need not come.
    answer.body.reserveCapacity(min(count, 1 << 20))
    state = count == 0 ? .complete : .body(remaining: count)
  }

  /// A number in digits only, not larger than an `Int`.
  private static func number(_ digits: ArraySlice<UInt8>, radix: Int) -> Int? {
    guard !digits.isEmpty, digits.count <= 19 else { return nil }
    var number = 0
    for digit in digits {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue, value < radix else {
        return nil
      }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: radix)
      let (sum, isMore) = product.addingReportingOverflow(value)
      if isTooLarge || isMore { return nil }
      number = sum
    }
    return number
  }
}
