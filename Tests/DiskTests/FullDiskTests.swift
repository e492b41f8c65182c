import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SQLite
import SimulationSupport
import Synchronization
import Testing

/// A server whose disk is full.
@Suite("A server on a full disk")
struct FullDiskTests {
  private static func server(on disk: SimulatedDisk) throws -> LoopbackServer {
    try LoopbackServer(
      path: "/server", fileSystem: SQLiteFileSystem(disk: disk), identity: 7,
      clock: { Timestamp(secondsSinceReferenceDate: 1_000) })
  }

  private static func database(of server: LoopbackServer) -> CKDatabase {
    CKContainer(identifier: "iCloud.test", transport: server.device("phone", signedInAs: "ada"))
      .privateCloudDatabase
  }

  @Test("A full disk serves reads, refuses changes, and takes them when there is space again")
  func fullDiskServesReads() async throws {
    let disk = SimulatedDisk()
    let server = try Self.server(on: disk)
    let database = Self.database(of: server)
    let kept = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "kept"))
    kept["text"] = "before"
    try await database.save(kept)
    disk.faults.capacity = 0
    let refused = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "refused"))
    refused["text"] = String(repeating: "x", count: 100_000)
    for _ in 0..<3 {
      let error = await #expect(throws: CKError.self) { _ = try await database.save(refused) }
      #expect(error?.code == .serviceUnavailable)
      let message = error?.localizedDescription ?? ""
      #expect(message.contains("full"), "\(message)")
      let found = try await database.record(for: kept.recordID)
      #expect(found["text"] as? String == "before")
      await #expect(throws: CKError.self) { _ = try await database.record(for: refused.recordID) }
    }
    disk.faults.capacity = nil
    try await database.save(refused)
    let found = try await database.record(for: refused.recordID)
    #expect((found["text"] as? String)?.count == 100_000)
    server.close()
  }

  @Test("A full disk is reported once, with its file, and that changes are stored again once, too")
  func fullDiskIsReportedOnce() async throws {
    let disk = SimulatedDisk()
    let server = try Self.server(on: disk)
    let reports = Mutex<[String?]>([])
    server.observeStorage { failure in reports.withLock { $0.append(failure) } }
    let database = Self.database(of: server)
    func save(_ name: String) async throws {
      let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
      record["text"] = String(repeating: "x", count: 100_000)
      try await database.save(record)
    }
    try await save("kept")
    let early = reports.withLock { $0 }
    #expect(early.isEmpty, "\(early)")
    for round in 1...2 {
      disk.faults.capacity = 0
      for _ in 0..<3 {
        await #expect(throws: CKError.self) { try await save("refused") }
        // What can be read does not show that changes are stored.
        _ = try await database.record(for: CKRecord.ID(recordName: "kept"))
        try await server.checkStorage()
      }
      let failed = reports.withLock { $0 }
      #expect(failed.count == 2 * round - 1, "\(failed)")
      #expect(failed.last??.contains("the disk that holds /server is full") == true, "\(failed)")
      disk.faults.capacity = nil
      try await save("new \(round)")
      try await save("newer \(round)")
      let mended = reports.withLock { $0 }
      #expect(mended.count == 2 * round && mended.last == .some(nil), "\(mended)")
    }
    server.close()
  }

  @Test("A file on a full disk is opened for reading, and for changes once there is space")
  func fileOnFullDiskOpensForReading() async throws {
    let disk = SimulatedDisk()
    func open() throws -> (LoopbackServer, CKDatabase) {
      let server = try Self.server(on: disk)
      return (server, Self.database(of: server))
    }
    var (server, database) = try open()
    let kept = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "kept"))
    kept["text"] = String(repeating: "x", count: 100_000)
    // A file of this size is read when it is sent, outside of a transaction.
    let size = 3 * AssetContent.partBytes / 2
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("large-\(UUID().uuidString)")
    try Data(count: size).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    kept["file"] = CKAsset(fileURL: file)
    try await database.save(kept)
    disk.faults.capacity = 0
    // The log can't be copied into the file, so it stays.
    server.close()
    for _ in 0..<2 {
      (server, database) = try open()
      let found = try await database.record(for: kept.recordID)
      #expect((found["text"] as? String)?.count == 100_000)
      let url = try #require((found["file"] as? CKAsset)?.fileURL)
      #expect(try Data(contentsOf: url).count == size)
      let refused = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "refused"))
      let error = await #expect(throws: CKError.self) { _ = try await database.save(refused) }
      #expect(error?.localizedDescription.contains("free some space") == true)
      server.close()
    }
    disk.faults.capacity = nil
    (server, database) = try open()
    try await database.save(
      CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "later")))
    _ = try await database.record(for: kept.recordID)
    server.close()
  }

  @Test("A query that can't make an index on a full disk fails once, and then reads all records")
  func queryOnFullDiskNeedsNoIndex() async throws {
    let disk = SimulatedDisk()
    let server = try Self.server(on: disk)
    let phone = server.device("phone", signedInAs: "ada")
    func send(_ name: String, _ request: CloudRequest) async throws -> CloudReply {
      try await phone.send(
        CloudCall(container: "c", database: .private, requestID: name, request: request))
    }
    for start in stride(from: 0, to: 1_200, by: 400) {
      let saves = (start..<start + 400).map { number in
        RecordSave(
          Record(
            id: RecordID(name: "r\(number)", zone: .default), type: "Note",
            fields: ["n": .int64(Int64(number))]))
      }
      _ = try await send("s\(start)", .modifyRecords(ModifyRecords(save: saves)))
    }
    // A query without filters makes the index of types, which every query needs.
    _ = try await send("q", .queryRecords(QueryRecords(query: Query(recordType: "Note"))))
    disk.faults.capacity = 0
    let filter = Query.Filter(key: "n", comparator: .greaterThanOrEquals, value: .int64(1_190))
    let query = QueryRecords(query: Query(recordType: "Note", filters: [filter]))
    let error = await #expect(throws: CloudError.self) {
      _ = try await send("q1", .queryRecords(query))
    }
    #expect(error?.message.contains("full") == true)
    guard case .queried(let page) = try await send("q2", .queryRecords(query)) else {
      Issue.record("the query was answered with something else")
      return
    }
    #expect(page.records.count == 10)
    // Some commits later, with space again, the index is made.
    disk.faults.capacity = nil
    for number in 0..<256 {
      let id = RecordID(name: "later\(number)", zone: .default)
      let save = RecordSave(Record(id: id, type: "Other"))
      _ = try await send("later\(number)", .modifyRecords(ModifyRecords(save: [save])))
    }
    _ = try await send("q3", .queryRecords(query))
    server.close()
    let file = try Connection(path: "/server", fileSystem: SQLiteFileSystem(disk: disk))
    let count = try file.first("SELECT count(*) FROM field_indexes") { try $0.integer(0) }
    #expect(count == 1)
    try file.close()
  }
}
