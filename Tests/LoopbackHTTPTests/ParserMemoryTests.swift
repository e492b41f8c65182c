import Testing

@testable import LoopbackHTTP

@Suite("The memory of a parser")
struct ParserMemoryTests {
  private static let head = "POST /a HTTP/1.1\r\nHost: localhost\r\n"

  /// The number of bytes that the stored lines keep in memory.
  ///
  /// The type is part of the test: a slice would keep a whole buffer.
  private func keptBytes(_ parser: HTTPRequestParser) -> Int {
    let lines: [[UInt8]] = parser.lines
    return lines.reduce(0) { $0 + $1.capacity }
  }

  /// Appends `text` and then `lines`, each in the same piece as the first byte of the next one, so
  /// that the buffer is never empty.
  private func append(
    _ text: String, _ lines: Int, _ parser: inout HTTPRequestParser
  ) throws {
    parser.append(Array((text + "a").utf8))
    while try parser.next() != nil {}
    for _ in 1..<lines {
      parser.append(Array(":b\r\na".utf8))
      #expect(try parser.next() == nil)
    }
    parser.append(Array(":b\r\n".utf8))
    #expect(try parser.next() == nil)
  }

  /// Proves I22.
  @Test("The trailers of a large chunked body keep no bytes")
  func trailersKeepNoBytes() throws {
    var parser = HTTPRequestParser()
    let chunk = "1;" + String(repeating: "e", count: 200) + "\r\nx\r\n"
    let chunks = String(repeating: chunk, count: 300)
    try append(
      Self.head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n", 100, &parser)
    #expect(keptBytes(parser) == 0)
    parser.append(Array("\r\n".utf8))
    #expect(try parser.next() == .end)
  }

  /// Proves I22.
  @Test("The lines of a header that arrives in pieces keep about as many bytes as they have")
  func headerLinesKeepTheirBytes() throws {
    var parser = HTTPRequestParser()
    let body = String(repeating: "x", count: 60_000)
    try append(
      Self.head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body + Self.head, 80, &parser)
    #expect((300...8192).contains(keptBytes(parser)), "\(keptBytes(parser)) bytes")
    parser.append(Array("\r\n".utf8))
    guard case .head(let head) = try parser.next() else {
      Issue.record("there is no head")
      return
    }
    #expect(head.fields.count == 81)
  }
}
