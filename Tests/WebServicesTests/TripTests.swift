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

  @Test("A request reaches the server unchanged", arguments: [true, false])
  func requestsReachServerUnchanged(isExact: Bool) {
    var faults: [String] = []
    forEach(isExact: isExact, count: 14 * 40) { _, request, database in
      do {
        let trip = try Trip(request, database, isExact: isExact)
        let found = trip?.exchange.requests.map { TripTests.withoutRoots($0, like: request) }
        guard found?.count == 1, RoundTrip.isSame(found?.first, request, looks: true) else {
          faults.append(fault(found as Any, [request], trip))
          return
        }
        if !isExact, trip?.sent.contains(Notation.extra) == true {
          faults.append("an extra member in \(trip?.sent ?? "")")
        }
      } catch { faults.append("\(database): \(error), was \(request)") }
    }
    report(faults)
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
}
