import WebServices

@testable import LoopbackHTTP

extension FuzzTarget {
  /// Requests in the bytes of a connection.
  static let http = FuzzTarget(name: "http") { input, planted in
    var input = input
    let limits =
      input.byte() & 1 == 0
      ? HTTPLimits()
      : HTTPLimits(requestLineBytes: 24, headerBytes: 48, fieldCount: 3, bodyBytes: 16)
    let place = Int(input.byte())
    let bytes = input.rest
    let cut = place % (bytes.count + 1)
    let whole = try Reading([bytes[...]], limits)
    // Byte by byte around the cut, where the input is long.
    let near = max(0, cut - 6)..<min(bytes.count, cut + 6)
    var pieces = [bytes.prefix(near.lowerBound)]
    for index in near { pieces.append(bytes[index...index]) }
    pieces.append(bytes.dropFirst(near.upperBound))
    try check(try Reading(pieces, limits) == whole, "byte by byte around \(cut)")
    for (head, body) in zip(whole.heads, whole.bodies) {
      try plant(planted, body)
      try examine(head)
    }
  }

  /// The requests read from a connection.
  private struct Reading: Equatable {
    var heads: [HTTPRequestHead] = []
    /// As many as heads, the last one perhaps not complete.
    var bodies: [[UInt8]] = []
    var endCount = 0
    var refusal: HTTPRefusal?
    var isInside = false

    init(_ pieces: [ArraySlice<UInt8>], _ limits: HTTPLimits) throws {
      var parser = HTTPRequestParser(limits: limits)
      for piece in pieces {
        parser.append(piece)
        do throws(HTTPRefusal) {
          while let event = try parser.next() { take(event) }
        } catch {
          refusal = error
          let again = Result { () throws(HTTPRefusal) in try parser.next() }
          try check(again == .failure(error), "a refusal that does not last")
          break
        }
      }
      isInside = refusal == nil && parser.isInsideRequest
      try check(heads.count - endCount == (isOpen ? 1 : 0), "requests that overlap")
      for (head, body) in zip(heads.prefix(endCount), bodies) {
        if case .length(let length) = head.framing {
          try check(body.count == length, "a body of another length")
        }
        try check(body.count <= limits.bodyBytes, "a body beyond the limit")
      }
    }

    private var isOpen: Bool { heads.count > endCount }

    private mutating func take(_ event: HTTPRequestParser.Event) {
      switch event {
      case .head(let head):
        heads.append(head)
        bodies.append([])
      case .body(let piece): bodies[bodies.count - 1] += piece
      case .end: endCount += 1
      }
    }
  }

  private static let policy = HostPolicy(port: 80, origins: ["http://a.test"])

  /// Looks at a head as the server does, and reads it once more from how it would be written.
  private static func examine(_ head: HTTPRequestHead) throws {
    if let path = ServicePath(head.path) {
      try check(ServicePath(path.text) == path, "a path of another meaning")
    }
    _ = try? ControlQuery(head.query, knowing: ["name", "count"])
    _ = policy.refusal(of: head)
    let answer = policy.preflight(head).bytes(closes: !head.keepsAlive)
    try check(
      answer.split(separator: 0x0A).allSatisfy { $0.last == 0x0D && !$0.dropLast().contains(0x0D) },
      "an answer with a line that the request put there")

    var text = "\(head.method) "
    if let authority = head.authority { text += "http://\(authority)" }
    if head.authority == nil || head.path != "*" { text += head.sentPath }
    if let query = head.query { text += "?\(query)" }
    text += " HTTP/1.\(head.minorVersion)\r\n"
    for field in head.fields { text += "\(field.name):\(field.value)\r\n" }
    // Invalid UTF-8 is longer when it is written again, and may exceed the limits.
    let again = try Reading([Array((text + "\r\n").utf8)[...]], HTTPLimits())
    try check(again.heads.first == head, "a head that reads differently when written again")
  }
}
