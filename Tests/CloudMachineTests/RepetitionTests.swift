import CloudMachine
import CloudProtocol
import Records
import Testing

extension World {
  /// The hash of the digest that is kept with a request.
  fileprivate func digest(of request: CloudRequest) throws -> String {
    _ = try ask(request, requestID: "1")
    let key = ReceiptKey(user: alice, device: "phone", requestID: "1")
    return SHA256.hexadecimal(of: try storage.receipt(key)?.digest ?? [])
  }
}

/// A request that arrives twice, or too often.
///
/// Invariant I7; CS-171 to CS-173.
struct RepetitionTests {
  /// Proves CS-139, I7.
  @Test("A repeated mutation gets the same answer as before and changes nothing, also much later")
  func repeatedMutationChangesNothing() throws {
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

  @Test("Erasing an account's data ends its subscriptions to the public database, and no others")
  func erasureRemovesPublicSubscriptions() throws {
    let world = try World()
    let watched = QuerySubscription(
      query: Query(recordType: "Note"), zone: nil, options: [.firesOnRecordCreation])
    let subscription = Subscription(
      id: SubscriptionID("s"), kind: .query(watched), notificationInfo: .init())
    for caller in [world.laptop, world.stranger] {
      let request = CloudRequest.modifySubscriptions(ModifySubscriptions(save: [subscription]))
      #expect(try world.say(request, as: caller, in: .public) == "+s ok")
    }
    _ = try world.machine.eraseData(
      of: world.alice, container: World.container, environment: .development, now: world.now,
      storage: world.storage)
    let save = CloudRequest.modifyRecords(ModifyRecords(save: [fresh("a", zone: .default)]))
    #expect(
      try world.ask(save, as: world.phone, in: .public).pushes.map(\.user) == [world.bob])
    #expect(try world.say(.fetchSubscriptions(nil), as: world.laptop, in: .public) == "")
  }

  @Test("Erasing an account's data ends its subscriptions to the shared database, and frees quota")
  func erasureRemovesSharedSubscriptionsAndFreesQuota() throws {
    let world = try World()
    let subscription = Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))
    let request = CloudRequest.modifySubscriptions(ModifySubscriptions(save: [subscription]))
    #expect(try world.say(request, in: .shared) == "+s ok")
    _ = try world.modify([
      fresh("a", ["n": .int64(1)], zone: .default), fresh("b", ["n": .int64(1)]),
    ])
    #expect(try world.storage.database(world.database)?.byteCount != 0)
    _ = try world.machine.eraseData(
      of: world.alice, container: World.container, environment: .development, now: world.now,
      storage: world.storage)
    #expect(try world.say(.fetchSubscriptions(nil), in: .shared) == "")
    #expect(try world.storage.database(world.database)?.byteCount == 0)
  }

  @Test("Erased data is in no receipt, and those of other users stay")
  func erasureRemovesReceipts() throws {
    let world = try World()
    for caller in [world.phone, world.stranger] {
      _ = try world.ask(
        .modifyRecords(ModifyRecords(save: [fresh("a")])), as: caller, requestID: "1")
    }
    func hasReceipt(_ caller: Caller) throws -> Bool {
      let key = ReceiptKey(
        user: try #require(caller.user), device: caller.device, requestID: "1")
      return try world.storage.receipt(key) != nil
    }
    _ = try world.machine.eraseData(
      of: world.alice, container: World.container, environment: .development, now: world.now,
      storage: world.storage)
    #expect(try !hasReceipt(world.phone))
    #expect(try hasReceipt(world.stranger))
  }

  /// Saves a new record; returns the outcome in words.
  private func save(
    _ name: String, _ requestID: String, as caller: Caller? = nil, in world: World
  ) throws -> String {
    try world.ask(
      .modifyRecords(ModifyRecords(save: [fresh(name)])), as: caller, requestID: requestID
    ).result.words
  }

  /// Proves CS-244.
  @Test("A user's oldest receipts are removed, whatever the number of devices")
  func receiptsOfManyDevicesAreBounded() throws {
    var limits = CloudLimits()
    limits.receiptsKept = 2
    let world = try World(limits: limits)
    func saveOnDevice(_ number: Int) throws -> String {
      let caller = Caller(user: world.alice, device: "device \(number)")
      return try save("n\(number)", "1", as: caller, in: world)
    }
    #expect(try save("other", "1", as: world.stranger, in: world) == "+other ok")
    for number in 1...40 { #expect(try saveOnDevice(number) == "+n\(number) ok") }
    let kept = try world.storage.receiptKeys().filter { $0.user == world.alice }
    #expect(kept.count == 32)
    for number in [40, 20, 9] { #expect(try saveOnDevice(number) == "+n\(number) ok") }
    #expect(try saveOnDevice(8) == "+n8 serverRecordChanged", "forgotten by now")
    #expect(try save("other", "1", as: world.stranger, in: world) == "+other ok")
  }

  /// Proves CS-244.
  @Test("A request whose client chose no ID leaves no receipt")
  func unnamedRequestLeavesNoReceipt() throws {
    let world = try World()
    let caller = Caller(user: world.alice, device: "page", choseRequestID: false)
    let request = CloudRequest.modifyRecords(ModifyRecords(save: [fresh("a")]))
    #expect(try world.ask(request, as: caller, requestID: "1").result.words == "+a ok")
    #expect(try world.storage.receiptKeys().allSatisfy { $0.device != "page" })
    #expect(
      try world.ask(request, as: caller, requestID: "1").result.words == "+a serverRecordChanged")
  }

  /// Proves CS-139, TH-19.
  @Test("Receipts belong to one device and user, are bounded and match their request")
  func receiptBelongsToOneDeviceAndUser() throws {
    var limits = CloudLimits()
    limits.receiptsKept = 3
    let world = try World(limits: limits)
    #expect(try save("a", "1", in: world) == "+a ok")
    #expect(try save("a", "1", in: world) == "+a ok")
    #expect(try save("a", "1", as: world.laptop, in: world) == "+a serverRecordChanged")
    #expect(try save("a", "1", as: world.stranger, in: world) == "+a ok")
    let wrong = CloudRequest.modifyZones(ModifyZones(save: [World.zone]))
    #expect(try world.ask(wrong, requestID: "1").result.words == "! invalidArguments")
    #expect(try save("b", "2", in: world) == "+b ok")
    #expect(try save("c", "3", in: world) == "+c ok")
    #expect(try save("a", "1", in: world) == "+a ok")
    #expect(try save("d", "4", in: world) == "+d ok")
    #expect(try save("a", "1", in: world) == "+a serverRecordChanged", "forgotten by now")
    #expect(try save("e", "", in: world) == "! invalidArguments")
    // A call refused as a whole leaves nothing behind.
    #expect(
      try world.ask(
        .modifyRecords(ModifyRecords(save: [fresh("f"), fresh("f")])), requestID: "9"
      ).result.words == "! invalidArguments")
    #expect(try save("f", "9", in: world) == "+f ok")
  }

  /// Proves WS-110.
  @Test("a request ID that comes back with other content is refused, and nothing is changed")
  func aRequestIDIsBoundToItsContent() throws {
    let world = try World()
    func records(_ save: RecordSave, isAtomic: Bool = true) -> CloudRequest {
      .modifyRecords(ModifyRecords(save: [save], isAtomic: isAtomic))
    }
    var typed = fresh("a", ["n": .int64(1)])
    typed.type = "Other"
    var encrypted = fresh("a")
    encrypted.changes = [.init(key: "n", field: Field(.int64(1), isEncrypted: true))]
    let other = Subscription(id: SubscriptionID("s"), kind: .zone(World.zone, recordType: nil))
    let first = records(fresh("a", ["n": .int64(1)]))
    let rows: [(CloudRequest, [CloudRequest])] = [
      (
        first,
        [
          records(fresh("a", ["n": .int64(2)])), records(fresh("b", ["n": .int64(1)])),
          records(fresh("a", ["m": .int64(1)])), records(fresh("a", ["n": .double(1)])),
          records(fresh("a", ["n": .int64(1)]), isAtomic: false), records(typed),
          records(encrypted), records(fresh("a", ["n": .int64(1)], parent: "p")),
          records(fresh("a", ["n": .int64(1)], tag: "1")), records(fresh("a")),
          .modifyRecords(
            ModifyRecords(save: [fresh("a", ["n": .int64(1)])], policy: .changedKeys)),
          .modifyRecords(
            ModifyRecords(save: [fresh("a", ["n": .int64(1)])], fields: FieldSelection.none)),
          .modifyRecords(ModifyRecords(delete: [id("a")])),
        ]
      ),
      (
        .modifyZones(ModifyZones(save: [ZoneID(name: "Y")])),
        [
          .modifyZones(ModifyZones(save: [ZoneID(name: "X")])),
          .modifyZones(ModifyZones(delete: [ZoneID(name: "Y")])),
        ]
      ),
      (
        .modifySubscriptions(
          ModifySubscriptions(
            save: [Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))])),
        [.modifySubscriptions(ModifySubscriptions(save: [other]))]
      ),
      (.acceptShares(["a"]), [.acceptShares(["b"])]),
      (
        .uploadAsset(UploadAsset(recordType: "Note", key: "f", content: [1])),
        [
          .uploadAsset(UploadAsset(recordType: "Note", key: "f", content: [2])),
          .uploadAsset(UploadAsset(recordType: "Note", key: "f", content: [1, 1])),
          .uploadAsset(UploadAsset(recordType: "Note", key: "g", content: [1])),
          .uploadAsset(UploadAsset(recordType: "Pic", key: "f", content: [1])),
        ]
      ),
    ]
    for (index, (request, others)) in rows.enumerated() {
      let requestID = "r\(index)"
      let answer = try world.ask(request, requestID: requestID).result
      let before = try world.storage.database(world.database)
      for other in others {
        let words = try world.ask(other, requestID: requestID).result.words
        #expect(words == "! invalidArguments", "\(other)")
      }
      #expect(try world.storage.database(world.database) == before)
      #expect(try world.ask(request, requestID: requestID).result == answer, "a true retry")
    }
    #expect(
      try world.ask(first, environment: .production, requestID: "r0").result.words
        == "! invalidArguments", "another environment is other content")
  }

  /// Proves WS-111.
  @Test("a receipt of an earlier version, without a digest, still answers its request")
  func receiptsWithoutADigestStillAnswer() throws {
    let world = try World()
    let request = CloudRequest.modifyRecords(ModifyRecords(save: [fresh("a")]))
    let answer = try world.ask(request, requestID: "1").result
    let key = ReceiptKey(user: world.alice, device: "phone", requestID: "1")
    var receipt = try #require(try world.storage.receipt(key))
    #expect(receipt.digest?.count == 17)
    // As any process computes it: a storage keeps it for the next one.
    let digest = SHA256.hexadecimal(of: receipt.digest ?? [])
    #expect(try World().digest(of: request) == digest)
    receipt.reply = try answer.get()
    // None, and one of 32 bytes, which this version does not compute.
    for earlier in [nil, [UInt8](repeating: 7, count: 32)] {
      receipt.digest = earlier
      try world.storage.commit([.putReceipt(receipt, keeping: 10)])
      #expect(try world.ask(request, requestID: "1").result == answer)
    }
  }

  /// Proves CS-139.
  @Test("A receipt omits the fields of the request, and the repeated reply has all of them")
  func receiptsLeaveOutTheFieldsOfTheRequest() throws {
    let world = try World()
    _ = try world.modify([fresh("old", ["kept": .string("k"), "n": .int64(1), "gone": .int64(2)])])
    var partial = try world.edit("old", ["n": .int64(3), "new": .list([.double(0.5)])])
    partial.changes.append(.init(key: "gone", field: nil))
    var secret = fresh("secret", ["z": .string("s"), "a": .bytes([1])])
    secret.changes.append(.init(key: "m", field: Field(.int64(1), isEncrypted: true)))
    let request = CloudRequest.modifyRecords(
      ModifyRecords(
        save: [fresh("a", ["n": .int64(1), "text": .string("e\u{301}")]), partial, secret]))
    let answer = try world.ask(request, requestID: "1").result
    guard case .success(.recordsModified(let saved, _)) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(saved.map { $0.value?.fields.count } == [2, 3, 3])
    let key = ReceiptKey(user: world.alice, device: "phone", requestID: "1")
    let receipt = try #require(try world.storage.receipt(key))
    guard case .recordsModified(let kept, _) = receipt.reply else {
      Issue.record("\(receipt)")
      return
    }
    #expect(kept.map { $0.value?.fields.keys } == [[], ["kept"], []])
    // The reply does not contain later changes.
    _ = try world.modify([try world.edit("a", ["n": .int64(9)])])
    _ = try world.modify([try world.edit("old", ["kept": .string("other")])])
    #expect(try world.ask(request, requestID: "1").result == answer)
  }

  /// Proves CS-139.
  @Test("A receipt keeps whole records if the reply differs from the request, or has files")
  func receiptsOfOtherRepliesAreWhole() throws {
    let world = try World()
    func check(_ name: String, _ request: ModifyRecords) throws {
      let call = CloudRequest.modifyRecords(request)
      let answer = try world.ask(call, requestID: name).result
      let key = ReceiptKey(user: world.alice, device: "phone", requestID: name)
      let receipt = try #require(try world.storage.receipt(key))
      #expect(receipt.digest?.last == 0, "\(name)")
      guard case .recordsModified(let kept, _) = receipt.reply else {
        Issue.record("\(receipt)")
        return
      }
      #expect(kept.allSatisfy { $0.value?.fields.isEmpty == false }, "\(name)")
      #expect(try world.ask(call, requestID: name).result == answer, "\(name)")
    }
    try check(
      "selection", ModifyRecords(save: [fresh("a", ["n": .int64(1)])], fields: .keys(["n"])))
    var twice = fresh("b", ["n": .int64(1)])
    twice.changes.append(.init(key: "n", field: Field(.int64(2))))
    try check("a field set twice", ModifyRecords(save: [twice]))
    // The same file again: the digest of the request does not cover a receipt that comes with it.
    let upload = UploadAsset(recordType: "Note", key: "file", content: [1, 2])
    guard case .assetUploaded(let asset) = try world.ask(.uploadAsset(upload)).reply() else {
      throw Unexpected()
    }
    _ = try world.modify([fresh("d", ["file": .asset(asset)])])
    let stored = FieldValue.asset(Asset(checksum: asset.checksum, size: asset.size))
    try check("a file", ModifyRecords(save: [try world.edit("d", ["file": stored])]))
  }

  /// Proves WS-110.
  @Test("The digest of a request depends on every byte of a text, of any length")
  func digestDependsOnEveryByte() throws {
    let world = try World()
    var texts = (0...70).map { String(repeating: "a", count: $0) }
    texts += (0..<70).map { String(repeating: "a", count: $0) + "b" }
    for place in 0..<70 {
      texts.append(
        String(repeating: "a", count: place) + "b" + String(repeating: "a", count: 69 - place))
    }
    var digests: Set<[UInt8]> = []
    for (index, text) in Set(texts).enumerated() {
      _ = try world.ask(
        .modifyRecords(
          ModifyRecords(save: [fresh("a", ["text": .string(text)])], policy: .allKeys)),
        requestID: "\(index)")
      let key = ReceiptKey(user: world.alice, device: "phone", requestID: "\(index)")
      digests.insert(try #require(try world.storage.receipt(key)?.digest))
    }
    #expect(digests.count == Set(texts).count)
  }

  /// Proves CS-171.
  @Test("A throttled client gets serviceUnavailable, then requestRateLimited, then is served again")
  func throttledClientIsServedAgainLater() throws {
    var limits = CloudLimits()
    #expect(limits.throttle == nil)
    limits.throttle = ServerLimits.Throttle(requests: 2, seconds: 10)
    let world = try World(limits: limits, zones: [])
    var throttle = CloudThrottle()
    func ask(_ second: Double, _ caller: Caller) throws -> String {
      let now = Timestamp(secondsSinceReferenceDate: second)
      let refusal = world.machine.refusal(of: caller, now: now, throttle: &throttle)
      return refusal.map { "\($0.code) \($0.retryAfter ?? -1)" } ?? "ok"
    }
    #expect(try ask(100, world.phone) == "ok")
    #expect(try ask(101, world.laptop) == "ok")
    #expect(try ask(102, world.phone) == "serviceUnavailable 8.0")
    #expect(try ask(103, world.laptop) == "requestRateLimited 7.0")
    #expect(try ask(103, world.stranger) == "ok")
    #expect(try ask(110, world.phone) == "ok")
    #expect(try ask(50, world.phone) == "ok", "a clock set back locks nobody out")
    let (phone, laptop) = (Caller(user: nil, device: "phone"), Caller(user: nil, device: "laptop"))
    #expect(try ask(200, phone) == "ok")
    #expect(try ask(200, phone) == "ok")
    #expect(try ask(200, phone) == "serviceUnavailable 10.0")
    #expect(try ask(200, laptop) == "ok", "without an account, each device counts by itself")
  }

  @Test("A throttle forgets callers whose time is over, when there are many")
  func throttleForgetsFormerCallers() {
    let rate = ServerLimits.Throttle(requests: 2, seconds: 10)
    func ask(_ throttle: inout CloudThrottle, _ device: String, _ second: Double) -> CloudError? {
      throttle.refusal(
        of: Caller(user: nil, device: device), now: Timestamp(secondsSinceReferenceDate: second),
        rate: rate)
    }
    var (busy, fresh) = (CloudThrottle(), CloudThrottle())
    for number in 0..<10_001 { #expect(ask(&busy, "\(number)", 0) == nil) }
    let differs = busy != fresh
    #expect(ask(&busy, "x", 1_000) == nil && ask(&fresh, "x", 1_000) == nil)
    let isForgetful = busy == fresh
    #expect(differs && isForgetful)
  }
}
