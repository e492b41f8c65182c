import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Every endpoint of every database with every wrong credential.
@Suite("Access control, and the isolation of accounts")
struct AccessTests {
  private static let places: [(Endpoint, DatabaseScope)] = Endpoint.allCases.flatMap { endpoint in
    let databases: [DatabaseScope] = endpoint.isOfDevice ? [.public] : [.public, .private, .shared]
    return databases.map { (endpoint, $0) }
  }

  /// Proves I13, TH-3, TH-6, WS-4, WS-8, WS-9, WS-13.
  @Test("Each endpoint and credential gets its status and code, and none of Alice's data")
  func endpointsRevealNothingWithoutCredentials() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      let credentials = try Credential.all(world, belongings)
      var count = 0
      for (endpoint, database) in Self.places {
        let body = EndpointQuestion.body(endpoint, .own(database), owner: nil)
        for credential in credentials {
          var answers = [
            try await world.post(endpoint, database, query: credential.query, body)
          ]
          if endpoint.takesGet {
            let target = world.path(endpoint, database) + "?" + credential.query
            answers.append(try await world.ask("GET", target))
          }
          for answer in answers {
            count += 1
            let place = "\(database) \(endpoint.rawValue) with \(credential.name)"
            Self.check(answer, credential.reach, endpoint, database, place)
          }
        }
      }
      #expect(count > 2000, "only \(count) cells")
    }
  }

  private static func check(
    _ answer: TestClient.Answer, _ reach: Credential.Reach, _ endpoint: Endpoint,
    _ database: DatabaseScope, _ place: String
  ) {
    let needsSignIn =
      answer.status == 421 && answer.code == "AUTHENTICATION_REQUIRED"
      && answer.redirect?.hasPrefix("http://127.0.0.1:") == true
    let isAsExpected =
      switch reach {
      case .nowhere: answer.status == 401 && answer.code == "AUTHENTICATION_FAILED"
      case .signIn: needsSignIn
      case .world:
        switch EndpointQuestion.worldsBusiness(endpoint, database) {
        case .allowed: answer.status == 200 && !answer.text.contains("AUTHENTICATION")
        case .nonsense: answer.text.contains("BAD_REQUEST")
        case .forbidden: needsSignIn
        }
      case .other: answer.status != 401 && answer.status != 421 && answer.status != 500
      }
    #expect(isAsExpected, "\(place): \(answer.status) \(answer.text)")
    #expect(!answer.whole.contains(AccessWorld.mark), "\(place): \(answer.whole)")
    let givesToken = answer.lines.contains { $0.hasPrefix("x-apple-cloudkit-web-auth-token: ") }
    #expect(givesToken == (reach == .other), "\(place): \(answer.lines)")
  }

  /// Proves TH-6, WS-8.
  @Test("Alice finds all her data with the same requests")
  func ownerFindsAllDataWithSameRequests() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      var names = EndpointQuestion.Names.alices
      names.shareName = belongings.shareName
      var silent: [String] = []
      for endpoint in Endpoint.allCases where !Self.isChanging(endpoint) {
        let answer = try await world.post(
          endpoint, query: try world.query(AccessWorld.alice),
          EndpointQuestion.body(endpoint, names, owner: nil))
        #expect(answer.status == 200, "\(endpoint): \(answer.text)")
        if !answer.whole.contains(AccessWorld.mark) { silent.append(endpoint.rawValue) }
      }
      // Only what does not name records, zones or shares is without them.
      #expect(
        silent == [
          "users/caller", "users/current", "users/discover", "users/lookup/email",
          "users/lookup/id", "users/lookup/contacts", "assets/rereference", "tokens/create",
          "tokens/register",
        ])
    }
  }

  private static func isChanging(_ endpoint: Endpoint) -> Bool {
    [.recordsModify, .zonesModify, .subscriptionsModify].contains(endpoint)
  }

  /// Proves TH-11.
  @Test("Only requests that save records may have a long body; others are refused unread")
  func onlyRecordSavesMayHaveLongBody() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      for endpoint in Endpoint.allCases {
        let most = endpoint == .recordsModify ? 24 << 20 : 2 << 20
        for length in [most, most + 1] {
          // The end of a client that has announced a body and sends none.
          let client = try TestClient(port: world.web.port)
          let target = world.path(endpoint) + "?" + query
          await client.send(
            "POST \(target) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\n"
              + "Expect: 100-continue\r\nContent-Length: \(length)\r\n\r\n")
          let answer = try await client.answer()
          #expect(answer.status == (length == most ? 100 : 413), "\(endpoint) \(length)")
          await client.close()
        }
      }
    }
  }

  /// Proves TH-18, WS-85, WS-87.
  @Test("The items of one request are limited: zones of a feed, files to reuse and uploads")
  func itemsPerRequestAreLimited() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      let questions: [(Endpoint, String, String)] = [
        (.changesZone, "zones", #"{"zoneID":{"zoneName":"z"}}"#),
        (.assetsRereference, "assets", #"{"recordName":"r","fieldName":"f"}"#),
        (.assetsUpload, "tokens", #"{"recordType":"T","fieldName":"f"}"#),
      ]
      for (endpoint, list, item) in questions {
        let most = world.server.limits.itemsPerRequest
        for count in [200, 201, most + 2] {
          let items = [String](repeating: item, count: count).joined(separator: ",")
          let answer = try await world.post(
            endpoint, query: query, #"{"\#(list)":[\#(items)]}"#)
          let isRefused = ["at most 200 ", "more than the 200 "].contains(
            where: answer.text.contains)
          #expect(isRefused == (count > 200), "\(endpoint) \(count): \(answer.text.prefix(300))")
        }
      }
    }
  }

  /// Proves TH-19.
  @Test("A request name that is reused for a different request is refused")
  func reusedRequestNameIsRefused() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      func make(_ zones: String...) async throws -> TestClient.Answer {
        let operations = zones.map {
          #"{"operationType":"create","zone":{"zoneID":{"zoneName":"\#($0)"}}}"#
        }.joined(separator: ",")
        return try await world.post(
          .zonesModify, query: query, #"{"operations":[\#(operations)]}"#,
          fields: ["cloudsync-request: same"])
      }
      let first = try await make("a")
      let again = try await make("a")
      let other = try await make("a", "b")
      #expect(first.status == 200 && again.text == first.text, "\(again.text)")
      #expect(other.status == 400 && other.code == "BAD_REQUEST", "\(other.text)")
    }
  }

  /// Proves TH-7, WS-82.
  @Test("A user without invitation gets access denied for a share's URL, and none of its data")
  func uninvitedUserLearnsOnlyAccessDenied() async throws {
    try await AccessWorld.run { world in
      var names = EndpointQuestion.Names.own(.public)
      names.shareName = try await world.settle().shareName
      for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
        let answer = try await world.post(
          endpoint, .public, query: try world.query("bob"),
          EndpointQuestion.body(endpoint, names, owner: nil))
        #expect(answer.status == 200 && answer.text.contains("ACCESS_DENIED"), "\(answer.text)")
        #expect(!answer.whole.contains(AccessWorld.mark), "\(answer.whole)")
        #expect(!answer.whole.contains(world.alicesUser), "\(answer.whole)")
      }
    }
  }

  /// Proves TH-7, WS-82.
  @Test("A request with the names of Alice's items is answered as if the items did not exist")
  func knownNamesRevealNoExistence() async throws {
    try await AccessWorld.run { world in
      _ = try await world.settle()
      let (alices, nobodys) = (EndpointQuestion.Names.alices, EndpointQuestion.Names.nobodys)
      let query = try world.query("bob")
      let nobody = "ckAPIToken=\(world.web.apiToken())"
      for (endpoint, database) in Self.places {
        for owner in [nil, world.alicesUser] {
          for query in [query, nobody] {
            let known = try await world.post(
              endpoint, database, query: query,
              EndpointQuestion.body(endpoint, alices, owner: owner))
            let guessed = try await world.post(
              endpoint, database, query: query,
              EndpointQuestion.body(endpoint, nobodys, owner: owner))
            let place = "\(database) \(endpoint.rawValue), owner \(owner ?? "own")"
            #expect(known.status == guessed.status, "\(place)")
            let told = known.neutral.replacing("ALICES-", with: "NOBODY-")
            #expect(told == guessed.neutral, "\(place): \(known.text) | \(guessed.text)")
            for secret in ["title", "file-content", "account"] {
              #expect(!known.text.contains("ALICES-\(secret)"), "\(place)")
            }
          }
        }
      }
      // And all is as it was.
      let found = try await world.alices(
        .recordsLookup, .private,
        #"{\#(AccessWorld.zone),"records":[{"recordName":"ALICES-record"}]}"#)
      #expect(
        found["records"]?.array?.first?["fields"]?["title"]?["value"] == .string("ALICES-title"))
    }
  }
}

extension TestClient.Answer {
  /// The header and the body.
  var whole: String { (lines + [text]).joined(separator: "\n") }

  private var json: JSON? { try? JSON(parsing: body) }

  /// The code of a request that failed as a whole.
  var code: String? { json?["serverErrorCode"]?.string }

  /// The sign-in URL.
  var redirect: String? { json?["redirectURL"]?.string }

  /// The body less what differs from one answer to the next of the same kind.
  var neutral: String {
    text.replacing(#/"uuid":"[^"]*"/#, with: "")
      .replacing(#/"(url|webcourierURL|apnsToken|syncToken|metaSyncToken)":"[^"]*"/#, with: "")
  }

  /// The values of a field.
  func values(_ name: String) -> [String] {
    lines.filter { $0.lowercased().hasPrefix("\(name): ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }
}
