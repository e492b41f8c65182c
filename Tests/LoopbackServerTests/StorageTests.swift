import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Records
import SQLite
import Testing

@testable import LoopbackServer

@Suite("Storages")
struct StorageTests {
  /// Proves S3.
  @Test("Memory and file storage pass the same checks", arguments: StorageCheck.all)
  func storagesPassSameChecks(_ check: StorageCheck) throws {
    try StorageConformance("memory", lifetime: .storage) {
      { identity in MemoryStorage(identity: identity) }
    }.run(check)
    let file = try TemporaryFile()
    defer { file.remove() }
    let files = StorageConformance("file", lifetime: .shared) {
      { identity in try SQLiteStorage(path: file.path, identity: identity) }
    }
    try files.run(check) { storage in
      let connection = try #require(storage as? SQLiteStorage).connection
      #expect(connection.busyStatementCount == 0)
      #expect(!connection.isInTransaction)
    }
    #expect(file.contents.count == 1)
  }

  /// Proves WS-185.
  @Test("A new account needs a name in composed form, in memory and in a file")
  func aNewAccountNeedsAComposedName() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    for server in [LoopbackServer(), try LoopbackServer(path: file.path)] {
      for _ in 0..<2 {
        let error = #expect(throws: CloudError.self) { try server.user(of: "e\u{301}") }
        #expect(error?.code == .invalidArguments)
        let device = server.device("phone", signedInAs: "e\u{301}")
        let call = CloudCall(
          container: "c", database: .private, requestID: "1", request: .fetchCurrentUser)
        await #expect(throws: CloudError.self) { _ = try await device.send(call) }
        #expect(throws: CloudError.self) { try server.controls.setQuota(1, of: "e\u{301}") }
        // Once more, when the composed name is known.
        _ = try server.user(of: "\u{E9}")
      }
      #expect(try server.accounts().map(\.name) == ["\u{E9}"])
      server.close()
    }
  }

  /// Proves S3.
  @Test("Any changes leave the same rows in memory and in a file", arguments: 1...20)
  func randomChangesLeaveSameRows(_ seed: UInt64) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    var storage = try SQLiteStorage(path: file.path, identity: 1)
    let found = try StorageSample.differences(seed: seed) {
      [$0, storage]
    } read: { step in
      if step.isMultiple(of: 10) {
        try storage.close()
        storage = try SQLiteStorage(path: file.path, identity: 2)
      }
      return [storage]
    }
    #expect(found == StorageSample.same)
    #expect(try storage.identity() == 1)
    try storage.close()
  }

  /// Proves S3.
  @Test("Two processes that write one file in turn see the same rows", arguments: 1...20)
  func alternatingWritersSeeSameRows(_ seed: UInt64) throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let both = try (1...2).map { _ in try SQLiteStorage(path: file.path, identity: 1) }
    var turns = StorageRandom(seed: seed + 100)
    let found = try StorageSample.differences(seed: seed, steps: 40) {
      [$0, turns.pick(both)]
    } read: { _ in
      both.filter { _ in turns.below(2) == 0 }
    }
    #expect(found == StorageSample.same)
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

  @Test("The index of row numbers does not grow with records that are removed")
  func removedRecordsLeaveTheIndexOfNumbers() throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let storage = try SQLiteStorage(path: file.path, identity: 1)
    try storage.commit([.putRecord(row("kept", 1, in: zoneB), in: alice)])
    for round in 0..<20 {
      let names = (0..<50).map { "r\(round)-\($0)" }
      try storage.commit(names.map { .putRecord(row($0, 2), in: alice) })
      #expect(try storage.record(RecordID(name: names[0], zone: zoneA), in: alice) != nil)
      try storage.commit([.removeRecords(of: zoneA, in: alice)])
      #expect((storage.numbers?.count ?? 0) <= 101, "round \(round)")
    }
    #expect(try storage.record(RecordID(name: "kept", zone: zoneB), in: alice) != nil)
    #expect(try storage.record(RecordID(name: "r19-0", zone: zoneA), in: alice) == nil)
    try storage.close()
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
