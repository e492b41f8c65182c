import CloudMachine
import CloudProtocol
import Records
import SQLite
import SimulationSupport
import Testing

@testable import LoopbackServer

/// A cloud in memory, which reads all records of a type, and one in a file with indexes.
final class ScannedTwins {
  let memory = MemoryStorage(identity: 1)
  var file: SQLiteStorage
  let caller: Caller
  let database: DatabaseID
  private let machine: CloudMachine
  private let path: String
  private var number = 0

  init(path: String, indexEntries: Int = 10_000, filterValues: Int = 250) throws {
    var limits = CloudLimits()
    limits.indexEntries = indexEntries
    limits.filterValues = filterValues
    machine = CloudMachine(limits: limits)
    self.path = path
    file = try SQLiteStorage(path: path, identity: 1)
    file.unindexedRecords = 0
    let user = try machine.createAccount("alice", in: memory).user
    try machine.createAccount("alice", in: file)
    caller = Caller(user: user, device: "phone")
    database = DatabaseID(
      container: "c", environment: .development, scope: .private, owner: user)
  }

  /// The answer of both, which must be the same.
  func ask(_ request: CloudRequest) throws -> Result<CloudReply, CloudError> {
    number += 1
    let call = CloudCall(
      container: "c", database: .private, requestID: "\(number)", request: request)
    let now = Timestamp(secondsSinceReferenceDate: Double(1_000 + number))
    let first = try machine.answer(call, from: caller, now: now, in: memory)
    let second = try machine.answer(call, from: caller, now: now, in: file)
    if first != second { Issue.record("request \(number): \(request)") }
    return first.result
  }

  /// The scan of a query in the file, with its first slice.
  func scan(_ query: Query, zone: ZoneID? = zoneA, limit: Int? = nil) throws -> QueryScan {
    number += 1
    let call = CloudCall(
      container: "c", database: .private, requestID: "\(number)",
      request: .queryRecords(QueryRecords(query: query, zone: zone, limit: limit)))
    let step = try file.transaction {
      try machine.begin(
        call, from: caller, now: Timestamp(secondsSinceReferenceDate: 1_000), in: file)
    }
    guard case .querying(let scan) = step else {
      throw CloudError(.internalError, "the query was not begun")
    }
    return scan
  }

  /// Runs a scan in the file to its end, with `between` before each slice after the first.
  func finish(_ scan: inout QueryScan, between: (Int) throws -> Void = { _ in }) throws -> QueryPage
  {
    var slices = 1
    while true {
      scan.examine()
      if let result = scan.result {
        guard case .queried(let page) = try result.get() else {
          throw CloudError(.internalError, "the query was answered with something else")
        }
        return page
      }
      try between(slices)
      slices += 1
      try file.transaction { try scan.read(from: file) }
    }
  }

  /// Stores records with these fields in both, without requests.
  func fill(_ count: Int, _ fields: (Int) -> Fields) throws {
    _ = try ask(.modifyZones(ModifyZones(save: [zoneA])))
    var first = Record(id: RecordID(name: "r0", zone: zoneA), type: "T")
    first.fields = fields(0)
    _ = try ask(.modifyRecords(ModifyRecords(save: [RecordSave(first)], policy: .allKeys)))
    let sequence = try memory.database(database)?.sequence ?? 0
    let changes = (1..<count).map { number in
      var record = Record(id: RecordID(name: "r\(number)", zone: zoneA), type: "T")
      record.fields = fields(number)
      return StorageChange.putRecord(
        RecordRow(
          id: record.id, type: "T", record: record, changedAt: sequence + UInt64(number),
          device: nil), in: database)
    }
    for storage in [memory, file] as [any CloudStorage] {
      try storage.transaction {
        try storage.commit(changes)
        guard var row = try storage.database(database) else { return }
        row.sequence += UInt64(count)
        try storage.commit([.putDatabase(row)])
      }
    }
  }

  /// Saves fields of a record in both.
  func save(_ name: String, _ fields: Fields) throws {
    var record = Record(id: RecordID(name: name, zone: zoneA), type: "T")
    record.fields = fields
    _ = try ask(
      .modifyRecords(ModifyRecords(save: [RecordSave(record)], policy: .allKeys)))
  }

  func forgetTombstones() throws {
    let sequence = try memory.database(database)?.sequence ?? 0
    for storage in [memory, file] as [any CloudStorage] {
      try storage.commit([.removeTombstones(of: zoneA, in: database, through: sequence)])
    }
  }

  /// Saves a record in a transaction that is rolled back.
  func failToSave(_ save: RecordSave) throws {
    struct Failure: Error {}
    var record = Record(id: save.id, type: save.type)
    record.fields["n"] = Field(.int64(7))
    #expect(throws: Failure.self) {
      try file.transaction {
        try file.commit([
          .putRecord(
            RecordRow(id: save.id, type: "T", record: record, changedAt: 1, device: nil),
            in: database)
        ])
        throw Failure()
      }
    }
  }

  func reopen() throws {
    try file.close()
    file = try SQLiteStorage(path: path, identity: 1)
    file.unindexedRecords = 0
  }

  func indexCount() throws -> Int {
    try file.connection.first("SELECT count(*) FROM field_indexes") { Int(try $0.integer(0)) } ?? 0
  }

  /// Compares every index with the records.
  func expectCurrentIndexes() throws {
    for (zone, rows) in try file.indexRows() {
      let records = try file.connection.rows(
        "SELECT name, changed_at, body, number FROM records WHERE zone = ? AND is_live = 1",
        [.integer(zone)]
      ) { (row: try file.recordRow($0, in: zoneA), number: try $0.integer(3)) }
      for row in rows {
        let expected = Set(
          records.compactMap { found, number in
            row.key(of: found.record).map { IndexEntry(key: $0, name: found.id.name, row: number) }
          })
        let stored = try file.connection.rows(
          "SELECT key, name, number FROM field_values WHERE field = ?", [.integer(row.id)]
        ) {
          IndexEntry(
            key: IndexKey(bytes: try $0.blob(0)), name: try $0.text(1), row: try $0.integer(2))
        }
        #expect(Set(stored) == expected && stored.count == expected.count, "\(row.field)")
      }
    }
  }
}
