import CloudMachine
import CloudProtocol
import Records
import SQLite
import Testing

@testable import LoopbackServer

@Suite("Storages")
struct StorageTests {
  /// Proves S3.
  @Test("Memory and file storage pass the same checks", arguments: StorageCheck.all)
  func storagesPassSameChecks(_ check: StorageCheck) throws {
    let identity: UInt64 = 1 << 63 + 9
    let memory = try check.body(MemoryStorage(identity: identity))
    #expect(memory.found == memory.expected, "in memory")
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: identity)
    let found = try check.body(storage)
    #expect(found.found == found.expected, "in a file")
    #expect(storage.connection.busyStatementCount == 0)
    #expect(!storage.connection.isInTransaction)
    try storage.close()
    #expect(file.contents.count == 1)
  }

  /// Proves S3.
  @Test("Any changes leave the same rows in memory and in a file", arguments: 1...20)
  func randomChangesLeaveSameRows(_ seed: UInt64) throws {
    var random = Lehmer(seed: seed)
    let file = try TemporaryFile()
    defer { file.remove() }
    let memory = MemoryStorage(identity: 1)
    var storage = try SQLiteStorage(path: file.path, identity: 1)
    let names = (1...6).map { "n\($0)" }
    var sequence: UInt64 = 0
    for step in 1...30 {
      change([memory, storage], &random, names: names, &sequence)
      if step % 10 == 0 {
        try storage.close()
        storage = try SQLiteStorage(path: file.path, identity: 2)
      }
      let (expected, found) = (try dump(memory, names: names), try dump(storage, names: names))
      guard expected == found else {
        let at = zip(expected, found).first { $0 != $1 }
        Issue.record("seed \(seed), step \(step): \(String(describing: at))")
        break
      }
    }
    #expect(try storage.identity() == 1)
    try storage.close()
  }

  /// Gives all storages the same few changes as one transaction, which now and then is undone.
  private func change(
    _ storages: [any CloudStorage], _ random: inout Lehmer, names: [String],
    _ sequence: inout UInt64
  ) {
    let changes = (0..<random.below(6)).map { _ in
      randomChange(&random, names: names, &sequence)
    }
    let fails = random.below(5) == 0
    for storage in storages {
      try? storage.transaction {
        try storage.commit(changes)
        if fails { throw ByteFormatError(offset: 0, reason: "stop") }
      }
    }
  }

  /// Proves S3.
  @Test("Two processes that write one file in turn see the same rows", arguments: 1...20)
  func alternatingWritersSeeSameRows(_ seed: UInt64) throws {
    var random = Lehmer(seed: seed)
    let file = try TemporaryFile()
    defer { file.remove() }
    let memory = MemoryStorage(identity: 1)
    let both = [
      try SQLiteStorage(path: file.path, identity: 1),
      try SQLiteStorage(path: file.path, identity: 1),
    ]
    let names = (1...6).map { "n\($0)" }
    var sequence: UInt64 = 0
    for step in 1...40 {
      change([memory, both[Int(random.below(2))]], &random, names: names, &sequence)
      let expected = try dump(memory, names: names)
      for (index, storage) in both.enumerated() where random.below(2) == 0 {
        #expect(
          try dump(storage, names: names) == expected, "seed \(seed), step \(step), \(index)")
      }
    }
    for storage in both { try storage.close() }
  }

  @Test("A row number is given once, and an undone row is not taken for a record")
  func rowNumbersAreNotReused() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    let other = try SQLiteStorage(path: file.path, identity: 1)
    func found(_ name: String, _ storage: SQLiteStorage) throws -> UInt64? {
      try storage.record(RecordID(name: name, zone: zoneA), in: alice)?.changedAt
    }
    try storage.commit([.putRecord(row("a", 1), in: alice)])
    #expect(try found("a", other) == 1)
    // The other process takes the last row away and puts another name into its place.
    try other.commit([.removeRecords(of: zoneA, in: alice), .putRecord(row("b", 2), in: alice)])
    #expect(try found("a", storage) == nil)
    #expect(try found("b", storage) == 2)
    try storage.commit([.putRecord(row("b", 3), in: alice)])
    #expect(try found("b", other) == 3)
    // A transaction that looks for what it took away, and is undone.
    try? storage.transaction {
      try storage.commit([
        .removeRecords(of: zoneA, in: alice), .putRecord(row("c", 4), in: alice),
      ])
      #expect(try found("b", storage) == nil)
      throw ByteFormatError(offset: 0, reason: "stop")
    }
    #expect(try found("b", storage) == 3)
    #expect(try found("c", storage) == nil)
    try other.commit([.putRecord(row("d", 5), in: alice)])
    #expect(try found("d", storage) == 5)
    try storage.commit([.putRecord(row("d", 6), in: alice), .putRecord(row("c", 7), in: alice)])
    let rows = try other.recordChanges(of: zoneA, in: alice, after: 0, limit: 9)
    #expect(rows.map(\.id.name) == ["b", "d", "c"])
    for each in [storage, other] { try each.close() }
  }

  @Test("A hash shared with a row of another name or zone finds and changes nothing there")
  func sharedHashTouchesNoOtherRow() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    let others = [row("b", 1), row("a", 2, in: zoneB)]
    try storage.commit(others.map { .putRecord($0, in: alice) })
    let wanted = RecordID(name: "a", zone: zoneA)
    #expect(try storage.record(wanted, in: alice) == nil)
    let zone = try #require(try storage.number(of: zoneA, in: alice))
    let hash = RecordNumbers.Hash(zone: zone, name: "a")
    let rows = try storage.connection.rows("SELECT number FROM records") { try $0.integer(0) }
    for number in rows { storage.numbers?.add(number, hash) }
    #expect(storage.numbers?.candidates(hash).count == 2)
    #expect(try storage.record(wanted, in: alice) == nil)
    try storage.commit([.putRecord(row("a", 3), in: alice)])
    #expect(try storage.record(wanted, in: alice) == row("a", 3))
    for other in others { #expect(try storage.record(other.id, in: alice) == other) }
    try storage.close()
  }

  @Test("A number is found by its name, the latest first, also when names share a hash")
  func recordNumbersAreFoundByName() {
    func hash(_ number: Int, zone: Int64 = 1) -> RecordNumbers.Hash {
      RecordNumbers.Hash(zone: zone, name: "n\(number)")
    }
    var numbers = RecordNumbers()
    for number in 1...1_000 { numbers.add(Int64(number), hash(number % 500)) }
    #expect(numbers.candidates(hash(7)) == [507, 7])
    #expect(numbers.candidates(hash(7, zone: 2)) == [])
    #expect(numbers.last == 1_000)
    numbers.add(7, hash(7))
    #expect(Set(numbers.candidates(hash(7))) == [7, 507])
  }

  @Test("When an inner transaction throws, the outer one is undone, even if it goes on")
  func innerFailureUndoesOuterTransaction() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    #expect(throws: ServerFileError.self) {
      try storage.transaction {
        try? storage.transaction {
          try storage.commit([.putRecord(row("undone", 1, in: zoneA), in: bob)])
          throw ByteFormatError(offset: 0, reason: "stop")
        }
        try storage.commit([.putRecord(row("undone too", 2, in: zoneA), in: bob)])
      }
    }
    try storage.commit([
      .putRecord(row("first", 1, in: zoneB), in: alice),
      .putRecord(row("kept", 2, in: zoneA), in: bob),
    ])
    for (zone, database, names) in [(zoneA, bob, ["kept"]), (zoneB, alice, ["first"])] {
      let rows = try storage.recordChanges(of: zone, in: database, after: 0, limit: 9)
      #expect(rows.map(\.id.name) == names)
    }
    try storage.close()
  }

  @Test("Every answer survives its binary form")
  func repliesSurviveBinaryForm() throws {
    let error = CloudError(
      .serverRecordChanged, "m", retryAfter: 0.5, serverRecord: row("a", 1).record,
      userDidResetEncryptedData: true)
    let id = RecordID(name: "a", zone: zoneA)
    let record = try #require(row("a", 1).record)
    let zone = Zone(id: zoneA, capabilities: .custom, share: id)
    let subscription = Subscription(id: SubscriptionID("s"), kind: .database(recordType: "T"))
    let replies: [CloudReply] = [
      .currentUser(UserID("u")),
      .databaseChanges(
        DatabaseChangesPage(
          modified: [zoneA], deleted: [ZoneDeletion(zone: zoneB, reason: .purged)],
          token: ChangeToken(bytes: [1]), moreComing: true)),
      .zoneChanges(
        ZoneChangesPage(
          zone: zoneA, modified: [record], deleted: [RecordDeletion(id: id, type: "T")],
          token: ChangeToken(bytes: []), moreComing: false)),
      .zones([.init(id: zoneA, .success(zone)), .init(id: zoneB, .failure(error))]),
      .zonesModified(
        saved: [.init(id: zoneA, .success(zone))], deleted: [.init(id: zoneB, .success(Done()))]),
      .records([.init(id: id, .success(record)), .init(id: id, .failure(error))]),
      .recordsModified(
        saved: [.init(id: id, .failure(error))],
        deleted: [.init(id: id, .success(Done())), .init(id: id, .failure(error))]),
      .subscriptions([.init(id: subscription.id, .success(subscription))]),
      .subscriptionsModified(
        saved: [.init(id: subscription.id, .success(subscription))],
        deleted: [.init(id: subscription.id, .failure(error))]),
      .queried(QueryPage(records: [record], cursor: QueryCursor(bytes: [1, 2]))),
      .queried(QueryPage(records: [], cursor: nil)),
      .assetUploaded(Asset(checksum: "c", size: 3, receipt: "r")), .assetContent([1, 2, 3]),
    ]
    for reply in replies {
      let bytes = ChecksummedBytes.encode { $0.write(reply) }
      func open(_ bytes: [UInt8]) throws(ByteFormatError) -> CloudReply {
        try ChecksummedBytes.decode(bytes) { (reader) throws(ByteFormatError) in try reader.reply()
        }
      }
      #expect(try open(bytes) == reply)
      // Every damage is seen, and none traps - also by the reader alone, without the seal.
      for index in bytes.indices {
        var damaged = bytes
        damaged[index] ^= 0x55
        #expect(throws: ByteFormatError.self) { try open(damaged) }
        var reader = ByteReader(damaged)
        _ = try? reader.reply()
        #expect(throws: ByteFormatError.self) { try open(Array(bytes[..<index])) }
      }
    }
  }
}

/// A small generator, so that a seed means the same everywhere.
struct Lehmer {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  /// A number from 0 up to `bound`, that one excluded.
  mutating func below(_ bound: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % bound
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int(below(UInt64(elements.count)))]
  }
}

func randomChange(
  _ random: inout Lehmer, names: [String], _ sequence: inout UInt64
) -> StorageChange {
  let database = random.pick([alice, bob, everyone])
  let zone = random.pick([zoneA, zoneB])
  let name = random.pick(names)
  sequence += 1
  switch random.below(16) {
  case 0:
    let user = random.pick(["_alice", "_bob"])
    return .putAccount(AccountRow(name: user, user: UserID(user), quota: Int(sequence)))
  case 1: return .putDatabase(DatabaseRow(id: database, incarnation: 1, sequence: sequence))
  case 2, 3:
    return .putZone(
      ZoneRow(
        id: zone, deletion: random.pick([nil, .deleted]), incarnation: sequence,
        changedAt: sequence), in: database)
  case 4: return .removeZone(zone, in: database)
  case 5: return .removeRecords(of: zone, in: database)
  case 6: return .removeTombstones(of: zone, in: database, through: random.below(sequence + 1))
  case 7: return .putRecord(tombstone(name, sequence, in: zone), in: database)
  case 8:
    let subscription = Subscription(
      id: SubscriptionID(name), kind: .zone(zone, recordType: random.pick([nil, "T"])))
    return random.below(3) == 0
      ? .removeSubscription(subscription.id, in: database)
      : .putSubscription(subscription, in: database)
  case 9:
    let key = ReceiptKey(
      user: UserID(random.pick(["_alice", "_bob"])), device: random.pick(["phone", "tablet"]),
      requestID: name)
    return .putReceipt(Receipt(key: key, reply: .currentUser(key.user)), keeping: 3)
  case 10:
    return random.below(2) == 0
      ? .putUpload(
        upload(name, random.pick(names), at: Double(sequence)), content: [UInt8(random.below(9))])
      : .removeUpload(name)
  case 11:
    return .putRecord(
      holder(name, sequence, (0..<random.below(3)).map { _ in random.pick(names) }), in: database)
  case 12:
    let environment = random.pick([CloudEnvironment.development, .production])
    if random.below(3) == 0 {
      return .putSchema(
        SchemaRow(container: "c", environment: environment, isClosed: random.below(2) == 0))
    }
    return .putRecordType(
      RecordTypeRow(
        id: RecordTypeID(container: "c", environment: environment, name: name),
        fields: [FieldRow(key: random.pick(names), shape: FieldShape(kind: .int64))]))
  default:
    return .putRecord(
      row(
        name, sequence, in: zone, parent: random.pick([nil] + names.map { $0 }),
        owner: random.pick([nil] + names.map { $0 })), in: database)
  }
}
