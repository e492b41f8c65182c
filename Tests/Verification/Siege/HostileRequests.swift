import CommandLineKit
import Foundation
import SimulationSupport
import WebServices

/// Makes hostile requests.
struct HostileRequests {
  /// The bytes of one request, or of something that is sent like one.
  struct Request {
    /// The level of the request, such as `values`.
    var level: String
    var bytes: [UInt8]
    var isHead = false
    /// Whether it has a token that admits it as alice.
    var isAlices = false
    /// Whether its end can be found, so that another may follow.
    var isFramed = true

    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  let access: Access
  let texts: HostileTexts
  /// A valid body for each endpoint.
  private let bodies: [Endpoint: JSON]
  private(set) var values: HostileValues

  init(_ access: Access) throws {
    self.access = access
    texts = try JSONDecoder().decode(
      HostileTexts.self, from: Data(PackageResources.HostileTexts_json))
    values = HostileValues(texts: texts)
    let valid = String(decoding: PackageResources.ValidBodies_json, as: UTF8.self)
      .replacing("ALICE", with: access.alicesName)
    let json = try JSON(parsing: Array(valid.utf8))
    bodies = Dictionary(
      uniqueKeysWithValues: Endpoint.allCases.map { ($0, json[$0.rawValue] ?? .null) })
    if let missing = Endpoint.allCases.first(where: { bodies[$0] == .null }) {
      throw ToolError("no valid body of \(missing.rawValue)")
    }
  }

  /// Stores some texts of a response: tokens, tickets and markers that were valid once.
  mutating func learn(_ body: ArraySlice<UInt8>, _ random: inout SeededRandom) {
    guard let json = try? JSON(parsing: Array(body)) else { return }
    for text in json.longTexts().prefix(8) {
      if values.learned.count < 64 {
        values.learned.append(text)
      } else {
        values.learned[random.below(values.learned.count)] = text
      }
    }
  }

  // MARK: Requests whose end can be found

  private typealias Maker = @Sendable (HostileRequests, inout SeededRandom) -> Request

  /// The kinds of requests whose end can be found, with their shares in percent.
  private static let makers: [(level: String, share: Int, make: Maker)] = [
    ("values", 26, { $0.endpoint(&$1) { $0.mutatedBody($1, &$2) } }),
    ("JSON", 15, { $0.endpoint(&$1) { $0.damagedBody($1, &$2) } }),
    ("valid", 13, { $0.endpoint(&$1) { requests, endpoint, _ in requests.body(endpoint) } }),
    ("tokens", 9, { $0.tokens(&$1) }), ("paths", 9, { $0.paths(&$1) }),
    ("tickets", 7, { $0.tickets(&$1) }), ("fields", 5, { $0.fields(&$1) }),
    ("chunked", 5, { $0.chunked(&$1) }), ("sign-in", 4, { $0.signIn(&$1) }),
    ("control", 3, { $0.control(&$1) }), ("signed", 4, { $0.signed(&$1) }),
  ]

  /// The names of the kinds.
  static var levels: [String] { makers.map(\.level) }

  /// A request with hostile content; of one level, or of any.
  func framed(_ random: inout SeededRandom, level: String? = nil) -> Request {
    var left = random.below(100)
    let drawn = Self.makers.first { maker in
      left -= maker.share
      return left < 0
    }
    let maker = Self.makers.first { $0.level == level } ?? drawn ?? Self.makers[0]
    var request = maker.make(self, &random)
    request.level = maker.level
    request.isHead = request.bytes.starts(with: "HEAD ".utf8)
    return request
  }

  private func body(_ endpoint: Endpoint) -> [UInt8] { bodies[endpoint]?.bytes ?? [] }

  private func mutatedBody(_ endpoint: Endpoint, _ random: inout SeededRandom) -> [UInt8] {
    var body = bodies[endpoint] ?? .null
    for _ in 0...random.below(3) { body = values.mutated(body, &random) }
    return body.bytes
  }

  private func damagedBody(_ endpoint: Endpoint, _ random: inout SeededRandom) -> [UInt8] {
    random.happens(40) ? texts.body(&random) : random.damaged(body(endpoint))
  }

  /// The endpoints that alice's own token is used with: none that changes her data.
  private static let reading: [Endpoint] = [
    .recordsLookup, .recordsQuery, .recordsChanges, .changesDatabase, .changesZone, .zonesList,
    .zonesLookup, .zonesChanges, .subscriptionsList, .subscriptionsLookup, .usersCaller,
    .usersCurrent, .usersDiscover, .usersLookupID, .usersLookupEmail, .usersLookupContacts,
  ]

  /// A request to any endpoint.
  private func endpoint(
    _ random: inout SeededRandom,
    body: (HostileRequests, Endpoint, inout SeededRandom) -> [UInt8]
  ) -> Request {
    let isAlices = random.happens(8)
    let endpoint = random.pick(isAlices ? Self.reading : Endpoint.allCases)
    let web: String? = isAlices ? access.alice : random.happens(90) ? access.mallory : nil
    let isWriting = [Endpoint.recordsModify, .subscriptionsModify, .zonesModify].contains(endpoint)
    let database =
      isWriting && !random.happens(10) ? "private" : random.pick(["private", "public", "shared"])
    let content = body(self, endpoint, &random)
    var target = access.target(endpoint.rawValue, database, web: web)
    if endpoint.isOfDevice {
      target = target.replacing("/database/1/", with: "/device/1/")
        .replacing("/development/\(database)/", with: "/development/")
    }
    return Request(
      level: "",
      bytes: access.request(
        "POST", target,
        fields: clientFields(&random) + (content.isEmpty ? "Content-Length: 0\r\n" : ""),
        body: content), isAlices: isAlices)
  }

  /// Fields of this package's own client, and others.
  private func clientFields(_ random: inout SeededRandom) -> String {
    let fields = [
      (40, "cloudsync: 1"), (10, "cloudsync-device: device-\(random.below(100_000))"),
      (10, "cloudsync-request: \(random.below(1000))"),
      (3, "cloudsync-user: \(access.alicesName)"), (3, "Expect: 100-continue"),
    ]
    return fields.reduce(into: "") { if random.happens($1.0) { $0 += $1.1 + "\r\n" } }
  }

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// Invalid tokens, tokens of others, and tokens for something else.
  private func tokens(_ random: inout SeededRandom) -> Request {
    let endpoint = random.pick(Endpoint.allCases)
    let good = [access.api, access.mallory, access.alice] + values.learned
    func token(_ random: inout SeededRandom) -> String {
      switch random.below(6) {
      case 0: ""
      case 1: Self.escaped(texts.pick(texts.texts, &random))
      case 2: Self.escaped(String(decoding: random.bytes(random.below(100)), as: UTF8.self))
      case 3: String(repeating: "A", count: random.pick([1, 64, 1000, 4000, 5000]))
      default: Self.escaped(random.damaged(random.pick(good)))
      }
    }
    var items = "ckAPIToken=\(random.happens(60) ? access.api : token(&random))"
    if random.happens(80) {
      items += "&\(random.pick(["ckWebAuthToken", "ckSession"]))=\(token(&random))"
    }
    if random.happens(20) { items += "&" + random.pick(["ckAPIToken", "ckWebAuthToken"]) + "=x" }
    if random.happens(20) { items += "&&=&a&%41=%42&" }
    let database = random.pick(["private/", "public/", "shared/"])
    let path =
      "/\(endpoint.isOfDevice ? "device" : "database")/1/\(Access.container)/development/"
      + "\(endpoint.isOfDevice ? "" : database)\(endpoint.rawValue)"
    // With a body the refusal would be the last response of the connection.
    let content = random.happens(10) ? body(endpoint) : []
    let method = random.pick(["GET", "POST", "POST", "HEAD"])
    return Request(level: "", bytes: access.request(method, path + "?" + items, body: content))
  }

  /// Paths that do not exist.
  private func paths(_ random: inout SeededRandom) -> Request {
    func part(_ random: inout SeededRandom) -> String {
      texts.pick(texts.pathParts, &random).replacing("CONTAINER", with: Access.container)
    }
    var path = "/" + (0..<random.below(10)).map { _ in part(&random) }.joined(separator: "/")
    if random.happens(30) {
      let known = part(&random)
      path = access.target(random.pick(Endpoint.allCases).rawValue, web: nil)
        .replacing(known.contains { $0 != "." } ? known : "/", with: part(&random))
    }
    if random.happens(40) {
      path +=
        (path.contains("?") ? "&" : "?") + "ckAPIToken=\(access.api)"
        + "&ckWebAuthToken=\(access.mallory)"
    }
    let method = texts.pick(texts.methods, &random)
    return Request(level: "", bytes: access.request(method, String(path.prefix(8000))))
  }

  /// Tickets that were damaged, or used with another method.
  private func tickets(_ random: inout SeededRandom) -> Request {
    let known = values.learned.filter { $0.contains("/assets/") || $0.contains("/courier/") }
      .compactMap { URL(string: $0)?.path }
    let path = random.pick(known + [access.filePath])
    // A request that waits for a push would wait for long.
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
    return Request(level: "", bytes: access.request(method, target, body: body))
  }

  /// Fields of the header that mislead.
  private func fields(_ random: inout SeededRandom) -> Request {
    var lines = ["Host: " + texts.pick(texts.hosts, &random)]
    for _ in 0..<random.below(4) { lines.append(texts.pick(texts.fields, &random)) }
    let text = lines.joined(separator: "\r\n").replacing("PORT", with: "\(access.port)")
      .replacing("API", with: access.api)
    let target = access.target("zones/list", web: access.mallory)
    let method = random.pick(["GET", "POST", "OPTIONS", "HEAD"])
    return Request(
      level: "", bytes: Array("\(method) \(target) HTTP/1.1\r\n\(text)\r\n\r\n".utf8))
  }

  /// A body in many chunks.
  private func chunked(_ random: inout SeededRandom) -> Request {
    let endpoint = random.pick([Endpoint.recordsLookup, .zonesLookup, .usersLookupID])
    var rest = (random.happens(50) ? random.damaged(body(endpoint)) : body(endpoint))[...]
    var bytes = access.request(
      "POST", access.target(endpoint.rawValue, web: access.mallory),
      fields: "Transfer-Encoding: chunked\r\n")
    while !rest.isEmpty {
      let piece = rest.prefix(1 + random.below(40))
      rest = rest.dropFirst(piece.count)
      let size = String(repeating: "0", count: random.below(4)) + String(piece.count, radix: 16)
      bytes += Array((size + random.pick(["", "", ";a=b", ";"]) + "\r\n").utf8) + piece + [13, 10]
    }
    bytes += Array("0\r\n\(random.pick(["", "Trailer: x\r\n"]))\r\n".utf8)
    return Request(level: "", bytes: bytes)
  }
}
