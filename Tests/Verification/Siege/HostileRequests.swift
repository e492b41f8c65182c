import Foundation
import WebServices

/// Makes hostile requests.
struct HostileRequests {
  /// One request, or what is sent for one.
  struct Request {
    /// What is hostile about it.
    var level: String
    var bytes: [UInt8]
    var isHead = false
    /// Whether it shows a token that lets in as alice.
    var isAlices = false
    /// Whether its end can be found, so that another may follow.
    var isFramed = true
  }

  let land: Land
  private var bodies: [Endpoint: JSON] = [:]
  private var texts: [Endpoint: [UInt8]] = [:]
  /// Texts from answers: tokens, tickets and markers that were good once.
  private(set) var learned: [String] = []

  init(_ land: Land) {
    self.land = land
    for endpoint in Endpoint.allCases {
      let body = ValidBodies.body(endpoint, alicesName: land.alicesName)
      bodies[endpoint] = body
      texts[endpoint] = body.bytes
    }
  }

  /// Keeps some of what an answer says.
  mutating func learn(_ body: ArraySlice<UInt8>, _ random: inout Randomness) {
    guard let json = try? JSON(parsing: Array(body)) else { return }
    for text in json.longTexts().prefix(8) {
      if learned.count < 64 {
        learned.append(text)
      } else {
        learned[random.below(learned.count)] = text
      }
    }
  }

  // MARK: Requests whose end can be found

  /// The levels of requests whose end can be found.
  static let levels = [
    "values", "JSON", "valid", "tokens", "paths", "tickets", "fields", "chunked",
  ]

  /// A request that is hostile in what it says; of one level, or of any.
  func framed(_ random: inout Randomness, level: String? = nil) -> Request {
    let shares = [30, 15, 15, 10, 10, 8, 6, 6]
    var left = random.below(100)
    var index = 0
    while left >= shares[index] {
      left -= shares[index]
      index += 1
    }
    switch level ?? HostileRequests.levels[index] {
    case "values":
      return request(&random, "values") { random, endpoint in
        var body = bodies[endpoint] ?? .null
        for _ in 0...random.below(3) { body = body.mutated(&random, learned: learned) }
        return body.bytes
      }
    case "JSON":
      return request(&random, "JSON") { random, endpoint in
        random.happens(40)
          ? random.pick(HostileValues.bodies) : random.damaged(texts[endpoint] ?? [])
      }
    case "tokens": return tokens(&random)
    case "paths": return paths(&random)
    case "tickets": return tickets(&random)
    case "fields": return fields(&random)
    case "chunked": return chunked(&random)
    default: return request(&random, "valid") { _, endpoint in texts[endpoint] ?? [] }
    }
  }

  /// Which endpoints alice's own token is used with: none that changes what she has.
  private static let reading: [Endpoint] = [
    .recordsLookup, .recordsQuery, .recordsChanges, .changesDatabase, .changesZone, .zonesList,
    .zonesLookup, .zonesChanges, .subscriptionsList, .subscriptionsLookup, .usersCaller,
    .usersCurrent, .usersDiscover, .usersLookupID, .usersLookupEmail, .usersLookupContacts,
  ]

  private func request(
    _ random: inout Randomness, _ level: String,
    body: (inout Randomness, Endpoint) -> [UInt8]
  ) -> Request {
    let isAlices = random.happens(8)
    let endpoint = random.pick(isAlices ? HostileRequests.reading : Endpoint.allCases)
    let web: String? = isAlices ? land.keys.alice : random.happens(90) ? land.keys.mallory : nil
    let isWriting = [Endpoint.recordsModify, .subscriptionsModify, .zonesModify].contains(endpoint)
    let database =
      isWriting && !random.happens(10) ? "private" : random.pick(["private", "public", "shared"])
    let content = body(&random, endpoint)
    return Request(
      level: level,
      bytes: post(target(endpoint, database, web: web), extras(&random), content),
      isAlices: isAlices)
  }

  private func target(_ endpoint: Endpoint, _ database: String, web: String?) -> String {
    endpoint.isOfDevice
      ? "/device/1/\(Land.container)/development/\(endpoint.rawValue)?ckAPIToken=\(land.keys.api)"
        + (web.map { "&ckWebAuthToken=\($0)" } ?? "")
      : land.target(endpoint.rawValue, database, web: web)
  }

  /// Fields of this package's own client, and others.
  private func extras(_ random: inout Randomness) -> String {
    var text = ""
    if random.happens(40) { text += "cloudsync: 1\r\n" }
    if random.happens(10) { text += "cloudsync-device: device-\(random.below(100_000))\r\n" }
    if random.happens(10) { text += "cloudsync-request: \(random.below(1000))\r\n" }
    if random.happens(3) { text += "cloudsync-user: \(land.alicesName)\r\n" }
    if random.happens(3) { text += "Expect: 100-continue\r\n" }
    return text
  }

  private func post(_ target: String, _ extras: String, _ body: [UInt8]) -> [UInt8] {
    let head =
      "POST \(target) HTTP/1.1\r\nHost: localhost:\(land.keys.port)\r\n\(extras)"
      + "Content-Length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }

  /// Tokens that are none, or another's, or for another thing.
  private func tokens(_ random: inout Randomness) -> Request {
    let endpoint = random.pick(Endpoint.allCases)
    let good = [land.keys.api, land.keys.mallory, land.keys.alice] + learned
    func token(_ random: inout Randomness) -> String {
      switch random.below(6) {
      case 0: ""
      case 1: escaped(random.pick(HostileValues.texts))
      case 2: escaped(String(decoding: random.bytes(random.below(100)), as: UTF8.self))
      case 3: String(repeating: "A", count: random.pick([1, 64, 1000, 4000, 5000]))
      default:
        escaped(String(decoding: random.damaged(Array(random.pick(good).utf8)), as: UTF8.self))
      }
    }
    var items = "ckAPIToken=\(random.happens(60) ? land.keys.api : token(&random))"
    if random.happens(80) {
      items += "&\(random.pick(["ckWebAuthToken", "ckSession"]))=\(token(&random))"
    }
    if random.happens(20) { items += "&" + random.pick(["ckAPIToken", "ckWebAuthToken"]) + "=x" }
    if random.happens(20) { items += "&&=&a&%41=%42&" }
    let path =
      endpoint.isOfDevice
      ? "/device/1/\(Land.container)/development/\(endpoint.rawValue)"
      : "/database/1/\(Land.container)/development/"
        + "\(random.pick(["private", "public", "shared"]))/\(endpoint.rawValue)"
    let method = random.pick(["GET", "POST", "POST", "HEAD"])
    // With a body the refusal would be the last answer of the connection.
    let body = random.happens(10) ? texts[endpoint] ?? [] : []
    return Request(
      level: "tokens", bytes: ask(method, path + "?" + items, body: body), isHead: method == "HEAD")
  }

  private func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  private func ask(_ method: String, _ target: String, body: [UInt8] = []) -> [UInt8] {
    let head =
      "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(land.keys.port)\r\n"
      + (body.isEmpty ? "" : "Content-Length: \(body.count)\r\n") + "\r\n"
    return Array(head.utf8) + body
  }

  /// Paths that lead nowhere.
  private func paths(_ random: inout Randomness) -> Request {
    let parts = [
      "", ".", "..", "%2e%2e", "%2E", "..%2f", "%00", "%c0%ae", "%c0%af", "%5c", "etc", "passwd",
      "database", "device", "1", "2", Land.container, "development", "production", "private",
      "public", "shared", "records", "lookup", "query", "modify", "users", "caller", "assets",
      "download", "upload", "courier", "console", "cloudsync", "status", "events",
      "faults", "sign-in", "index.html", "~", "...", ";a=b",
      String(repeating: "x", count: 300), String(repeating: "../", count: 40), "%ff%fe", "*",
    ]
    let count = random.below(10)
    var path = "/" + (0..<count).map { _ in random.pick(parts) }.joined(separator: "/")
    if random.happens(30) {
      path = land.target(random.pick(Endpoint.allCases).rawValue, web: nil)
        .replacing(random.pick(parts.dropFirst(4) + ["/"]), with: random.pick(parts))
    }
    if random.happens(40) {
      path +=
        (path.contains("?") ? "&" : "?") + "ckAPIToken=\(land.keys.api)"
        + "&ckWebAuthToken=\(land.keys.mallory)"
    }
    let method = random.pick([
      "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "X",
    ])
    return Request(
      level: "paths", bytes: ask(method, String(path.prefix(8000))), isHead: method == "HEAD")
  }

  /// Tickets that were damaged, or used with another method.
  private func tickets(_ random: inout Randomness) -> Request {
    let known = learned.filter { $0.contains("/assets/") || $0.contains("/courier/") }
      .compactMap { URL(string: $0)?.path }
    let path = random.pick(known + [land.filePath])
    // Whoever waits for a push would wait for long.
    let method =
      path.contains("/courier/")
      ? random.pick(["POST", "PUT", "DELETE"]) : random.pick(["GET", "POST", "PUT", "HEAD"])
    var target = path
    if random.happens(70) {
      let damaged = random.damaged(Array(path.utf8)).filter { byte in
        byte > 32 && byte < 127 && ![34, 35, 37, 60, 62, 92].contains(byte)
      }
      target = "/" + String(decoding: damaged, as: UTF8.self).drop { $0 == "/" }
    }
    if target.contains("/courier/"), method == "GET" { target += "x" }
    let body =
      ["POST", "PUT"].contains(method) && random.happens(50)
      ? [UInt8](repeating: UInt8(ascii: "m"), count: random.pick([1, 100, 2000])) : []
    return Request(
      level: "tickets", bytes: ask(method, target, body: body), isHead: method == "HEAD")
  }

  /// Fields of the header that mislead.
  private func fields(_ random: inout Randomness) -> Request {
    let port = land.keys.port
    let host = random.pick([
      "evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", "localhost:\(port)",
      "127.0.0.1:\(port)", "[::1]:\(port)", "127.1:\(port)", "0.0.0.0:\(port)",
      "localhost.:\(port)", "a@127.0.0.1:\(port)", "127.0.0.1:\(port):\(port)", "", "é",
      "localhost:0\(port)", "LOCALHOST:\(port)",
    ])
    var text = "Host: \(host)\r\n"
    for _ in 0..<random.below(4) {
      text += random.pick([
        "Origin: http://evil.example\r\n", "Origin: null\r\n", "Origin: http://allowed.example\r\n",
        "Origin: http://localhost:\(port)\r\n", "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: none\r\n", "Access-Control-Request-Method: POST\r\n",
        "X-Forwarded-Host: localhost\r\n", "Cookie: a=b\r\n", "Authorization: Bearer x\r\n",
        "Content-Type: \(String(repeating: "x", count: random.below(3000)))\r\n",
        "Range: bytes=0-1\r\n", "Upgrade: websocket\r\n", "Te: trailers\r\n",
        "X-Apple-CloudKit-Request-KeyID: \(land.keys.api)\r\n", "If-None-Match: *\r\n",
        "cloudsync-device: \(String(repeating: "d", count: random.below(600)))\r\n",
        "cloudsync-request: \(String(repeating: "r", count: random.below(600)))\r\n",
      ])
    }
    let target = land.target("zones/list", "private", web: land.keys.mallory)
    let method = random.pick(["GET", "POST", "OPTIONS", "HEAD"])
    return Request(
      level: "fields", bytes: Array("\(method) \(target) HTTP/1.1\r\n\(text)\r\n".utf8),
      isHead: method == "HEAD")
  }

  /// A body in many pieces.
  private func chunked(_ random: inout Randomness) -> Request {
    let endpoint = random.pick([Endpoint.recordsLookup, .zonesLookup, .usersLookupID])
    var body = texts[endpoint] ?? []
    if random.happens(50) { body = random.damaged(body) }
    var bytes = Array(
      ("POST \(land.target(endpoint.rawValue, web: land.keys.mallory)) HTTP/1.1\r\n"
        + "Host: localhost:\(land.keys.port)\r\nTransfer-Encoding: chunked\r\n\r\n").utf8)
    var rest = body[...]
    while !rest.isEmpty {
      let piece = rest.prefix(1 + random.below(40))
      rest = rest.dropFirst(piece.count)
      let size = String(repeating: "0", count: random.below(4)) + String(piece.count, radix: 16)
      bytes += Array((size + random.pick(["", "", ";a=b", ";"]) + "\r\n").utf8) + piece + [13, 10]
    }
    bytes += Array("0\r\n\(random.pick(["", "Trailer: x\r\n"]))\r\n".utf8)
    return Request(level: "chunked", bytes: bytes)
  }
}
