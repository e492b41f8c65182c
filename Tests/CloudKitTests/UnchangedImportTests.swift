import CloudKit
import Testing

@Suite("An app's file that imports only CloudKit")
struct UnchangedImportTests {
  @Test("A container resolves without a word: a server in the process, one account signed in")
  func resolves() async throws {
    let container = CKContainer(identifier: "iCloud.unchanged")
    #expect(try await container.accountStatus() == .available)
    let database = container.privateCloudDatabase
    let record = CKRecord(recordType: "Note")
    record["text"] = "hello" as CKRecordValue
    let saved = try await database.save(record)
    let read = try await database.record(for: saved.recordID)
    #expect(read["text"] as? String == "hello")
    #expect(CKContainer.default() === CKContainer.default())
    #expect(try await CKContainer.default().userRecordID().recordName.hasPrefix("_"))
  }

  @Test("A test can put a task, and what it starts, on another device or another account")
  func environments() async throws {
    func user(_ variables: [String: String]) async throws -> String? {
      try await CloudSyncEnvironment.$current.withValue(.init(variables: variables)) {
        let container = CKContainer(identifier: "iCloud.unchanged")
        guard try await container.accountStatus() == .available else { return nil }
        return try await container.userRecordID().recordName
      }
    }
    let first = try await user(["CLOUDSYNC_ACCOUNT": "ada", "CLOUDSYNC_DEVICE": "a"])
    let second = try await user(["CLOUDSYNC_ACCOUNT": "ada", "CLOUDSYNC_DEVICE": "b"])
    let third = try await user(["CLOUDSYNC_ACCOUNT": "bea", "CLOUDSYNC_DEVICE": "c"])
    let nobody = try await user(["CLOUDSYNC_ACCOUNT": "", "CLOUDSYNC_DEVICE": "d"])
    #expect(first != nil && first == second && third != nil && third != first && nobody == nil)
  }
}
