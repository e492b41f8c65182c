/// Asks servers on this machine by plain HTTP, without all that lies between `URLSession` and a
/// socket.
///
/// Each connection belongs to a thread of its own that writes a request, waits for the answer, and
/// waits a while for the next request; there are as many as there are requests at once, up to a
/// limit, beyond which requests wait. A request that is given up ends at once, and its connection
/// with it, so that the server hears of it.
final class LoopbackClient: Sendable {
  private let office: LoopbackOffice

  /// A client with `mostConnections` at once that lets a server be silent for `patience`
  /// milliseconds.
  init(mostConnections: Int = 16, patience: Int32 = 60_000, idleSeconds: Double = 20) {
    office = LoopbackOffice(
      mostConnections: mostConnections, patience: patience, idleSeconds: idleSeconds)
  }

  deinit { office.close() }

  /// The answer to a question to `address`; a task that is cancelled gives it up.
  ///
  /// - Throws: an `URLError`, as `URLSession` does, or `CancellationError`.
  func answer(
    _ question: HTTPQuestion, at address: LoopbackAddress, _ target: String
  ) async throws -> HTTPAnswer {
    let flight = Flight<HTTPAnswer>()
    office.take(
      LoopbackErrand(
        address: address, bytes: LoopbackClient.bytes(of: question, address, target),
        flight: flight))
    return try await flight.outcome().get()
  }

  /// Lets connections that wait for work go; others end with the request that they carry.
  func close() { office.close() }

  private static func bytes(
    of question: HTTPQuestion, _ address: LoopbackAddress, _ target: String
  ) -> [UInt8] {
    var head = question.body == nil ? "GET " : "POST "
    head += target
    head += " HTTP/1.1\r\nhost: "
    head += address.name
    head += "\r\naccept: */*\r\n"
    for field in question.fields { head += "\(field.name): \(field.value)\r\n" }
    if let body = question.body { head += "content-length: \(body.count)\r\n" }
    head += "\r\n"
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.utf8.count + (question.body?.count ?? 0))
    bytes += head.utf8
    if let body = question.body { bytes += body }
    return bytes
  }
}

/// A request on its way to a server of this machine.
struct LoopbackErrand: Sendable {
  let address: LoopbackAddress
  /// The request, whole.
  let bytes: [UInt8]
  let flight: Flight<HTTPAnswer>
}
