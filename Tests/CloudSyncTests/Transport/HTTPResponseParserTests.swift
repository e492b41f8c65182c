import Testing

@testable import CloudSync

@Suite("Answers of web servers")
struct HTTPResponseParserTests {
  private typealias Failure = HTTPResponseParser.ParseError

  /// The result of parsing `pieces`: the response and whether the connection is kept, or the error.
  private static func read(
    _ pieces: [ArraySlice<UInt8>], ends: Bool, most: Int
  ) -> Result<Outcome, Failure> {
    var parser = HTTPResponseParser(maximumBodyBytes: most)
    do throws(Failure) {
      for piece in pieces { try parser.take(piece) }
      if ends { try parser.end() }
    } catch { return .failure(error) }
    return .success(Outcome(answer: parser.result, keeps: parser.keepsConnection))
  }

  private struct Outcome: Equatable {
    var answer: HTTPClientResponse?
    var keeps: Bool
  }

  private static func whole(
    _ status: Int, _ body: String, _ fields: [(String, String)], keeps: Bool = true
  ) -> Result<Outcome, Failure> {
    .success(
      Outcome(
        answer: HTTPClientResponse(
          status: status, fields: fields.map { .init(name: $0.0, value: $0.1) },
          body: Array(body.utf8)), keeps: keeps))
  }

  private static let cases: [(text: String, ends: Bool, outcome: Result<Outcome, Failure>)] = {
    let ok = "HTTP/1.1 200 OK\r\n"
    let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    let two = [("content-length", "2")]
    let chunk = [("transfer-encoding", "chunked")]
    return [
      (ok + "Content-Length: 2\r\n\r\nhi", false, whole(200, "hi", two)),
      ("HTTP/1.1 404\nContent-Length:2 \n\nhi", false, whole(404, "hi", two)),
      (ok + "content-length: 0\r\n\r\n", false, whole(200, "", [("content-length", "0")])),
      ("HTTP/1.1 204 No Content\r\n\r\n", false, whole(204, "", [])),
      (
        "HTTP/1.1 100 Continue\r\n\r\n" + ok + "content-length: 2\r\n\r\nhi", false,
        whole(200, "hi", two)
      ),
      (
        ok + "X: \t a: b \r\ncontent-length: 2\r\n\r\nhi", false,
        whole(200, "hi", [("x", "a: b")] + two)
      ),
      (
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", false, whole(200, "hi", two, keeps: false)
      ),
      (
        ok + "Connection: close\r\ncontent-length: 2\r\n\r\nhi", true,
        whole(200, "hi", [("connection", "close")] + two, keeps: false)
      ),
      (ok + "content-length: 2\r\n\r\nhi!", false, whole(200, "hi", two, keeps: false)),
      (ok + "\r\nall of it", true, whole(200, "all of it", [], keeps: false)),
      (chunked + "2\r\nhi\r\n0\r\n\r\n", false, whole(200, "hi", chunk)),
      (
        chunked + "2;x=y\r\nhi\r\nB\r\n, all of it\r\n000\r\nX: y\r\n\r\n", false,
        whole(200, "hi, all of it", chunk)
      ),
      (ok + "content-length: 2\r\n\r\nh", true, .failure(.incomplete)),
      (ok + "content-length: 2\r\n", true, .failure(.incomplete)),
      (chunked + "2\r\nhi\r\n", true, .failure(.incomplete)),
      ("", true, .failure(.incomplete)),
      (chunked + "2\r\nhi!\r\n", false, .failure(.malformed)),
      (chunked + "-2\r\nhi\r\n", false, .failure(.malformed)),
      (chunked + "fffffffffffffffff\r\nhi\r\n", false, .failure(.malformed)),
      (ok + "content-length: 2\r\ncontent-length: 3\r\n\r\nhi", false, .failure(.malformed)),
      (ok + "content-length: 2, 2\r\n\r\nhi", false, .failure(.malformed)),
      (ok + "content-length: +2\r\n\r\nhi", false, .failure(.malformed)),
      (
        ok + "content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", false,
        .failure(.malformed)
      ),
      (ok + "transfer-encoding: gzip\r\n\r\n", false, .failure(.malformed)),
      (ok + " folded\r\n\r\n", false, .failure(.malformed)),
      (ok + ": nothing\r\n\r\n", false, .failure(.malformed)),
      (ok + "a\u{7F}: x\r\n\r\n", false, .failure(.malformed)),
      (ok + "a b: x\r\n\r\n", false, .failure(.malformed)),
      ("HTTP/2 200 OK\r\n\r\n", false, .failure(.malformed)),
      ("HTTP/1.1\t200 OK\r\n\r\n", false, .failure(.malformed)),
      ("HTTP/1.1 20 OK\r\n\r\n", false, .failure(.malformed)),
      ("HTTP/1.1 101 Go\r\n\r\n", false, .failure(.malformed)),
      ("SSH-2.0-x\r\n", false, .failure(.malformed)),
      (ok + "content-length: 41\r\n\r\n", false, .failure(.tooLarge)),
      (chunked + "29\r\n" + String(repeating: "x", count: 41), false, .failure(.tooLarge)),
      (ok + "\r\n" + String(repeating: "x", count: 41), false, .failure(.tooLarge)),
      (ok + "x: " + String(repeating: "x", count: 1 << 16), false, .failure(.tooLarge)),
    ]
  }()

  @Test("A response is parsed the same however its bytes are split")
  func responseIsIndependentOfByteBoundaries() {
    for (text, ends, outcome) in HTTPResponseParserTests.cases {
      let bytes = Array(text.utf8)[...]
      func read(_ pieces: [ArraySlice<UInt8>]) -> Result<Outcome, Failure> {
        HTTPResponseParserTests.read(pieces, ends: ends, most: 40)
      }
      let shown = text.prefix(120)
      #expect(read([bytes]) == outcome, "\(shown)")
      #expect(read(bytes.map { [$0] }) == outcome, "byte by byte: \(shown)")
      guard bytes.count < 200 else { continue }
      let wrong = bytes.indices.filter { read([bytes[..<$0], bytes[$0...]]) != outcome }
      #expect(wrong.isEmpty, "cut at \(wrong): \(shown)")
    }
  }
}
