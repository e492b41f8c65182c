extension HTTPRequestParser {
  /// The head of the next request; `nil` when it is not complete.
  mutating func readHead() throws(HTTPRefusal) -> HTTPRequestHead? {
    while true {
      let isFirst = lines.isEmpty
      let limit = isFirst ? limits.requestLineBytes : limits.headerBytes
      let status = isFirst ? 414 : 431
      let what = isFirst ? "the request line" : "a header field"
      guard let line = try readLine(atMost: limit, status, what) else { return nil }
      if line.isEmpty {
        if !isFirst { break }
        guard !hasSkippedLine else { throw HTTPRefusal(400, "empty lines precede the request") }
        // One is forgiven: some clients end a body with one that does not count.
        hasSkippedLine = true
        continue
      }
      if isFirst {
        // The request line has a limit of its own.
        lines.append(line)
      } else {
        try count(line)
      }
    }
    var head = try requestLine(lines[0])
    for line in lines.dropFirst() { head.fields.append(try HTTPRequestHead.Field(line)) }
    try settleHost(head)
    try settleFraming(&head)
    try settleExpectation(&head)
    settleConnection(&head)
    lines = []
    lineBytes = 0
    switch head.framing {
    case .length(0): state = .ended
    case .length(let length): state = .body(remaining: length)
    case .chunked: state = .chunkSize
    }
    return head
  }

  private func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPRequestHead {
    let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw HTTPRefusal(400, "the request line needs a method, a target and a version")
    }
    guard (1...32).contains(parts[0].count), parts[0].allSatisfy(\.isTokenCharacter) else {
      throw HTTPRefusal(400, "the method has a character that may not be there")
    }
    let method = String(decoding: parts[0], as: UTF8.self)
    let minorVersion: Int
    switch Array(parts[2]) {
    case Array("HTTP/1.1".utf8): minorVersion = 1
    case Array("HTTP/1.0".utf8): minorVersion = 0
    case let other where other.count == 8 && other.starts(with: "HTTP/".utf8) && other[6] == 0x2E:
      throw HTTPRefusal(505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
    default: throw HTTPRefusal(400, "the version is none of HTTP's")
    }
    let (path, query) = try target(parts[1], method)
    return HTTPRequestHead(
      method: method, path: path, query: query, minorVersion: minorVersion, fields: [])
  }

  /// A path and a query.
  ///
  /// Only the form for servers is taken, and `*` with `OPTIONS`.
  private func target(
    _ bytes: ArraySlice<UInt8>, _ method: String
  ) throws(HTTPRefusal) -> (String, String?) {
    if bytes.elementsEqual([0x2A]), method == "OPTIONS" { return ("*", nil) }
    guard bytes.first == 0x2F else {
      throw HTTPRefusal(400, "the target must begin with a slash")
    }
    var escape = 0
    for byte in bytes {
      guard byte > 0x20, byte < 0x7F, byte != 0x23, byte != 0x22, byte != 0x3C, byte != 0x3E,
        byte != 0x5C
      else { throw HTTPRefusal(400, "the target has a character that must be escaped") }
      if escape > 0 {
        guard byte.hexadecimalValue != nil else {
          throw HTTPRefusal(400, "the target has a percent sign without two digits")
        }
        escape -= 1
      } else if byte == 0x25 {
        escape = 2
      }
    }
    guard escape == 0 else {
      throw HTTPRefusal(400, "the target has a percent sign without two digits")
    }
    let parts = bytes.split(separator: 0x3F, maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
    return (String(decoding: parts[0], as: UTF8.self), query)
  }

  private func settleHost(_ head: HTTPRequestHead) throws(HTTPRefusal) {
    let hosts = head.values("host")
    guard hosts.count <= 1 else { throw HTTPRefusal(400, "there is more than one Host") }
    guard head.minorVersion == 0 || hosts.count == 1 else {
      throw HTTPRefusal(400, "there is no Host")
    }
  }

  /// Finds out how the body ends; whatever could be read in two ways is refused.
  private func settleFraming(_ head: inout HTTPRequestHead) throws(HTTPRefusal) {
    let lengths = head.values("content-length")
    let encodings = head.values("transfer-encoding")
    guard lengths.isEmpty || encodings.isEmpty else {
      throw HTTPRefusal(400, "a request can't have both a length and a transfer coding")
    }
    if !encodings.isEmpty {
      guard head.minorVersion == 1 else {
        throw HTTPRefusal(400, "HTTP/1.0 knows no transfer coding")
      }
      guard encodings.count == 1, encodings[0].lowercased() == "chunked" else {
        throw HTTPRefusal(501, "the only transfer coding known here is chunked")
      }
      head.framing = .chunked
      return
    }
    guard let text = lengths.first else { return }
    guard lengths.count == 1 else { throw HTTPRefusal(400, "there is more than one length") }
    guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let length = Int(text)
    else { throw HTTPRefusal(400, "the length is no number") }
    guard length <= limits.bodyBytes else {
      throw HTTPRefusal(413, "the body is longer than \(limits.bodyBytes) bytes")
    }
    head.framing = .length(length)
  }

  private func settleExpectation(_ head: inout HTTPRequestHead) throws(HTTPRefusal) {
    let wishes = head.values("expect")
    guard !wishes.isEmpty, head.minorVersion == 1 else { return }
    guard wishes.count == 1, wishes[0].lowercased() == "100-continue" else {
      throw HTTPRefusal(417, "the only expectation known here is 100-continue")
    }
    head.expectsContinue = head.framing != .length(0)
  }

  private func settleConnection(_ head: inout HTTPRequestHead) {
    let words = head.values("connection").flatMap { $0.split(separator: ",") }
      .map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
    let closes = words.contains("close")
    head.keepsAlive = !closes && (head.minorVersion == 1 || words.contains("keep-alive"))
  }
}

extension HTTPRequestHead.Field {
  /// Reads a line of a header.
  init(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
    guard let first = line.first, first != 0x20, first != 0x09 else {
      throw HTTPRefusal(400, "a header field goes on in another line")
    }
    guard let colon = line.firstIndex(of: 0x3A) else {
      throw HTTPRefusal(400, "a header field has no colon")
    }
    let name = line[..<colon]
    guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
      throw HTTPRefusal(400, "a field's name is empty or has a character that may not be there")
    }
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var value = line[(colon + 1)...].drop(while: isBlank)
    while let last = value.last, isBlank(last) { value.removeLast() }
    guard value.allSatisfy(\.isFieldContent) else {
      throw HTTPRefusal(400, "a field's value has a character that may not be there")
    }
    guard let text = String(validating: value, as: UTF8.self) else {
      throw HTTPRefusal(400, "a field's value is no text in UTF-8")
    }
    self.init(name: String(decoding: name, as: UTF8.self).lowercased(), value: text)
  }
}
