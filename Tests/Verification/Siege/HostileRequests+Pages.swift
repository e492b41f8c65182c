import CommandLineKit
import Foundation
import SimulationSupport
import WebServices

/// Requests to the pages, the control interface and the sign-in, and requests with signatures.
extension HostileRequests {
  /// A sign-in with a ticket of the server, or with a damaged one; never one as alice.
  func signIn(_ random: inout SeededRandom) -> Request {
    let tickets = values.learned.compactMap { text in
      URLComponents(string: text)?.queryItems?.first { $0.name == "ticket" }?.value
    }
    var ticket = tickets.isEmpty ? texts.pick(texts.texts, &random) : random.pick(tickets)
    if random.happens(30) { ticket = random.damaged(ticket) }
    var members = JSON.Members([.init(name: "ticket", value: .string(ticket))])
    if random.happens(60) { members.add("account", .string("mallory")) }
    if random.happens(40) {
      let callback = random.pick([
        "http://allowed.example/back", "http://allowed.example@evil.example/",
        "http://evil.example#http://allowed.example", "//allowed.example", "javascript:alert(1)",
        "http://allowed.example:80/?ckWebAuthToken=x",
      ])
      members.add("callback", .string(random.happens(30) ? random.damaged(callback) : callback))
    }
    var body = JSON.object(members)
    if random.happens(40) { body = values.mutated(body, &random) }
    let bytes = random.happens(10) ? random.damaged(body.bytes) : body.bytes
    let method = random.pick(["POST", "POST", "POST", "GET", "HEAD", "PUT"])
    let query = random.happens(30) ? "?ticket=\(Self.escaped(ticket))" : ""
    return Request(
      level: "",
      bytes: access.request(
        method, "/sign-in" + query, body: ["GET", "HEAD"].contains(method) ? [] : bytes))
  }

  /// A request to the control interface or a page without the control token.
  func control(_ random: inout SeededRandom) -> Request {
    let path = random.pick([
      "/", "/console", "/healthz", "/readyz", "/metrics", "/cloudsync/1/status",
      "/cloudsync/1/accounts", "/cloudsync/1/records", "/cloudsync/1/events",
      "/cloudsync/1/faults", "/cloudsync/1/keys", "/cloudsync/1/export", "/cloudsync/1/import",
      "/cloudsync/1/reset", "/cloudsync/1/stop", "/cloudsync/1/sign-in",
    ])
    let tokens = [access.api, access.mallory] + values.learned
    let token = random.happens(50) ? random.damaged(random.pick(tokens)) : random.pick(tokens)
    let line = "Authorization: Bearer \(token.filter { $0.isASCII && !$0.isNewline })\r\n"
    let body = random.happens(30) ? values.value(&random).bytes : []
    return Request(
      level: "",
      bytes: access.request(
        random.pick(["GET", "POST", "HEAD", "PUT"]), path, fields: random.happens(70) ? line : "",
        body: body))
  }

  /// A request with a wrong signature of the key that the server knows, or of another key.
  func signed(_ random: inout SeededRandom) -> Request {
    let endpoint = random.pick([
      "records/query", "records/lookup", "records/modify", "users/caller",
    ])
    var id = random.happens(80) ? access.keyID : String(repeating: "0", count: 64)
    var date = Date(timeIntervalSinceNow: Double(random.below(1400)) - 700)
      .formatted(.iso8601)
    // The bytes of a signature in DER: a sequence of two whole numbers.
    func number(_ random: inout SeededRandom) -> [UInt8] {
      let bytes = [0] + random.bytes(random.pick([1, 31, 32, 32, 32, 33]))
      return [2, UInt8(bytes.count)] + bytes
    }
    let numbers = number(&random) + number(&random)
    var signature = Notation.base64([0x30, UInt8(numbers.count)] + numbers)
    if random.happens(15) { id = random.damaged(id) }
    if random.happens(15) { date = random.damaged(date) }
    if random.happens(30) { signature = random.damaged(signature) }
    let names = ["KeyID": id, "ISO8601Date": date, "SignatureV1": signature]
    var lines = ""
    for (name, value) in names.sorted(by: { $0.key < $1.key }) where !random.happens(3) {
      let line = value.filter { $0.isASCII && !$0.isNewline && $0 != "\0" }
      for _ in 0...(random.happens(3) ? 1 : 0) {
        lines += "X-Apple-CloudKit-Request-\(name): \(line)\r\n"
      }
    }
    let path =
      "/database/1/\(Access.container)/development/"
      + "\(random.pick(["public", "public", "public", "private"]))/\(endpoint)"
    return Request(
      level: "",
      bytes: access.request("POST", path, fields: lines, body: values.value(&random).bytes))
  }
}
