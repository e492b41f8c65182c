import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import SQLite
import SimulationSupport
import Testing

/// A server whose disk is full.
@Suite("A server on a full disk")
struct FullDiskTests {
  @Test("A full disk serves reads, refuses changes, and takes them when there is space again")
  func fullDiskServesReads() async throws {
    let disk = SimulatedDisk()
    let server = try LoopbackServer(
      path: "/server", fileSystem: SQLiteFileSystem(disk: disk), identity: 7,
      clock: { Timestamp(secondsSinceReferenceDate: 1_000) })
    let container = CKContainer(
      identifier: "iCloud.test", transport: server.device("phone", signedInAs: "ada"))
    let database = container.privateCloudDatabase
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

  @Test("A file on a full disk is opened for reading, and for changes once there is space")
  func fileOnFullDiskOpensForReading() async throws {
    let disk = SimulatedDisk()
    func open() throws -> (LoopbackServer, CKDatabase) {
      let server = try LoopbackServer(
        path: "/server", fileSystem: SQLiteFileSystem(disk: disk), identity: 7,
        clock: { Timestamp(secondsSinceReferenceDate: 1_000) })
      let container = CKContainer(
        identifier: "iCloud.test", transport: server.device("phone", signedInAs: "ada"))
      return (server, container.privateCloudDatabase)
    }
    var (server, database) = try open()
    let kept = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "kept"))
    kept["text"] = String(repeating: "x", count: 100_000)
    try await database.save(kept)
    disk.faults.capacity = 0
    // The log can't be copied into the file, so it stays.
    server.close()
    for _ in 0..<2 {
      (server, database) = try open()
      let found = try await database.record(for: kept.recordID)
      #expect((found["text"] as? String)?.count == 100_000)
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
}
