import CloudProtocol
import Records
import Testing
import VerificationSupport
import WebServices

/// A request from a client to a server and its answer back, all of it as bytes.
@Suite("Requests and replies, there and back")
struct TripTests {
  /// A client's clientRequest and what the server makes of it.
  private struct Trip {
    var clientRequest: ClientRequest
    var exchange: ServerRequest
    /// What was sent.
    var sent: String

    init?(_ request: CloudRequest, _ database: DatabaseScope, isExact: Bool) throws {
      let client = Notation(container: "iCloud.test", database: database, isExact: isExact)
      guard let clientRequest = ClientRequest(request, client) else { return nil }
      let body = try clientRequest.body.map { try JSON(parsing: $0.bytes) } ?? .members([:])
      let exchange = try ExchangeCase.exchange(
        body, clientRequest.endpoint, clientRequest.database, isExact: isExact)
      guard let exchange else { return nil }
      self.clientRequest = clientRequest
      self.exchange = exchange
      sent = "\(clientRequest.endpoint.rawValue) \(body.text)"
    }

    /// What the client learns of `outcomes`, and what it was told.
    func told(_ outcomes: [ServerRequest.Outcome]) -> (ServerRequest.Outcome, String) {
      do throws(CloudError) {
        let body = try exchange.body(outcomes)
        do {
          let json = try JSON(parsing: body.bytes)
          return (.success(try clientRequest.reply(to: json)), body.text)
        } catch let error as CloudError {
          return (.failure(error), body.text)
        } catch { return (.failure(CloudError(.internalError, "\(error)")), body.text) }
      } catch { return (.failure(error), "a failure of the request as a whole") }
    }
  }

  /// Requests of every kind in every database.
  private func forEach(
    isExact: Bool, count: Int, _ body: (inout Sampler, CloudRequest, DatabaseScope) throws -> Void
  ) rethrows {
    for database in DatabaseScope.allCases {
      for seed in 0..<count {
        var sampler = Sampler(seed: UInt64(seed), isPlain: !isExact, database: database)
        let request = sampler.request(seed)
        try body(&sampler, request, database)
      }
    }
  }

  private func report(
    _ faults: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard let first = faults.first else { return }
    Issue.record(
      "\(faults.count) faults, the first: \(first.prefix(2000))", sourceLocation: sourceLocation)
  }

  private func fault(_ found: Any, _ wanted: Any, _ trip: Trip?) -> String {
    RoundTrip.difference("\(found)", "\(wanted)") + "\nin \(trip?.sent ?? "nothing")"
  }

  /// Proves WS-194.
  @Test("A request reaches the server unchanged", arguments: [true, false])
  func requestsReachServerUnchanged(isExact: Bool) {
    var faults: [String] = []
    forEach(isExact: isExact, count: 14 * 40) { _, request, database in
      do {
        let trip = try Trip(request, database, isExact: isExact)
        let found = trip?.exchange.requests.map { TripTests.withoutRoots($0, like: request) }
        let wanted = isExact ? request : TripTests.separated(request)
        guard found?.count == 1, RoundTrip.isSame(found?.first, wanted, looks: true) else {
          faults.append(fault(found as Any, [wanted], trip))
          return
        }
        if !isExact, trip?.sent.contains(Notation.extra) == true {
          faults.append("an extra member in \(trip?.sent ?? "")")
        }
      } catch { faults.append("\(database): \(error), was \(request)") }
    }
    report(faults)
  }

  /// The request as other services accept it: changes of the default zone are not atomic.
  private static func separated(_ request: CloudRequest) -> CloudRequest {
    guard case .modifyRecords(var modify) = request,
      (modify.save.map(\.id) + modify.delete).contains(where: { $0.zone == .default })
    else { return request }
    modify.isAtomic = false
    return .modifyRecords(modify)
  }

  /// The request without the saves of roots that are added for a client of another make.
  private static func withoutRoots(
    _ found: CloudRequest, like request: CloudRequest
  ) -> CloudRequest {
    guard case .modifyRecords(var modify) = found, case .modifyRecords(let asked) = request else {
      return found
    }
    modify.save = Array(modify.save.prefix(asked.save.count))
    return .modifyRecords(modify)
  }

  @Test("A reply reaches the client unchanged", arguments: [true, false])
  func repliesReachClientUnchanged(isExact: Bool) throws {
    var faults: [String] = []
    try forEach(isExact: isExact, count: 14 * 40) { sampler, request, database in
      guard let trip = try Trip(request, database, isExact: isExact) else { return }
      let reply = sampler.reply(to: request)
      let (found, text) = trip.told([.success(reply)])
      if !RoundTrip.isSame(try? found.get(), reply, looks: true) {
        faults.append(fault(found, reply, trip) + "\n\(text)")
      }
      if !isExact, text.contains(Notation.extra) { faults.append("an extra member in \(text)") }
    }
    report(faults)
  }

  @Test("A failure reaches the client unchanged, for every request", arguments: [true, false])
  func failuresReachClientUnchanged(isExact: Bool) throws {
    var faults: [String] = []
    try forEach(isExact: isExact, count: 14 * 10) { sampler, request, database in
      guard let trip = try Trip(request, database, isExact: isExact) else { return }
      let error = sampler.error()
      let (found, text) = trip.told([.failure(error)])
      guard case .failure(let told) = found,
        RoundTrip.isSame(told, error, looks: true)
      else {
        faults.append(fault(found, error, trip) + "\n\(text)")
        return
      }
    }
    report(faults)
  }

  /// Proves WS-32.
  @Test("Save policies are derived from operations, and of two equivalent policies one is written")
  func savePoliciesFollowOperations() throws {
    let cases: [(SavePolicy, SavePolicy?, String?, Bool, String, SavePolicy, Bool)] = [
      (.ifServerRecordUnchanged, nil, nil, false, "create", .ifServerRecordUnchanged, false),
      (.ifServerRecordUnchanged, nil, nil, true, "create", .ifServerRecordUnchanged, false),
      (.ifServerRecordUnchanged, nil, "1", false, "update", .ifServerRecordUnchanged, false),
      (.ifServerRecordUnchanged, nil, "1", true, "replace", .ifServerRecordUnchanged, true),
      (.changedKeys, nil, "1", false, "forceUpdate", .changedKeys, false),
      (.changedKeys, nil, nil, true, "forceReplace", .changedKeys, true),
      (.allKeys, nil, "1", false, "forceUpdate", .changedKeys, false),
      (.allKeys, .ifServerRecordUnchanged, "1", false, "update", .ifServerRecordUnchanged, false),
      (.ifServerRecordUnchanged, .allKeys, nil, false, "forceUpdate", .changedKeys, false),
    ]
    var faults: [String] = []
    for (policy, own, tag, clears, name, found, clearsThen) in cases {
      var save = RecordSave(
        id: .note("n"), type: "Note", changeTag: tag.map { ChangeTag($0) }, changes: [])
      save.policy = own
      save.clearsOtherFields = clears
      let request = CloudRequest.modifyRecords(ModifyRecords(save: [save], policy: policy))
      let trip = try Trip(request, .private, isExact: false)
      let operation = trip?.clientRequest.body?["operations"]?.array?.first?["operationType"]?
        .string
      save.policy = found
      save.clearsOtherFields = clearsThen
      if operation != name
        || trip?.exchange.requests != [.modifyRecords(ModifyRecords(save: [save]))]
      {
        faults.append("\(policy) \(own as Any): \(trip?.sent ?? "nothing")")
      }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  /// Proves I23, WS-94.
  @Test("A damaged answer gives a reply, the failure it describes or a server error, never a trap")
  func damagedAnswersNeverTrap() throws {
    var damage = JSONDamage(random: SeededGenerator(seed: 4))
    var faults: [String] = []
    var refused = 0
    for isExact in [true, false] {
      try forEach(isExact: isExact, count: 14 * 10) { sampler, request, database in
        guard let trip = try Trip(request, database, isExact: isExact) else { return }
        let body = try trip.exchange.body([.success(sampler.reply(to: request))])
        for _ in 0..<12 {
          var bad = body
          for _ in 0...damage.random.below(3) { bad = damage.damaged(bad) }
          guard let bad = try? JSON(parsing: bad.bytes) else { continue }
          do throws(CloudError) { _ = try trip.clientRequest.reply(to: bad) } catch {
            refused += 1
            if error.code == .invalidArguments, bad.text.contains("BAD_REQUEST") { continue }
            if error.code == .invalidArguments || error.message.isEmpty {
              faults.append("\(error)")
            }
          }
        }
      }
    }
    report(faults)
    #expect(refused > 2_000)
  }

  private func failures<ID: Codable & Hashable & Sendable, Value: Codable & Hashable & Sendable>(
    _ ids: [ID]
  ) -> [ItemResult<ID, Value>] {
    ids.map { ItemResult(id: $0, .failure(CloudError(.unknownItem, "none"))) }
  }

  /// Requests of two items, what is answered to them, and the list with the items in the answer.
  private var pairs: [(request: CloudRequest, reply: CloudReply, list: String)] {
    let records = [RecordID.note("a"), .note("b")]
    let zones = [ZoneID.notes, ZoneID(name: "Z")]
    let names = [SubscriptionID("s"), SubscriptionID("t")]
    let urls = ["a", "b"].map { ShareMetadata.urlPrefix + $0 }
    let people = [UserLookup.email("a"), .email("b")]
    let save = RecordSave(id: records[0], type: "Note", changes: [])
    let subscription = Subscription(id: names[0], kind: .database(recordType: nil))
    return [
      (.fetchRecords(FetchRecords(ids: records)), .records(failures(records)), "records"),
      (
        .modifyRecords(ModifyRecords(save: [save], delete: [records[1]])),
        .recordsModified(saved: failures([records[0]]), deleted: failures([records[1]])), "records"
      ),
      (.fetchZones(zones), .zones(failures(zones)), "zones"),
      (
        .modifyZones(ModifyZones(save: [zones[0]], delete: [zones[1]])),
        .zonesModified(saved: failures([zones[0]]), deleted: failures([zones[1]])), "zones"
      ),
      (.fetchSubscriptions(names), .subscriptions(failures(names)), "subscriptions"),
      (
        .modifySubscriptions(ModifySubscriptions(save: [subscription], delete: [names[1]])),
        .subscriptionsModified(saved: failures([names[0]]), deleted: failures([names[1]])),
        "subscriptions"
      ),
      (.resolveShares(ResolveShares(urls: urls)), .sharesResolved(failures(urls)), "results"),
      (.acceptShares(urls), .sharesAccepted(failures(urls)), "results"),
      (.findUsers(people), .usersFound(failures(people)), Notation.extra),
    ]
  }

  @Test("An answer with fewer or more items than were requested is the server's error")
  func wrongNumberOfItemsIsServerError() throws {
    for (request, reply, list) in pairs {
      let trip = try #require(try Trip(request, .private, isExact: true))
      let body = try trip.exchange.body([.success(reply)])
      let items = body[list]?.array ?? []
      #expect(items.count == 2, "\(body.text)")
      for other in [Array(items.dropLast()), items, items + items.suffix(1)] {
        var members = JSON.Members((body.members?.elements ?? []).filter { $0.name != list })
        members.add(list, .array(other))
        let text = JSON.object(members).bytes
        var code: CloudError.Code?
        do throws(CloudError) { _ = try trip.clientRequest.reply(toText: text) } catch {
          code = error.code
        }
        #expect(code == (other.count == 2 ? nil : .internalError), "\(JSON.object(members).text)")
      }
    }
  }

  @Test("An answer with fewer users than results without an error is the server's error")
  func missingUserIsServerError() throws {
    let request = CloudRequest.findUsers([.email("a"), .email("b")])
    let trip = try #require(try Trip(request, .private, isExact: true))
    let user = JSON.members(["userRecordName": .string("_a")])
    for count in 1...2 {
      let body = JSON.members([
        "users": .array(Array(repeating: user, count: count)),
        Notation.extra: .array([.null, .null]),
      ])
      var code: CloudError.Code?
      do throws(CloudError) { _ = try trip.clientRequest.reply(to: body) } catch {
        code = error.code
      }
      #expect(code == (count == 2 ? nil : .internalError))
    }
  }
}
