import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing

@testable import LoopbackServer

@Suite("Shares on every storage")
struct ShareStorageTests {
  @Test("The same requests get the same answers from memory and from a file", arguments: 1...8)
  func sharesAnswerAlikeInMemoryAndFile(_ seed: UInt64) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let secret = StorageSecret(first: 1, second: 2)
    let memory = MemoryStorage(identity: 7, secret: secret)
    let file = try SQLiteStorage(path: folder.path("cloud.db"), identity: 7, secret: secret)
    let machine = CloudMachine()
    var life = SharedLife(seed: seed)
    for step in 0..<300 {
      let (call, caller) = life.next()
      let now = Timestamp(secondsSinceReferenceDate: Double(step))
      var answers: [CloudAnswer] = []
      for storage in [memory, file] as [any CloudStorage] {
        for name in SharedLife.people { _ = try machine.createAccount(name, in: storage) }
        let user = try storage.account(named: caller)?.user
        answers.append(
          try machine.answer(
            call, from: Caller(user: user, device: caller), now: now, in: storage))
      }
      #expect(answers[0] == answers[1], "seed \(seed), step \(step): \(call.request)")
      if answers[0] != answers[1] { break }
      life.take(answers[0], of: call, by: caller)
    }
    #expect(life.seen > 10, "visitors must see something")
    try file.close()
  }

  @Test(
    "Two servers on the same data see and push each other's shares once",
    arguments: SharedData.allCases)
  func shareOnOneServerReachesOther(_ kind: SharedData) async throws {
    let data = try kind.make()
    let servers = try (0..<2).map { _ in try data.open() }
    let services = servers.map { LoopbackService($0) }
    let phone = Visitor(services[0], "phone", "alice")
    let other = Visitor(services[1], "other", "bob")
    try servers[0].controls.setPerson(of: "bob", email: "bob@mail.example", givenName: "Bob")
    _ = await phone.make(notes)
    var share = Record(id: noteID("S"), type: ShareDetails.recordType)
    share.sharing = ShareDetails(
      root: noteID("root"),
      participants: [
        ShareParticipant(id: "b", identity: UserIdentity(lookup: .email("bob@mail.example")))
      ])
    #expect(await phone.save([share, note("root")]) == "+S +root")
    let stored = try #require(await phone.read(noteID("S"))?.sharing)
    #expect(stored.participants.last?.identity.givenName == "Bob")
    let url = try #require(stored.url)
    let watch = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    // The other server cannot tell which types changed in the owner's zone.
    let typed = Subscription(id: SubscriptionID("typed"), kind: .database(recordType: "Note"))
    _ = await other.tell(
      .modifySubscriptions(ModifySubscriptions(save: [watch, typed])), database: .shared)
    #expect(await other.tell(.acceptShares([url]), database: .shared) == "+\(url)")
    _ = (services[0].takePushes(), services[1].takePushes())
    #expect(try !servers[1].checkForForeignChanges(), "its own changes are no news")
    var root = try #require(await phone.read(noteID("root")))
    root.fields["text"] = Field(.string("changed"))
    #expect(await phone.save([root]) == "+root")
    #expect(services[1].takePushes() == [])
    #expect(try servers[1].checkForForeignChanges())
    #expect(services[1].takePushes() == ["other all -", "other typed -"])
    _ = services[0].takePushes()
    try servers[1].controls.eraseData(of: "alice", container: containerID)
    #expect(services[1].takePushes() == ["other all -"])
    _ = await Visitor(services[0], "phone", "alice").make(notes)
    _ = try servers[1].checkForForeignChanges()
    #expect(services[1].takePushes() == [], "told once")
    #expect(await other.tell(.fetchZones(nil), database: .shared) == "")
    for server in servers { server.close() }
    #expect(data.leftOver() == [])
  }
}

/// Random requests of three people about one zone.
private struct SharedLife {
  static let people = ["alice", "bob", "carol"]

  private var random: Random
  private var requests = 0
  private var alice: UserID?
  private var url: String?
  private var share: Record?
  private var tokens: [String: ChangeToken] = [:]
  /// The number of records that participants received.
  private(set) var seen = 0

  /// A small generator, so that a seed means the same everywhere.
  private struct Random {
    var state: UInt64

    mutating func below(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
  }

  init(seed: UInt64) { random = Random(state: seed &* 0x9e37_79b9_7f4a_7c15 | 1) }

  mutating func next() -> (CloudCall, String) {
    requests += 1
    let zone = ZoneID(name: notes.name, owner: alice?.rawValue ?? "nobody")
    let isOwner = random.below(2) == 0 || requests < 3
    let person = isOwner ? "alice" : ["bob", "carol"][Int(random.below(2))]
    let request: CloudRequest
    if requests == 1 {
      request = .modifyZones(ModifyZones(save: [notes]))
    } else if requests == 2 {
      request = .fetchCurrentUser
    } else {
      request = isOwner ? ownerRequest() : visitorRequest(person, zone)
    }
    return (
      CloudCall(
        container: containerID, database: isOwner ? .private : .shared,
        requestID: "r\(requests)", request: request), person
    )
  }

  private mutating func ownerRequest() -> CloudRequest {
    switch random.below(8) {
    case 0...3: return .modifyRecords(change(in: notes))
    case 4,
      5 where share == nil || random.below(5) == 0:
      var record = share ?? Record(id: noteID("S"), type: ShareDetails.recordType)
      let people = ["bob", "carol"].filter { _ in random.below(4) > 0 }
      record.sharing = ShareDetails(
        root: record.sharing?.root ?? noteID("n\(random.below(6))"),
        participants: people.map {
          ShareParticipant(
            id: $0, identity: UserIdentity(lookup: .email("\($0)@example.com")),
            permission: random.below(3) == 0 ? .readOnly : .readWrite)
        })
      var saves = [RecordSave(record)]
      if share == nil, let root = record.sharing?.root {
        saves.append(RecordSave(id: root, type: "Note", changes: []))
      }
      return .modifyRecords(ModifyRecords(save: saves, policy: .changedKeys))
    case 6 where random.below(8) == 0: return .modifyRecords(ModifyRecords(delete: [noteID("S")]))
    default: return .fetchZoneChanges(FetchZoneChanges(zone: notes, since: tokens["alice"]))
    }
  }

  private mutating func visitorRequest(_ person: String, _ zone: ZoneID) -> CloudRequest {
    switch random.below(9) {
    case 0...2: return .acceptShares([url ?? "none"])
    case 3, 4: return .modifyRecords(change(in: zone))
    case 5: return .fetchDatabaseChanges(FetchDatabaseChanges(since: nil))
    case 6 where random.below(8) == 0:
      return .modifyRecords(ModifyRecords(delete: [RecordID(name: "S", zone: zone)]))
    case 7:
      return .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: zone))
    default:
      return .fetchZoneChanges(
        FetchZoneChanges(zone: zone, since: tokens[person], limit: 1 + Int(random.below(4))))
    }
  }

  private mutating func change(in zone: ZoneID) -> ModifyRecords {
    var save = RecordSave(
      id: RecordID(name: "n\(random.below(6))", zone: zone), type: "Note",
      changes: [.init(key: "text", field: Field(.string("\(requests)")))])
    if random.below(2) == 0 {
      save.parent = .set(RecordID(name: "n\(random.below(6))", zone: zone))
    }
    var request = ModifyRecords(save: [save], policy: .changedKeys)
    let gone = RecordID(name: "n\(random.below(6))", zone: zone)
    if random.below(4) == 0, gone != save.id { request.delete = [gone] }
    return request
  }

  /// Learns from an answer what later requests need.
  mutating func take(_ answer: CloudAnswer, of call: CloudCall, by person: String) {
    switch answer.result {
    case .success(.currentUser(let user)): alice = user
    case .success(.recordsModified(let saved, let deleted)) where person == "alice":
      for record in saved.compactMap(\.value) where record.sharing != nil {
        share = record
        url = record.sharing?.url
      }
      let conflict = saved.compactMap { $0.error?.serverRecord }.first { $0.sharing != nil }
      if let conflict { share = conflict }
      let isGone = deleted.contains { $0.id == noteID("S") && $0.error == nil }
      if isGone || saved.contains(where: { $0.error?.code == .unknownItem }) { share = nil }
    case .success(.zoneChanges(let page)):
      tokens[person] = page.token
      if person != "alice" { seen += page.modified.count }
    case .failure: tokens[person] = nil
    case .success: break
    }
  }
}
