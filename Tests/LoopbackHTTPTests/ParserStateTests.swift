import Testing

@testable import LoopbackHTTP

@Suite("What a parser keeps between the pieces of a connection")
struct ParserStateTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  /// A request of `POST` that has so many bytes together with its body.
  private static func post(bytes: Int) -> String {
    let head = { (length: Int) in
      let digits = "\(length)"
      let zeros = String(repeating: "0", count: 9 - digits.utf8.count)
      return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(zeros)\(digits)\r\n\r\n"
    }
    let length = bytes - head(0).utf8.count
    return head(length) + String(repeating: "x", count: length)
  }

  /// The number of requests that end with this piece.
  @discardableResult
  private func ends(_ text: String, _ parser: inout HTTPRequestParser) throws -> Int {
    parser.append(Array(text.utf8))
    var count = 0
    while let event = try parser.next() {
      if event == .end { count += 1 }
    }
    return count
  }

  @Test("Bytes that were read are dropped with the next piece, if all were or more than 64 KiB")
  func readBytesAreDropped() throws {
    for (bytes, ahead, kept) in [(100, 0, 1), (65_536, 1, 65_538), (65_537, 1, 2)] {
      var parser = HTTPRequestParser()
      let first = String(Self.get.prefix(ahead))
      #expect(try ends(Self.post(bytes: bytes) + first, &parser) == 1)
      #expect(try ends(String(Self.get.dropFirst(ahead).prefix(1)), &parser) == 0)
      #expect(parser.bytes.count == kept, "after \(bytes) bytes")
      #expect(try ends(String(Self.get.dropFirst(ahead + 1)), &parser) == 1)
    }
  }

  @Test("The memory of a large request is released at its end, unless the next one has begun")
  func largeBufferIsReleased() throws {
    var parser = HTTPRequestParser()
    #expect(try ends(Self.post(bytes: 60_000), &parser) == 1)
    #expect(parser.bytes.capacity == 0)
    #expect(try ends(Self.get, &parser) == 1)
    #expect(parser.bytes.capacity > 0, "a small buffer is used again")
    #expect(try ends(Self.post(bytes: 60_000) + "G", &parser) == 1)
    #expect(parser.unreadBytes == 1)
    #expect(try ends(String(Self.get.dropFirst()), &parser) == 1)
  }

  @Test("A request has begun with its first byte, and has ended when it was read or refused")
  func requestBeginsWithItsFirstByte() throws {
    var parser = HTTPRequestParser()
    #expect(!parser.isInsideRequest)
    for piece in ["G", "ET / HTTP/1.1\r\n", "Content-Length: 1\r\nHost: a\r\n\r\n"] {
      #expect(try ends(piece, &parser) == 0)
      #expect(parser.isInsideRequest, "\(piece)")
    }
    #expect(try ends("x", &parser) == 1)
    #expect(!parser.isInsideRequest && parser.unreadBytes == 0)
    #expect(throws: HTTPRefusal.self) { try ends("nonsense\r\n\r\nand more", &parser) }
    #expect(parser.isInsideRequest && parser.unreadBytes == 0 && parser.bytes.isEmpty)
  }

  @Test("The head of a refused request holds what was read of it")
  func unfinishedHeadHoldsWhatWasRead() throws {
    var parser = HTTPRequestParser()
    #expect(parser.unfinishedHead == nil)
    try ends("PUT /a?b HTTP/1.0\r\nHost: a\r\nwrong\r\nX: y\r\n", &parser)
    let head = try #require(parser.unfinishedHead)
    #expect(head.method == "PUT" && head.path == "/a" && head.query == "b")
    #expect(head.minorVersion == 0)
    #expect(head.fields.map { "\($0.name)=\($0.value)" } == ["host=a", "x=y"])
    var malformed = HTTPRequestParser()
    try ends("nonsense\r\nHost: a\r\n", &malformed)
    let rest = try #require(malformed.unfinishedHead)
    #expect(rest.method == "" && rest.path == "" && rest.query == nil && rest.minorVersion == 1)
    #expect(rest.values("host") == ["a"])
  }

  @Test("The value of a field has no blanks around it, and other text is read as Latin-1")
  func valueOfFieldIsTrimmed() throws {
    for (value, text) in [
      ("b", "b"), ("", ""), (" \t", ""), (" \tb \tc\t ", "b \tc"), ("caf\u{E9}", "caf\u{E9}"),
    ] {
      let field = try HTTPRequestHead.Field(Array("Name:\(value)".utf8)[...])
      #expect(field.name == "name" && field.value == text, "'\(value)'")
    }
    let latin = try HTTPRequestHead.Field((Array("A: caf".utf8) + [0xE9, 0x20])[...])
    #expect(latin.value == "caf\u{E9}")
  }
}
