import LoopbackServer
import Records
import Testing

@testable import LoopbackHTTP

/// Responses to clients that request a part of a file or already have it.
@Suite("Ranges and conditions of files")
struct FileAnswerTests {
  private static let tag = "\"t\""

  /// Fields of a request for ten bytes, and what it gets.
  static let rows: [(fields: [String], found: HTTPSelection)] = [
    ([], .whole), (["range: bytes=0-3"], .part(0..<4)), (["range: bytes=0-"], .part(0..<10)),
    (["range: bytes=9-"], .part(9..<10)), (["range: bytes=3-99"], .part(3..<10)),
    (["range: bytes=-1"], .part(9..<10)), (["range: bytes=-99"], .part(0..<10)),
    (["range: BYTES=1-1"], .part(1..<2)), (["range: bytes=00-01"], .part(0..<2)),
    (["range: bytes=0-99999999999999999999"], .part(0..<10)),
    (["range: bytes=10-"], .unsatisfiable), (["range: bytes=-0"], .unsatisfiable),
    (["range: bytes=99999999999999999999-"], .unsatisfiable), (["range: bytes=3-2"], .whole),
    (["range: bytes=0-1,4-5"], .whole), (["range: bytes="], .whole), (["range: bytes=-"], .whole),
    (["range: bytes=a-b"], .whole), (["range: bytes=1"], .whole), (["range: lines=0-1"], .whole),
    (["range: bytes=0-1-2"], .whole), (["range: 0-1"], .whole), (["range: bytes=+1-2"], .whole),
    (["range: bytes=0-1", "range: bytes=0-1"], .whole),
    (["range: bytes=0-1", "if-range: \(tag)"], .part(0..<2)),
    (["range: bytes=0-1", "if-range: \"u\""], .whole),
    (["range: bytes=0-1", "if-range: W/\(tag)"], .whole),
    (["range: bytes=0-1", "if-range: Sun, 06 Nov 1994 08:49:37 GMT"], .whole),
    (["if-range: \(tag)"], .whole), (["if-none-match: \(tag)"], .notModified),
    (["if-none-match: W/\(tag)"], .notModified), (["if-none-match: *"], .notModified),
    (["if-none-match: \"u\" , \(tag)"], .notModified), (["if-none-match: \"u\""], .whole),
    (["if-none-match: \(tag)", "range: bytes=0-1"], .notModified),
    (["if-none-match: \"u\"", "range: bytes=0-1"], .part(0..<2)), (["if-match: \(tag)"], .whole),
    (["if-match: *"], .whole), (["if-match: \"u\", \(tag)"], .whole),
    (["if-match: \"u\""], .preconditionFailed), (["if-match: W/\(tag)"], .preconditionFailed),
    (["if-match: \"u\"", "if-none-match: \(tag)"], .preconditionFailed),
    (["if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT"], .whole),
  ]

  private func head(_ fields: [String], method: String = "GET") -> HTTPRequestHead {
    HTTPRequestHead(
      method: method, path: "/", query: nil, minorVersion: 1,
      fields: fields.map { field in
        let name = field.prefix { $0 != ":" }
        return .init(name: String(name), value: String(field.dropFirst(name.count + 2)))
      })
  }

  /// Proves WS-115.
  @Test("Every form of a range and a condition")
  func rangesAndConditions() {
    for (fields, found) in Self.rows {
      #expect(HTTPSelection(head(fields), count: 10, tag: Self.tag) == found, "\(fields)")
      let first = HTTPSelection(head(fields, method: "HEAD"), count: 10, tag: Self.tag)
      if case .part = found { #expect(first == .whole, "\(fields)") }
    }
    for range in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
      let none = HTTPSelection(head(["range: \(range)"]), count: 0, tag: Self.tag)
      #expect(none == .unsatisfiable, "\(range)")
    }
  }

  /// Proves WS-115.
  @Test("A file is served with its tag, in parts, as missing, or as not modified")
  func fileAnswersSupportTagsAndRanges() async throws {
    try await AccessWorld.run { world in
      let path = try await world.settle().filePath
      let whole = try await world.ask("GET", path)
      let tag = try #require(whole.values("etag").first)
      #expect(whole.status == 200 && whole.values("accept-ranges") == ["bytes"])
      let part = try await world.ask(
        "GET", path, fields: ["Range: bytes=7-10", "If-Range: \(tag)"])
      #expect(part.status == 206 && part.text == "file", "\(part.text)")
      #expect(part.values("content-range") == ["bytes 7-10/19"] && part.values("etag") == [tag])
      for answer in [whole, part] {
        #expect(answer.values("content-type") == ["application/octet-stream"])
        #expect(answer.values("x-content-type-options") == ["nosniff"])
        #expect(answer.values("content-disposition") == ["attachment"])
      }
      let beyond = try await world.ask("GET", path, fields: ["Range: bytes=19-"])
      #expect(beyond.status == 416 && beyond.values("content-range") == ["bytes */19"])
      let known = try await world.ask("GET", path, fields: ["If-None-Match: \(tag)"])
      #expect(known.status == 304 && known.body.isEmpty && known.values("etag") == [tag])
      #expect(known.values("content-length").isEmpty)
      let other = try await world.ask("GET", path, fields: ["If-Match: \"other\""])
      #expect(other.status == 412 && other.values("x-content-type-options") == ["nosniff"])
      let first = try await world.ask("HEAD", path, fields: ["Range: bytes=0-1"])
      #expect(first.status == 200 && first.length == 19 && first.body.isEmpty)
    }
  }

  /// Proves TH-20.
  @Test("Dates are written in the format of HTTP")
  func datesAreWrittenAsHTTPDates() {
    let rows: [(Double, String?)] = [
      (0, "Mon, 01 Jan 2001 00:00:00 GMT"), (-194195423, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (-978_307_200, "Thu, 01 Jan 1970 00:00:00 GMT"), (-978_307_201, nil),
      (730857600, "Thu, 29 Feb 2024 00:00:00 GMT"), (730857599.9, "Wed, 28 Feb 2024 23:59:59 GMT"),
      (252423993599, "Fri, 31 Dec 9999 23:59:59 GMT"), (252423993600, nil),
      (.infinity, nil), (.nan, nil),
    ]
    for (seconds, text) in rows {
      #expect(HTTPDate.text(Timestamp(secondsSinceReferenceDate: seconds)) == text, "\(seconds)")
    }
  }
}
