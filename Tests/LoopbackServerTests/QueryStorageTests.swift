import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Records
import SQLite
import Synchronization
import Testing

@testable import LoopbackServer

/// The same questions to rows in memory and in a file.
@Suite("Queries on both storages")
struct QueryStorageTests {
  @Test(
    "Both storages give the same answers to random saves, deletions, queries and pages",
    arguments: 1...6)
  func storagesAnswerQueriesAlike(_ seed: UInt64) throws {
    var random = StorageRandom(seed: seed)
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path)
    _ = try twins.ask(.modifyZones(ModifyZones(save: [zoneA, zoneB])))
    let watched = QuerySubscription(
      query: Query(recordType: "T1"), zone: nil, options: [.firesOnRecordCreation, .firesOnce])
    _ = try twins.ask(
      .modifySubscriptions(
        ModifySubscriptions(save: [Subscription(id: .init("s"), kind: .query(watched))])))
    var found = 0
    for _ in 0..<60 {
      let zone = random.pick([zoneA, zoneB, .default])
      let type = random.pick(["T1", "T2"])
      let saves = try randomSaves(&random, twins, type: type, zone: zone)
      let gone = RecordID(name: "T1-\(random.below(80))", zone: zoneA)
      _ = try twins.ask(
        .modifyRecords(
          ModifyRecords(
            save: saves, delete: saves.contains { $0.id == gone } ? [] : [gone],
            policy: .allKeys, isAtomic: false)))
      let query = Query(
        recordType: type,
        filters: random.below(2) == 0
          ? [] : [.init(key: "n", comparator: .lessThan, value: .int64(3))],
        sorts: random.below(2) == 0 ? [] : [.init(key: "t", ascending: random.below(2) == 0)])
      var cursor: QueryCursor?
      repeat {
        let request = QueryRecords(
          query: query, zone: random.pick([nil, zone]), cursor: nil, limit: nil)
        _ = try twins.ask(.queryRecords(request))
        let paged = QueryRecords(
          query: query, zone: zone, cursor: cursor, limit: 1 + Int(random.below(9)))
        guard case .success(.queried(let page)) = try twins.ask(.queryRecords(paged)) else {
          throw CloudError(.internalError, "the query failed")
        }
        found += page.records.count
        for record in page.records.prefix(1) {
          guard case .asset(let asset)? = record.fields["file"]?.value else { continue }
          _ = try twins.ask(
            .downloadAsset(
              DownloadAsset(record: record.id, key: "file", checksum: asset.checksum)))
        }
        cursor = page.cursor
      } while cursor != nil
      if random.below(20) == 0 {
        _ = try twins.ask(.modifyZones(ModifyZones(delete: [zoneB])))
        _ = try twins.ask(.modifyZones(ModifyZones(save: [zoneB])))
      }
    }
    #expect(found > 100)
    let checksums = (0..<4 as Range<UInt8>).map { SHA256.hexadecimal(of: [$0]) }
    #expect(
      try StorageSample.rows(of: twins.memory, names: checksums)
        == StorageSample.rows(of: twins.file, names: checksums))
    try twins.file.close()
  }

  private func randomSaves(
    _ random: inout StorageRandom, _ twins: ScannedTwins, type: String, zone: ZoneID
  ) throws -> [RecordSave] {
    var saves: [RecordSave] = []
    for _ in 0..<random.below(12) {
      let id = RecordID(name: "\(type)-\(random.below(80))", zone: zone)
      guard !saves.contains(where: { $0.id == id }) else { continue }
      var record = Record(id: id, type: type)
      record.fields["n"] = Field(.int64(Int64(random.below(5))))
      if random.below(3) == 0 { record.fields["t"] = Field(.string("t\(random.below(5))")) }
      if random.below(4) == 0 {
        let upload = UploadAsset(
          recordType: type, key: "file", content: [UInt8(random.below(4))])
        guard case .success(.assetUploaded(let asset)) = try twins.ask(.uploadAsset(upload))
        else { throw CloudError(.internalError, "the upload failed") }
        record.fields["file"] = Field(.asset(asset))
      }
      saves.append(RecordSave(record))
    }
    return saves
  }

  @Test("A query subscription fires once for changes by another server on the same file")
  func otherServersChangesFireOnce() async throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let servers = try [LoopbackServer(path: place.path), LoopbackServer(path: place.path)]
    let phone = servers[0].device("phone", signedInAs: "alice")
    let tablet = servers[1].device("tablet", signedInAs: "alice")
    let heard = Mutex<[QueryPush]>([])
    let observation = tablet.observeSignals { signal in
      guard case .push(let push) = signal, let query = push.query else { return }
      heard.withLock { $0.append(query) }
    }
    defer { observation.stop() }
    let watched = QuerySubscription(
      query: Query(recordType: "T"), zone: nil, options: [.firesOnRecordCreation])
    _ = try await tablet.send(
      call(
        "s",
        .modifySubscriptions(
          ModifySubscriptions(save: [Subscription(id: .init("s"), kind: .query(watched))]))))
    _ = try await phone.send(call("z", .modifyZones(ModifyZones(save: [zoneA]))))
    _ = try await phone.send(saving("a"))
    try servers[1].checkForForeignChanges()
    try servers[1].checkForForeignChanges()
    #expect(
      heard.withLock { $0 } == [
        QueryPush(record: RecordID(name: "a", zone: zoneA), reason: .created)
      ])
    for server in servers { server.close() }
  }

  @Test("An administrator deploys the schema and removes indexes")
  func administratorDeploysSchemaAndIndexes() async throws {
    let server = LoopbackServer()
    let phone = server.device("phone", signedInAs: "alice")
    _ = try await phone.send(call("z", .modifyZones(ModifyZones(save: [zoneA]))))
    _ = try await phone.send(saving("a"))
    try server.controls.deploySchema(container: "c")
    let query = call("q", .queryRecords(QueryRecords(query: Query(recordType: "T"))))
    #expect(await outcome(of: query, on: phone) == "ok")
    try server.controls.setIndexes(
      of: "___recordID", recordType: "T", container: "c", queryable: false, sortable: true,
      searchable: true)
    #expect(await outcome(of: query, on: phone) == "invalidArguments")
    func production(_ type: String) async throws -> CloudError.Code? {
      let record = Record(id: RecordID(name: type, zone: .default), type: type)
      let request = CloudRequest.modifyRecords(
        ModifyRecords(save: [RecordSave(record)], policy: .allKeys))
      let reply = try await phone.send(
        CloudCall(
          container: "c", environment: .production, database: .private, requestID: type,
          request: request))
      guard case .recordsModified(let saved, _) = reply else { return nil }
      return saved.first?.error?.code
    }
    #expect(try await production("T") == nil)
    #expect(try await production("U") == .serverRejectedRequest)
    server.close()
    #expect(throws: CloudError.self) { try server.controls.deploySchema(container: "c") }
  }

  @Test("A query of one type reads the index, not the whole zone")
  func queryReadsIndexNotWholeZone() throws {
    let place = try TemporaryFile()
    defer { place.remove() }
    let storage = try SQLiteStorage(path: place.path, identity: 1)
    let database = DatabaseID(
      container: "c", environment: .development, scope: .private, owner: UserID("_a"))
    let record = Record(id: RecordID(name: "r", zone: .default), type: "T")
    try storage.commit([
      .putRecord(
        RecordRow(id: record.id, type: "T", record: record, changedAt: 1, device: nil), in: database
      )
    ])
    // The index is made when somebody asks, and a file that has it is opened again.
    let indexes = "SELECT count(*) FROM sqlite_schema WHERE name = 'records_by_type'"
    #expect(try storage.connection.first(indexes) { try $0.integer(0) } == 0)
    let found = try storage.records(
      ofType: "T", in: .default, of: database, after: nil, limit: 5)
    #expect(found.map(\.id.name) == ["r"])
    try storage.close()
    let again = try SQLiteStorage(path: place.path, identity: 1)
    let plan = try again.connection.rows(
      """
      EXPLAIN QUERY PLAN SELECT name, changed_at, body FROM records
      WHERE zone = 1 AND type = 'T' AND is_live = 1 AND name > 'a' ORDER BY name LIMIT 5
      """
    ) { try $0.text(3) }
    #expect(
      plan.count == 1
        && plan.first?.contains("records_by_type (zone=? AND type=? AND name>?)") == true, "\(plan)"
    )
    try again.close()
  }
}
