extension HTTPRequestParser {
  /// Reads the head of the next request; `nil` when it is incomplete.
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
        // One empty line is ignored: some clients send one after a body.
        hasSkippedLine = true
        continue
      }
      lines.append(Array(line))
      // The request line has a separate limit.
      if !isFirst { try count(line) }
    }
    var head = try requestLine(lines[0][...])
    for line in lines.dropFirst() { head.fields.append(try HTTPRequestHead.Field(line[...])) }
    try settleHost(head)
    try settleFraming(&head)
    try settleExpectation(&head)
    settleConnection(&head)
    lines = []
    (lineCount, lineBytes) = (0, 0)
    switch head.framing {
    case .length(0): state = .ended
    case .length(let length): state = .body(remaining: length)
    case .chunked: state = .chunkSize
    }
    return head
  }

  /// The part of a head that was read before it was rejected or the input ended; `nil` before its
  /// first line.
  ///
  /// The method and the path are empty if the request line is malformed; malformed fields are
  /// omitted.
  package var unfinishedHead: HTTPRequestHead? {
    guard let first = lines.first else { return nil }
    var head =
      (try? requestLine(first[...]))
      ?? HTTPRequestHead(method: "", path: "", query: nil, minorVersion: 1, fields: [])
    head.fields = lines.dropFirst().compactMap { try? HTTPRequestHead.Field($0[...]) }
    return head
  }

  private func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPRequestHead {
    let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw HTTPRefusal(400, "the request line needs a method, a target and a version")
    }
    guard (1...32).contains(parts[0].count), parts[0].allSatisfy(\.isTokenCharacter) else {
      throw HTTPRefusal(400, "the method has an invalid character")
    }
    let method = String(decoding: parts[0], as: UTF8.self)
    let minorVersion = try HTTPRequestParser.minorVersion(parts[2])
    let target = try HTTPTarget(parts[1], method)
    var head = HTTPRequestHead(
      method: method, path: target.path, query: target.query, authority: target.authority,
      minorVersion: minorVersion, fields: [])
    head.sentPath = target.sentPath
    return head
  }

  /// The minor version of HTTP/1; versions above 1 are treated as 1.
  ///
  /// Source: RFC 9110, section 2.5.
  private static func minorVersion(_ text: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int {
    let name = Array("HTTP/".utf8)
    let digits = Array(text.dropFirst(name.count))
    guard text.starts(with: name), digits.count == 3, digits[1] == 0x2E,
      [digits[0], digits[2]].allSatisfy({ (0x30...0x39).contains($0) })
    else { throw HTTPRefusal(400, "the HTTP version is malformed") }
    guard digits[0] == 0x31 else {
      throw HTTPRefusal(505, "only HTTP/1.0 and HTTP/1.1 are supported")
    }
    return digits[2] == 0x30 ? 0 : 1
  }

  private func settleHost(_ head: HTTPRequestHead) throws(HTTPRefusal) {
    let hosts = head.values("host")
    guard hosts.count <= 1 else {
      throw HTTPRefusal(400, "the request has more than one Host field")
    }
    guard head.minorVersion == 0 || hosts.count == 1 else {
      throw HTTPRefusal(400, "the request has no Host field")
    }
    guard hosts.allSatisfy({ HTTPAuthority.isValid($0) }) else {
      throw HTTPRefusal(400, "the Host field is not a valid host and port")
    }
  }

  /// Determines the length of the body; rejects every ambiguous framing.
  private func settleFraming(_ head: inout HTTPRequestHead) throws(HTTPRefusal) {
    let lengths = head.values("content-length")
    let encodings = head.values("transfer-encoding")
    guard lengths.isEmpty || encodings.isEmpty else {
      throw HTTPRefusal(400, "a request can't have both a length and a transfer coding")
    }
    if !encodings.isEmpty {
      guard head.minorVersion == 1 else {
        throw HTTPRefusal(400, "HTTP/1.0 has no transfer codings")
      }
      try checkCodings(head.list("transfer-encoding").map { $0.asciiLowercased })
      head.framing = .chunked
      return
    }
    guard let text = lengths.first else { return }
    guard lengths.count == 1 else {
      throw HTTPRefusal(400, "the request has more than one Content-Length")
    }
    guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let length = Int(text)
    else { throw HTTPRefusal(400, "the Content-Length is not a number") }
    guard length <= limits.bodyBytes else {
      throw HTTPRefusal(413, "the body is longer than \(limits.bodyBytes) bytes")
    }
    head.framing = .length(length)
  }

  /// Checks that the transfer codings delimit the body and consist of `chunked` alone.
  ///
  /// Source: RFC 9112, sections 6.1, 6.3 and 7.
  private func checkCodings(_ codings: [String]) throws(HTTPRefusal) {
    guard codings.allSatisfy({ $0.utf8.first?.isTokenCharacter == true }) else {
      throw HTTPRefusal(400, "the list of transfer codings has an empty or malformed element")
    }
    guard codings.last == "chunked", !codings.dropLast().contains("chunked") else {
      throw HTTPRefusal(
        400, "chunked must be the last transfer coding, once and without parameters")
    }
    guard codings.count == 1 else {
      throw HTTPRefusal(501, "the only supported transfer coding is chunked")
    }
  }

  private func settleExpectation(_ head: inout HTTPRequestHead) throws(HTTPRefusal) {
    let wishes = head.values("expect")
    guard !wishes.isEmpty, head.minorVersion == 1 else { return }
    guard wishes.count == 1, wishes[0].asciiLowercased == "100-continue" else {
      throw HTTPRefusal(417, "the only supported expectation is 100-continue")
    }
    head.expectsContinue = head.framing != .length(0)
  }

  private func settleConnection(_ head: inout HTTPRequestHead) {
    let words = head.list("connection").map { $0.asciiLowercased }
    let closes = words.contains("close")
    head.keepsAlive = !closes && (head.minorVersion == 1 || words.contains("keep-alive"))
  }
}

extension HTTPRequestHead.Field {
  /// Parses a header line.
  init(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
    guard let first = line.first, first != 0x20, first != 0x09 else {
      throw HTTPRefusal(400, "a header field is folded over several lines")
    }
    guard let colon = line.firstIndex(of: 0x3A) else {
      throw HTTPRefusal(400, "a header field has no colon")
    }
    let name = line[..<colon]
    guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else {
      throw HTTPRefusal(400, "a field's name is empty or has an invalid character")
    }
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var value = line[(colon + 1)...].drop(while: isBlank)
    while let last = value.last, isBlank(last) { value.removeLast() }
    guard value.allSatisfy(\.isFieldContent) else {
      throw HTTPRefusal(400, "a field's value has an invalid character")
    }
    self.init(
      name: String(decoding: name, as: UTF8.self).asciiLowercased,
      value: HTTPRequestHead.Field.text(value))
  }

  /// Decodes a value: as UTF-8 if it is valid, otherwise as ISO 8859-1, the historical encoding of
  /// fields.
  ///
  /// Source: RFC 9110, section 5.5.
  private static func text(_ value: ArraySlice<UInt8>) -> String {
    String(validating: value, as: UTF8.self)
      ?? String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
  }
}
