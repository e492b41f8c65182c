import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// A whole number that is larger than a field can hold: kept on the device, refused at the save.
@Suite("Numbers above Int64.max", .timeLimit(.minutes(20)))
struct OversizedNumberTests {
  private static var values: [any CKRecordValueProtocol] {
    [
      UInt64.max, UInt(Int64.max) + 1, [UInt64.max], [UInt64(1), UInt64.max],
      NSNumber(value: UInt64.max), NSArray(array: [NSNumber(value: UInt64.max)]),
    ]
  }

  private func database(_ server: LoopbackServer) -> CKDatabase {
    CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice")
    ).privateCloudDatabase
  }

  /// Proves CS-184.
  @Test func aNumberAboveTheLargestIsRefusedWithTheFieldsNameAndReadsBackAsItWasSet()
    async throws
  {
    let server = LoopbackServer()
    let database = database(server)
    for value in Self.values {
      for isEncrypted in [false, true] {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
        let fields: any CKRecordKeyValueSetting
        if isEncrypted { fields = record.encryptedValues } else { fields = record }
        fields.setObject(value, forKey: "amount")
        fields.setObject(1, forKey: "other")
        #expect(fields.allKeys() == ["amount", "other"])
        #expect(record.map(\.0) == (isEncrypted ? [] : ["amount", "other"]))
        #expect(record.changedKeys() == ["amount", "other"])
        let read = fields.object(forKey: "amount")
        #expect((read as? NSNumber ?? (read as? NSArray)?.lastObject as? NSNumber) != nil)
        if let number = value as? UInt64 { #expect(read as? UInt64 == number) }
        let error = await failure { _ = try await database.save(record) }
        #expect(error?.code == .invalidArguments)
        #expect(error?.localizedDescription.contains("'amount'") == true)
        fields.setObject(Int64.max, forKey: "amount")
        #expect(record.pendingSave().deviceFault == nil)
        fields.setObject(value, forKey: "amount")
        fields.setObject(nil, forKey: "amount")
        #expect(fields.allKeys() == ["other"])
      }
    }
    #expect(await failure { _ = try await database.record(for: .init(recordName: "a")) } != nil)
    server.close()
  }

  /// Proves CS-184.
  @Test func theOthersOfAnAtomicZoneFailWithItAndNothingIsSent() async throws {
    let server = LoopbackServer()
    let database = database(server)
    _ = try await database.save(NotesApp.zone)
    let bad = CKRecord(recordType: "Note", recordID: NotesApp.id("bad"))
    bad["amount"] = UInt64.max
    let good = CKRecord(recordType: "Note", recordID: NotesApp.id("good"))
    let results = try await database.modifyRecords(
      saving: [bad, good], deleting: [NotesApp.id("gone")]
    )
    let codes = results.saveResults.mapValues { result -> CKError.Code? in
      if case .failure(let error) = result { (error as? CKError)?.code } else { nil }
    }
    #expect(codes == [bad.recordID: .invalidArguments, good.recordID: .batchRequestFailed])
    #expect(try stored(server).isEmpty)
    let apart = try await database.modifyRecords(
      saving: [bad, good], deleting: [], atomically: false)
    #expect(throws: Never.self) { try apart.saveResults[good.recordID]?.get() }
    #expect(try Array(stored(server).keys) == ["good"])
    server.close()
  }

  /// Proves CS-185.
  @Test func anArchiveLeavesTheNumberOutAndClearsNoFieldOnTheServer() async throws {
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
    record["text"] = "kept"
    record["amount"] = UInt64.max
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: record, requiringSecureCoding: true)
    let copy = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
    #expect(copy.changedKeys() == ["text"] && copy.allKeys() == ["text"])
    let twin = try #require(record.copy() as? CKRecord)
    #expect(twin["amount"] as? UInt64 == .max)
  }

  /// Proves CE-153.
  @Test func theEngineReportsTheRecordAndSendsTheOthers() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone", starts: false)
    app.start()
    app.enqueueAll(try app.engine.state)
    app.contents.withLock { $0.amounts = ["bad": .max] }
    app.write(["bad": "1", "good": "2"])
    let error = await failure { try await app.engine.sendChanges() }
    #expect(error?.code == .partialFailure)
    #expect(try stored(server) == ["good": "2"])
    #expect(try app.engine.state.pendingRecordZoneChanges.isEmpty)
    app.stop()
    server.close()
  }

  private func failure(_ work: () async throws -> Void) async -> CKError? {
    do { try await work() } catch { return error as? CKError }
    return nil
  }
}
