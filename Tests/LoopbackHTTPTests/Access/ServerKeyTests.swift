import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing
import VerificationSupport
import WebServices

@testable import LoopbackHTTP

/// Requests that a program on another server signs.
@Suite("Server-to-server keys")
struct ServerKeyTests {
  /// A key pair, and the signatures of a program that has it.
  private final class Program: Sendable {
    private let secret: UInt256
    let key: PublicKey
    private let nonces: Mutex<SeededGenerator>

    init(_ secret: UInt64) throws {
      self.secret = UInt256(0, 0, 0, secret)
      nonces = Mutex(SeededGenerator(seed: secret))
      let (x, y) = try Self.affine(Self.multiple(self.secret))
      key = try #require(PublicKey(bytes: [4] + Self.bytes(x) + Self.bytes(y)))
    }

    var pem: String {
      let head = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
      let bytes = stride(from: 0, to: head.utf8.count, by: 2).compactMap { start in
        UInt8(head.dropFirst(start).prefix(2), radix: 16)
      }
      return "-----BEGIN PUBLIC KEY-----\n" + Data(bytes + key.bytes).base64EncodedString()
        + "\n-----END PUBLIC KEY-----\n"
    }

    private static let base: P256.Point? = P256.Point(
      affine: SignatureTests.number(SignatureTests.vectors[2].1),
      SignatureTests.number(SignatureTests.vectors[2].2))

    private static func multiple(_ number: UInt256) throws -> P256.Point {
      var point = P256.Point.infinity
      let base = try #require(base)
      for bit in (0..<256).reversed() {
        point = point.doubled
        if number.hasBit(bit) { point = point + base }
      }
      return point
    }

    private static func affine(_ point: P256.Point) throws -> (UInt256, UInt256) {
      let field = P256.field
      let inverse = field.invert(point.z)
      let cube = field.multiply(inverse, field.multiply(inverse, inverse))
      return (try #require(point.abscissa), field.number(field.multiply(point.y, cube)))
    }

    private static func bytes(_ number: UInt256) -> [UInt8] {
      (0..<32).map {
        UInt8(truncatingIfNeeded: number.words[3 - $0 / 8] >> UInt64(56 - $0 % 8 * 8))
      }
    }

    static func integer(_ number: UInt256) -> [UInt8] {
      let digits = Array(bytes(number).drop { $0 == 0 })
      let positive = (digits.first ?? 0) >= 0x80 ? [0] + digits : digits
      return [2, UInt8(positive.count)] + positive
    }

    /// The signature of a message, another one each time.
    private func signature(of message: String) throws -> String {
      let nonce = nonces.withLock { $0.next() }
      let order = P256.scalars
      var hash = SHA256()
      hash.update(message.utf8)
      let digest = try #require(UInt256(bytes: hash.digest()))
      let r = try #require(try Self.multiple(UInt256(0, 0, 0, nonce)).abscissa)
      let product = order.number(order.multiply(order.form(r), order.form(secret)))
      let reduced =
        digest < order.modulus ? digest : digest.subtracting(order.modulus).difference
      let inverse = order.invert(order.form(UInt256(0, 0, 0, nonce)))
      let s = order.multiply(order.add(reduced, product), inverse)
      let content = Self.integer(r) + Self.integer(s)
      return Data([0x30, UInt8(content.count)] + content).base64EncodedString()
    }

    /// The header fields of a request; `hash` in place of that of the body.
    func fields(
      _ target: String, _ body: String, at date: String, hash other: String? = nil
    ) throws -> [String] {
      var hash = SHA256()
      hash.update(body.utf8)
      let text = other ?? Data(hash.digest()).base64EncodedString()
      let message = "\(date):\(text):\(target)"
      return [
        "X-Apple-CloudKit-Request-KeyID: \(key.id)",
        "X-Apple-CloudKit-Request-ISO8601Date: \(date)",
        "X-Apple-CloudKit-Request-SignatureV1: \(try signature(of: message))",
      ]
    }
  }

  /// The time of the world's clock at its start.
  private static let start = "2001-01-12T13:46:40Z"

  private func date(_ seconds: Double) -> String {
    Date(timeIntervalSinceReferenceDate: 1_000_000 + seconds).formatted(.iso8601)
  }

  private func keys(_ world: AccessWorld, _ method: String, _ body: [String: String]? = nil)
    async throws -> TestClient.Answer
  {
    try await world.ask(
      method, "/cloudsync/1/keys",
      fields: [
        "Authorization: Bearer \(world.web.controlToken)", "Content-Type: application/json",
      ], body: try body.map { Array(try JSONEncoder().encode($0)) })
  }

  private static let create =
    #"{"operations":[{"operationType":"create","record":{"recordName":"a","recordType":"Note"}}]}"#

  /// Proves WS-12, X10.
  @Test("A program with a key saves, finds and reads public records, as a user of its own")
  func signedRequestsUsePublicDatabase() async throws {
    try await AccessWorld.run { world in
      let program = try Program(0x1234_5678_9ABC_DEF1)
      let added = try await keys(world, "POST", ["publicKey": program.pem, "name": "importer"])
      #expect(added.status == 200 && added.text.contains(program.key.id), "\(added.text)")
      for (endpoint, body, part) in [
        (Endpoint.recordsModify, Self.create, #""recordName":"a""#),
        (.recordsLookup, #"{"records":[{"recordName":"a"}]}"#, #""recordType":"Note""#),
        (.recordsQuery, #"{"query":{"recordType":"Note"}}"#, #""recordName":"a""#),
        (.usersCaller, "", "userRecordName"),
      ] {
        let target = world.path(endpoint, .public) + "?remapEnums=true"
        let answer = try await world.ask(
          "POST", target, fields: try program.fields(target, body, at: Self.start),
          body: Array(body.utf8))
        #expect(answer.status == 200 && answer.text.contains(part), "\(endpoint) \(answer.text)")
        // It has no web token, so it gets none.
        #expect(answer.values("x-apple-cloudkit-web-auth-token").isEmpty)
      }
      let list = try await keys(world, "GET")
      #expect(list.text.contains(#""name":"importer""#), "\(list.text)")
      #expect(try await keys(world, "POST", ["remove": program.key.id]).text.contains("[]"))
      let path = world.path(.recordsQuery, .public)
      let gone = try await world.ask(
        "POST", path, fields: try program.fields(path, "{}", at: Self.start), body: Array("{}".utf8)
      )
      #expect(gone.status == 401 && gone.code == "AUTHENTICATION_FAILED")
      #expect(try await keys(world, "POST", ["remove": program.key.id]).status == 404)
      // The key that is added again is the same user.
      _ = try await keys(world, "POST", ["publicKey": program.pem])
      #expect(try world.server.accounts().count == 2)
    }
  }

  @Test("A key's account is no account of a person: it is not listed, and no token is given for it")
  func accountsOfKeysAreNoPeople() async throws {
    try await AccessWorld.run(options: { $0.allowsFaultControl = true }) { world in
      let program = try Program(79)
      let added = try await keys(world, "POST", ["publicKey": program.pem, "name": "importer"])
      let path = world.path(.recordsModify, .public)
      let saved = try await world.ask(
        "POST", path, fields: try program.fields(path, Self.create, at: Self.start),
        body: Array(Self.create.utf8))
      #expect(saved.status == 200, "\(saved.text)")
      func ask(_ path: String, _ body: String? = nil) async throws -> TestClient.Answer {
        try await world.ask(
          body == nil ? "GET" : "POST", "/cloudsync/1/\(path)",
          fields: [
            "Authorization: Bearer \(world.web.controlToken)", "Content-Type: application/json",
          ], body: body.map { Array($0.utf8) })
      }
      #expect(try await !ask("accounts").text.contains("server-key-"))
      #expect(try await ask("status").text.contains(#""accounts":1"#))
      // The key's user record name is that of the creator.
      let key = try JSON(parsing: added.body)["keys"]?.array?.first
      let user = try #require(key?["userRecordName"]?.string)
      #expect(saved.text.contains(#""userRecordName":"\#(user)""#))
      for account in ["server-key-evil", "server-key-\(program.key.id)"] {
        for (path, body) in [
          ("sign-in", #"{"account":"\#(account)"}"#),
          ("faults", #"{"action":"person","account":"\#(account)","email":"e@example.com"}"#),
          ("faults", #"{"action":"quota","account":"\#(account)","bytes":1}"#),
        ] {
          let answer = try await ask(path, body)
          #expect([400, 404].contains(answer.status), "\(path) \(account): \(answer.text)")
        }
        #expect(throws: CloudError.self) { try world.web.webAuthToken(for: account) }
      }
      #expect(try world.server.accounts().count == 2)
    }
  }

  /// Proves WS-12.
  @Test("Every wrong date, signature, key, body and path is refused with 401, and a replay too")
  func wrongSignaturesAreRefused() async throws {
    try await AccessWorld.run { world in
      let (program, stranger) = (try Program(77), try Program(78))
      _ = try await keys(world, "POST", ["publicKey": program.pem])
      let path = world.path(.recordsQuery, .public)
      let body = #"{"query":{"recordType":"Note"}}"#
      func ask(
        _ fields: [String], path: String = path, body: String = body
      ) async throws -> TestClient.Answer {
        try await world.ask("POST", path, fields: fields, body: Array(body.utf8))
      }
      let good = try program.fields(path, body, at: Self.start)
      #expect(try await ask(good).status == 200)
      var refused: [(String, TestClient.Answer)] = [("a replay", try await ask(good))]
      refused.append(("another body", try await ask(good, body: "{}")))
      refused.append(
        ("another path", try await ask(good, path: world.path(.recordsLookup, .public))))
      for seconds in [-601.0, 601] {
        let fields = try program.fields(path, body, at: date(seconds))
        refused.append(("a time \(seconds)", try await ask(fields)))
      }
      for text in ["", "x", "2001-01-12", "978307200"] {
        let fields = try program.fields(path, body, at: text)
        refused.append(("the date \(text)", try await ask(fields)))
      }
      refused.append(
        ("a stranger", try await ask(try stranger.fields(path, body, at: Self.start))))
      let foreign = try stranger.fields(path, body, at: Self.start)
      refused.append(("a stranger's signature", try await ask([good[0], good[1], foreign[2]])))
      for number in good.indices {
        var fields = good
        fields.remove(at: number)
        refused.append(("without \(good[number])", try await ask(fields)))
        refused.append(("twice \(good[number])", try await ask(good + [good[number]])))
        fields = try program.fields(path, body, at: Self.start)
        fields[number] += "A"
        refused.append(("a longer \(good[number])", try await ask(fields)))
      }
      // The signature with the other s is a replay, too.
      let order = P256.scalars.modulus
      let der = Data(base64Encoded: String(good[2].drop { $0 != " " }.dropFirst())) ?? Data()
      let signature = try #require(Signature(der: [UInt8](der)))
      let other = order.subtracting(signature.s).difference
      let content = Program.integer(signature.r) + Program.integer(other)
      let flipped = Data([0x30, UInt8(content.count)] + content).base64EncodedString()
      refused.append(
        (
          "the other s",
          try await ask([good[0], good[1], "X-Apple-CloudKit-Request-SignatureV1: \(flipped)"])
        ))
      for (name, answer) in refused {
        if name.hasPrefix("without X-Apple-CloudKit-Request-KeyID") {
          #expect(answer.status == 401, "an API token is missing")
          continue
        }
        #expect(answer.status == 401, "\(name): \(answer.status) \(answer.text)")
        #expect(answer.code == "AUTHENTICATION_FAILED", "\(name)")
        #expect(!answer.whole.contains(AccessWorld.mark), "\(name)")
      }
      for seconds in [-600.0, 600] {
        #expect(try await ask(try program.fields(path, body, at: date(seconds))).status == 200)
      }
      #expect(try await ask(try program.fields(path, body, at: Self.start)).status == 200)
    }
  }

  /// Proves WS-12.
  @Test("Without a known key a request is refused by its head, before its body")
  func unknownKeyIsRefusedBeforeTheBody() async throws {
    try await AccessWorld.run(origins: ["http://allowed.example"]) { world in
      let program = try Program(77)
      let path = world.path(.recordsModify, .public)
      func ask() async throws -> TestClient.Answer {
        let signature = try program.fields(path, "", at: Self.start)
        let lines =
          ["POST \(path) HTTP/1.1", "Host: 127.0.0.1:\(world.web.port)"] + signature + [
            "Origin: http://allowed.example", "Content-Length: \(20 << 20)",
            "Expect: 100-continue", "", "",
          ]
        return try await world.send(lines.joined(separator: "\r\n"), [], "POST")
      }
      let refused = try await ask()
      #expect(refused.status == 401 && refused.code == "AUTHENTICATION_FAILED", "\(refused)")
      #expect(refused.values("access-control-allow-origin") == ["http://allowed.example"])
      _ = try await keys(world, "POST", ["publicKey": program.pem])
      #expect(try await ask().status == 100)
    }
  }

  /// Proves WS-12.
  @Test("What is signed is the path with the query as it is sent, and an empty body in both forms")
  func signaturesCoverQueryAndEmptyBody() async throws {
    try await AccessWorld.run { world in
      let program = try Program(77)
      _ = try await keys(world, "POST", ["publicKey": program.pem])
      let body = #"{"query":{"recordType":"Note"}}"#
      let (query, caller) = (world.path(.recordsQuery, .public), world.path(.usersCaller, .public))
      let escaped = query.replacing("iCloud.", with: "i%43loud%2e")
      let script = "?ckjsBuildVersion=1902&ckjsVersion=2.6.1"
      let rows: [(sent: String, signed: String, body: String, hash: String?, status: Int)] = [
        (query + script, query + script, body, nil, 200), (query, query, body, nil, 200),
        (query + "?", query + "?", body, nil, 200), (query + script, query, body, nil, 401),
        (query, query + script, body, nil, 401), (query + "?a=1", query + "?a=2", body, nil, 401),
        (query + "?a=%7E", query + "?a=~", body, nil, 401), (query, query, body, "", 401),
        (escaped, escaped, body, nil, 200), (escaped, query, body, nil, 401),
        (query, escaped, body, nil, 401), (world.web.url + escaped, escaped, body, nil, 200),
        (caller, caller, "", nil, 200), (caller, caller, "", "", 200),
        (caller + script, caller + script, "", "", 200), (caller, caller, "{}", "", 401),
      ]
      for row in rows {
        let fields = try program.fields(row.signed, row.body, at: Self.start, hash: row.hash)
        let answer = try await world.ask(
          "POST", row.sent, fields: fields, body: Array(row.body.utf8))
        #expect(answer.status == row.status, "\(row): \(answer.text)")
      }
    }
  }

  /// Proves WS-12.
  @Test("A key finds no people, joins no share, has no token besides, and nobody gets its content")
  func keysAreNoPeople() async throws {
    try await AccessWorld.run { world in
      let program = try Program(77)
      let added = try await keys(world, "POST", ["publicKey": program.pem, "name": "importer"])
      for endpoint in [
        Endpoint.usersDiscover, .usersLookupEmail, .usersLookupID, .usersLookupContacts,
        .recordsResolve, .recordsAccept,
      ] {
        let path = world.path(endpoint, .public)
        let body = #"{"users":[],"lookupInfos":[],"shortGUIDs":[]}"#
        let answer = try await world.ask(
          "POST", path, fields: try program.fields(path, body, at: Self.start),
          body: Array(body.utf8))
        #expect(answer.status == 401 && answer.code == "AUTHENTICATION_FAILED", "\(endpoint)")
      }
      for token in ["ckAPIToken=\(world.web.apiToken())", "ckWebAuthToken=x", "ckSession="] {
        let target = world.path(.usersCaller, .public) + "?" + token
        let answer = try await world.ask(
          "POST", target, fields: try program.fields(target, "", at: Self.start), body: [])
        #expect(answer.status == 401 && answer.code == "AUTHENTICATION_FAILED", "\(token)")
      }
      let user = try JSON(parsing: added.body)["keys"]?.array?.first?["userRecordName"]?.string
      let name = #""userRecordName":"\#(try #require(user))""#
      for (endpoint, list) in [(Endpoint.usersLookupID, "users"), (.usersDiscover, "lookupInfos")] {
        let found = try await world.post(
          endpoint, .public, query: try world.query("bob"), #"{"\#(list)":[{\#(name)}]}"#)
        #expect(found.text.contains(#""nameComponents":{"givenName":"importer"}"#), "\(found.text)")
      }
    }
  }

  /// Proves WS-12.
  @Test("A key is for the public database alone, and not for the tokens of devices")
  func keysAreForPublicDatabaseAlone() async throws {
    try await AccessWorld.run { world in
      let program = try Program(77)
      _ = try await keys(world, "POST", ["publicKey": program.pem])
      let paths =
        [DatabaseScope.private, .shared].map { world.path(.recordsQuery, $0) }
        + [world.path(.tokensCreate), world.path(.recordsModify, .private)]
      for path in paths {
        let answer = try await world.ask(
          "POST", path, fields: try program.fields(path, "{}", at: Self.start),
          body: Array("{}".utf8))
        #expect(answer.status == 401 && answer.code == "AUTHENTICATION_FAILED", "\(path)")
        #expect(!answer.whole.contains(AccessWorld.mark))
      }
    }
  }

  @Test("A full memory of signatures refuses others, until their time is over")
  func fullMemoryRefusesOthers() throws {
    let accepted = AcceptedSignatures(most: 2)
    try accepted.add("a", until: 10, now: 0)
    try accepted.add("b", until: 20, now: 0)
    let repeated = #expect(throws: CloudError.self) { try accepted.add("a", until: 10, now: 0) }
    let full = #expect(throws: CloudError.self) { try accepted.add("c", until: 30, now: 10) }
    #expect(repeated?.message != full?.message)
    try accepted.add("c", until: 30, now: 11)
    #expect(throws: CloudError.self) { try accepted.add("b", until: 20, now: 11) }
  }

  @Test("Keys are kept in the server's file and in archives, and no private key is accepted")
  func keysOutliveServer() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("keys-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("server.sqlite").path
    let program = try Program(99)
    try await AccessWorld.run(path: path) { world in
      #expect(try await keys(world, "POST", ["publicKey": program.pem, "name": "n"]).status == 200)
      for pem in [
        "", "x", program.pem.replacing("PUBLIC", with: "PRIVATE"),
        program.pem.replacing("M", with: "N"),
        program.pem.replacing("BEGIN PUBLIC KEY", with: "END PUBLIC KEY"),
      ] {
        #expect(try await keys(world, "POST", ["publicKey": pem]).status == 400, "\(pem)")
      }
      let private_ = try await keys(
        world, "POST", ["publicKey": "-----BEGIN EC PRIVATE KEY-----"])
      #expect(private_.text.contains("-pubout"))
    }
    var archive = Data()
    try await AccessWorld.run(path: path) { world in
      let ids = try ServerKeys(server: world.server).list()
      #expect(ids.map { [$0.id, $0.name] } == [[program.key.id, "n"]])
      archive = try world.server.exportArchive()
    }
    let other = LoopbackServer()
    try other.importArchive(archive)
    #expect(
      try ServerKeys(server: other).list().map(\.id) == [program.key.id])
    other.close()
  }
}
