import CloudMachine
import CloudProtocol
import Records
import Testing

/// A request that arrives twice, or too often.
///
/// Invariant I7; cloudkit-surface 2.8.
struct RepetitionTests {
  /// Proves CS-139, I7.
  @Test("a repeated mutation is answered as before and changes nothing, also much later")
  func repeated() throws {
    let world = try World()
    let subscription = Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))
    let mutations: [CloudRequest] = [
      .modifySubscriptions(ModifySubscriptions(save: [subscription])),
      .modifyRecords(ModifyRecords(save: [fresh("a"), fresh("b")])),
      .modifyRecords(ModifyRecords(save: [fresh("a")])),
      .modifyRecords(ModifyRecords(delete: [id("b")])),
      .modifyZones(ModifyZones(save: [ZoneID(name: "Y")])),
      .modifyZones(ModifyZones(delete: [ZoneID(name: "Y")])),
    ]
    var answers: [CloudAnswer] = []
    for (index, request) in mutations.enumerated() {
      answers.append(try world.ask(request, requestID: "m\(index)"))
    }
    #expect(answers[1].pushes.count == 1)
    #expect(answers[2].result.words == "+a serverRecordChanged")
    _ = try world.modify([try world.edit("a", ["n": .int64(5)])])
    _ = try world.modify([fresh("b")])
    let before = try world.storage.database(world.database)
    let names = try world.names()
    for (index, request) in mutations.enumerated() {
      let again = try world.ask(request, requestID: "m\(index)")
      #expect(again.result == answers[index].result, "\(index)")
      #expect(again.pushes.isEmpty, "\(index)")
    }
    #expect(try world.storage.database(world.database) == before)
    #expect(try world.names() == names)
    #expect(try world.stored("a")?.fields["n"]?.value == .int64(5))
  }

  /// Proves CS-139, TH-19.
  @Test("receipts are one device's and one user's, are bounded, and fit their request")
  func receipts() throws {
    var limits = CloudLimits()
    limits.receiptsKept = 3
    let world = try World(limits: limits)
    func save(_ name: String, _ requestID: String, as caller: Caller? = nil) throws -> String {
      try world.ask(
        .modifyRecords(ModifyRecords(save: [fresh(name)])), as: caller, requestID: requestID
      ).result.words
    }
    #expect(try save("a", "1") == "+a ok")
    #expect(try save("a", "1") == "+a ok")
    #expect(try save("a", "1", as: world.laptop) == "+a serverRecordChanged")
    #expect(try save("a", "1", as: world.stranger) == "+a ok")
    let wrong = CloudRequest.modifyZones(ModifyZones(save: [World.zone]))
    #expect(try world.ask(wrong, requestID: "1").result.words == "! invalidArguments")
    #expect(try save("b", "2") == "+b ok")
    #expect(try save("c", "3") == "+c ok")
    #expect(try save("a", "1") == "+a ok")
    #expect(try save("d", "4") == "+d ok")
    #expect(try save("a", "1") == "+a serverRecordChanged", "forgotten by now")
    #expect(try save("e", "") == "! invalidArguments")
    // A call refused as a whole leaves nothing behind.
    #expect(
      try world.ask(
        .modifyRecords(ModifyRecords(save: [fresh("f"), fresh("f")])), requestID: "9"
      ).result.words == "! invalidArguments")
    #expect(try save("f", "9") == "+f ok")
  }

  /// Proves CS-171.
  @Test("throttling: first serviceUnavailable, then requestRateLimited, then in again")
  func throttling() throws {
    var limits = CloudLimits()
    #expect(limits.throttle == nil)
    limits.throttle = CloudThrottle.Rate(requests: 2, window: 10)
    let world = try World(limits: limits, zones: [])
    var throttle = CloudThrottle()
    func ask(_ second: Double, _ caller: Caller) throws -> String {
      let call = CloudCall(
        container: World.container, database: .private, requestID: "x",
        request: .fetchCurrentUser)
      let step = try world.machine.begin(
        call, from: caller, now: Timestamp(secondsSinceReferenceDate: second), in: world.storage,
        throttle: &throttle)
      guard case .answered(let answer) = step, case .failure(let error) = answer.result else {
        return "ok"
      }
      return "\(error.code) \(error.retryAfter ?? -1)"
    }
    #expect(try ask(100, world.phone) == "ok")
    #expect(try ask(101, world.laptop) == "ok")
    #expect(try ask(102, world.phone) == "serviceUnavailable 8.0")
    #expect(try ask(103, world.laptop) == "requestRateLimited 7.0")
    #expect(try ask(103, world.stranger) == "ok")
    #expect(try ask(110, world.phone) == "ok")
    #expect(try ask(50, world.phone) == "ok", "a clock set back locks nobody out")
    world.machine.limits.throttle?.key = .device
    #expect(try ask(200, world.phone) == "ok")
    #expect(try ask(200, world.phone) == "ok")
    #expect(try ask(200, world.phone) == "serviceUnavailable 10.0")
    #expect(try ask(200, world.laptop) == "ok")
  }
}
