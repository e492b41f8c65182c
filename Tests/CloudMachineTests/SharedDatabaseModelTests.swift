import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing
import VerificationSupport

/// Random lives of a shared zone: whoever visits sees what a slow and obvious oracle says, and
/// never a name of anything else.
///
/// A failure names its seed; `SharingRun(seed:)` replays it.
struct SharedDatabaseModelTests {
  /// Proves CS-169, I1, I9, S1, SC-158.
  @Test("In 100 seeds every replica built from feeds matches the oracle, and nothing leaks")
  func feedReplicasMatchVisibilityOracle() throws {
    var counts = [0, 0, 0, 0]
    for seed in 0..<100 as Range<UInt64> {
      var run = try SharingRun(seed: seed)
      let fault = try run.play(steps: 100)
      #expect(fault == nil, "seed \(seed)")
      if fault != nil { break }
      for (index, count) in [run.seen, run.changes, run.visits, run.joins].enumerated() {
        counts[index] += count
      }
    }
    #expect(
      counts[0] > 3_000 && counts[1] > 1_500 && counts[2] > 150 && counts[3] > 300,
      "records seen, changes, visitors' changes, joins: \(counts)")
  }

  /// Proves PB-2.
  @Test("A planted bug is found: feeds that do not report deletions")
  func feedWithoutDeletionsIsDetected() throws {
    let found = try (0..<20 as Range<UInt64>).contains { seed in
      var run = try SharingRun(seed: seed, bugs: [.forgetTombstone])
      return try run.play(steps: 100) != nil
    }
    #expect(found)
  }
}

/// One seed's life of a zone that is shared in parts.
struct SharingRun {
  let world: World
  private var generator: SeededGenerator
  private var replicas: [VisitorReplica]
  private var owner: Mirror
  private let users: [UserID]
  private let guests = ["bob", "carol"]
  private var entitled: [UserID: Set<String>] = [:]
  /// How many records visitors held when they were looked at.
  private(set) var seen = 0
  /// How many requests changed something.
  private(set) var changes = 0
  /// How many of them were visitors'.
  private(set) var visits = 0
  /// How often somebody joined.
  private(set) var joins = 0

  init(seed: UInt64, bugs: [PlantedBug] = []) throws {
    world = try World()
    let carol = try world.machine.createAccount("carol", in: world.storage).user
    world.bugs = bugs
    generator = SeededGenerator(seed: seed)
    users = [world.bob, carol]
    replicas = [
      VisitorReplica(world.bob, "b1"), VisitorReplica(world.bob, "b2"), VisitorReplica(carol, "c"),
    ]
    owner = Mirror(world.laptop)
  }

  /// Plays, and says the first thing that was wrong.
  mutating func play(steps: Int) throws -> String? {
    for step in 0..<steps {
      let fault = try play() ?? note() ?? leak()
      if let fault { return "step \(step): \(fault)" }
    }
    for index in replicas.indices {
      if let fault = try drain(index) { return "at the end: \(fault)" }
    }
    return try drainOwner() ?? leak()
  }

  /// Notes what each visitor may see now.
  private mutating func note() throws -> String? {
    let oracle = try VisibilityOracle(world)
    for user in users { entitled[user, default: []].formUnion(oracle.visible(to: user)) }
    for (name, record) in oracle.all where record.sharing == nil {
      guard record.share?.name == oracle.share(of: name) else {
        return "\(name) says it is in \(String(describing: record.share?.name))"
      }
    }
    return nil
  }

  private func leak() -> String? {
    for replica in replicas {
      let extra = replica.told.subtracting(entitled[replica.user] ?? [])
      if let name = extra.min() { return "\(replica.caller.device) learned of \(name)" }
    }
    return nil
  }

  private mutating func play() throws -> String? {
    switch generator.below(24) {
    case 0..<5: return try ask(ownerChange(), as: world.phone, in: .private)
    case 5..<7: return try ask(makeShare(), as: world.phone, in: .private)
    case 7..<8: return try ask(changeShare(), as: world.phone, in: .private)
    case 8..<12: return try join()
    case 12..<16: return try visitorChange()
    case 16..<19:
      let index = generator.below(replicas.count)
      _ = try replicas[index].step(world, limit: 1 + generator.below(4))
    case 19..<21: return try drain(generator.below(replicas.count))
    case 21: return try drainOwner()
    case 22:
      _ =
        generator.once(in: 2)
        ? try world.machine.trimTombstones(
          of: World.zone, in: world.database, now: world.now, storage: world.storage)
        : try world.machine.expireTokens(
          of: World.zone, in: world.database, now: world.now, storage: world.storage)
    default:
      guard generator.once(in: 16) else { return nil }
      _ = try world.say(.modifyZones(ModifyZones(delete: [World.zone])))
      _ = try world.say(.modifyZones(ModifyZones(save: [World.zone])))
    }
    return nil
  }

  private mutating func ask(
    _ request: ModifyRecords, as caller: Caller, in scope: DatabaseScope
  ) throws -> String? {
    let before = try world.storage.database(world.database)?.sequence
    let answer = try world.ask(.modifyRecords(request), as: caller, in: scope)
    guard case .success(let reply) = answer.result else { return answer.result.words }
    if try world.storage.database(world.database)?.sequence != before {
      changes += 1
      if scope == .shared { visits += 1 }
    }
    if scope == .private { return nil }
    // What the visitor named is no news to it.
    guard let user = caller.user else { throw Unexpected() }
    let oracle = try VisibilityOracle(world)
    let known = (entitled[user] ?? []).union(oracle.visible(to: user))
      .union(request.save.map(\.id.name)).union(request.delete.map(\.name))
    let extra = Set(reply.names).subtracting(known)
    return extra.isEmpty ? nil : "an answer tells \(caller.device) of \(extra.sorted())"
  }

  private mutating func someName() -> String { "r\(generator.below(12))" }

  private mutating func save(_ name: String, in zone: ZoneID) throws -> RecordSave {
    var save = fresh(name, ["n": .int64(Int64(generator.below(100)))], zone: zone)
    if !generator.once(in: 3) {
      save.parent = .set(generator.once(in: 8) ? nil : id(someName(), zone))
    }
    return save
  }

  private mutating func ownerChange() throws -> ModifyRecords {
    var request = ModifyRecords(policy: .changedKeys, isAtomic: generator.once(in: 2))
    var names = (0..<12).map { "r\($0)" }
    names.shuffle(using: &generator)
    for _ in 0...generator.below(3) {
      let save = try save(names.removeLast(), in: World.zone)
      request.save.append(save)
    }
    for _ in 0..<generator.below(2) { request.delete.append(id(names.removeLast())) }
    return request
  }

  private mutating func makeShare() throws -> ModifyRecords {
    if generator.once(in: 10) {
      return ModifyRecords(save: [
        world.share(ShareDetails.zoneWideName, of: nil, [world.guest("bob")], open: .none)
      ])
    }
    let root = someName()
    var request = ModifyRecords(
      save: [world.share("S\(generator.below(4))", of: root, guests.map { world.guest($0) })],
      policy: .changedKeys)
    let save = try save(root, in: World.zone)
    request.save.append(save)
    return request
  }

  private mutating func changeShare() throws -> ModifyRecords {
    let oracle = try VisibilityOracle(world)
    let shares = oracle.all.filter { $0.value.sharing != nil }.map(\.key).sorted()
    guard let name = shares.randomElement(using: &generator) else { return ModifyRecords() }
    if generator.once(in: 4) { return ModifyRecords(delete: [id(name)]) }
    let kind = generator.below(6)
    let person = world.guest(guests[generator.below(2)], kind == 5 ? .readOnly : .readWrite)
    return ModifyRecords(
      save: [
        try world.reshare(name) { details in
          details.participants.removeAll { $0.id == person.id }
          switch kind {
          case 0: break
          case 1:
            details.publicPermission = details.publicPermission == .none ? .readWrite : .none
          default: details.participants.append(person)
          }
        }
      ])
  }

  private mutating func join() throws -> String? {
    let oracle = try VisibilityOracle(world)
    let urls = oracle.all.values.compactMap(\.sharing?.url).sorted()
    guard let url = urls.randomElement(using: &generator) else { return nil }
    let caller = replicas[generator.below(replicas.count)].caller
    if try world.accept(url: url, as: caller) == "ok" { joins += 1 }
    return nil
  }

  private mutating func visitorChange() throws -> String? {
    let index = generator.below(replicas.count)
    if replicas[index].records.isEmpty { return try drain(index) }
    let replica = replicas[index]
    let zone = world.visited
    if generator.once(in: 16) {
      guard let share = replica.records.values.filter({ $0.sharing != nil }).map(\.id).min()
      else { return nil }
      return try ask(ModifyRecords(delete: [share]), as: replica.caller, in: .shared)
    }
    if generator.once(in: 40) {
      _ = try world.say(.modifyZones(ModifyZones(delete: [zone])), as: replica.caller, in: .shared)
      return nil
    }
    var request = ModifyRecords(
      policy: generator.once(in: 3) ? .ifServerRecordUnchanged : .changedKeys,
      isAtomic: generator.once(in: 2))
    let name = someName()
    var save = try save(name, in: zone)
    let parents = replica.records.values.filter { $0.sharing == nil }.map(\.id).sorted()
    if let parent = parents.randomElement(using: &generator), !generator.once(in: 4) {
      save.parent = .set(parent)
    }
    save.changeTag = replica.records[name]?.changeTag
    request.save.append(save)
    let other = someName()
    if generator.once(in: 3), other != name { request.delete.append(id(other, zone)) }
    return try ask(request, as: replica.caller, in: .shared)
  }

  private mutating func drain(_ index: Int) throws -> String? {
    for _ in 0..<300 {
      if try replicas[index].step(world, limit: 1 + generator.below(4)) { continue }
      return try compare(replicas[index])
    }
    return "the feed does not end"
  }

  private mutating func compare(_ replica: VisitorReplica) throws -> String? {
    let oracle = try VisibilityOracle(world)
    let visible = oracle.visible(to: replica.user)
    let device = replica.caller.device
    guard Set(replica.records.keys) == visible else {
      return "\(device) holds \(replica.records.keys.sorted()), not \(visible.sorted())"
    }
    for (name, record) in replica.records {
      guard let stored = oracle.all[name] else { return "\(device): \(name) is gone" }
      if record.changeTag != stored.changeTag || record.fields != stored.fields
        || record.share?.name != stored.share?.name
        || record.sharing?.participants != stored.sharing?.participants
      {
        return "\(device) holds another \(name)"
      }
    }
    seen += visible.count
    return nil
  }

  private mutating func drainOwner() throws -> String? {
    for _ in 0..<300 {
      switch try owner.step(world, limit: 1 + generator.below(6)) {
      case .failure(let error) where error.code == .changeTokenExpired: continue
      case .failure(let error): return "the owner's fetch failed: \(error)"
      case .success(true): continue
      case .success(false):
        let held = owner.records.mapValues { record in
          var record = record
          if record.sharing != nil { record.sharing?.currentParticipant = nil }
          return record
        }
        let stored = try VisibilityOracle(world).all.mapValues { $0.answered(to: world.alice) }
        return held == stored ? nil : "the owner's differs"
      }
    }
    return "the owner's feed does not end"
  }
}
