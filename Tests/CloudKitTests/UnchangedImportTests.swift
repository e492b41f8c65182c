import CloudKit
import Testing

@Suite("An app's file that imports only CloudKit")
struct UnchangedImportTests {
  /// Proves CS-5, E7.
  @Test("A container needs no configuration: it has an in-process server with one account")
  func containerNeedsNoConfiguration() async throws {
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

  @Test("A test can run a task, and the tasks it starts, as another device or account")
  func taskRunsAsChosenDeviceOrAccount() async throws {
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

  @Test("A file works as the server for several devices; an unusable server is refused")
  func serverFileIsSharedBetweenDevices() async throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloud-\(UUID().uuidString).sqlite")
    defer {
      for end in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: file.path + end)
      }
    }
    func database(_ server: String, _ device: String) -> CKDatabase {
      let variables = ["CLOUDSYNC_SERVER": server, "CLOUDSYNC_DEVICE": device]
      return CloudSyncEnvironment.$current.withValue(.init(variables: variables)) {
        CKContainer(identifier: "iCloud.files").privateCloudDatabase
      }
    }
    let record = CKRecord(recordType: "Note")
    record["text"] = "kept"
    try await database(file.path, "phone").save(record)
    let read = try await database(file.absoluteString, "desk").record(for: record.recordID)
    #expect(read["text"] as? String == "kept")
    for server in ["http://127.0.0.1:1", FileManager.default.temporaryDirectory.path] {
      do {
        _ = try await database(server, "phone").record(for: record.recordID)
        Issue.record("\(server) is no server")
      } catch let error as CKError {
        #expect(
          error.code == .badContainer && error.localizedDescription.contains("CLOUDSYNC_SERVER"))
      }
    }
  }
}
