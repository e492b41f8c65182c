import CloudKit
import Testing

@Suite("An app in Swift 5, with operations and completion handlers")
struct OperationsAppTests {
  private func container(_ device: String) -> CKContainer {
    CloudSyncEnvironment.$current.withValue(.init(variables: ["CLOUDSYNC_DEVICE": device])) {
      CKContainer(identifier: "iCloud.operations")
    }
  }

  private func wait<Value>(_ body: (@escaping (Value) -> Void) -> Void) async -> Value {
    await withCheckedContinuation { continuation in
      body { continuation.resume(returning: $0) }
    }
  }

  /// Proves CS-5, CS-65, E7.
  @Test("An app built on operations saves, fetches, queries and deletes across two devices")
  func operationsSyncRecordsAcrossDevices() async throws {
    let phone = OperationsApp(container: container("phone"))
    let desk = OperationsApp(container: container("desk"))
    for app in [phone, desk] {
      let error = await wait { app.setUp(completion: $0) }
      #expect(error == nil)
    }
    let texts = ["1": "one", "2": "two", "3": "three", "4": "four", "5": "five"]
    let result = await wait { phone.save(texts, completion: $0) }
    try result.get()
    #expect(await wait { desk.fetch(completion: $0) })
    #expect(desk.entries.mapValues { $0["text"] as? String } == texts)
    #expect(desk.entries["3"]?["length"] as? Int == 5)
    let all = await wait { desk.all(completion: $0) }
    #expect(all.map { $0["text"] as? String } == ["five", "four", "one", "three", "two"])
    let predicate = NSPredicate(format: "length > %d AND text BEGINSWITH %@", 3, "f")
    let some = await wait { desk.all(where: predicate, completion: $0) }
    #expect(some.map { $0.recordID.recordName } == ["5", "4"])
    let error = await wait { desk.delete(["1", "2"], completion: $0) }
    #expect(error == nil)
    #expect(await wait { phone.fetch(completion: $0) })
    #expect(Set(phone.entries.keys) == ["3", "4", "5"])
    #expect(phone.errors.isEmpty && desk.errors.isEmpty)
  }

  @Test("A push is parsed as its kind, and other notifications are not accepted")
  func cloudKitPushIsParsedByKind() {
    let app = OperationsApp(container: container("phone"))
    let payload: [AnyHashable: Any] = [
      "aps": ["content-available": 1],
      "ck": [
        "ce": 2, "cid": "iCloud.operations", "nid": "n",
        "met": ["dbs": 2, "sid": "journal-changes"],
      ],
    ]
    #expect(app.receive(payload))
    #expect(!app.receive(["aps": ["alert": "hello"]]))
  }
}
