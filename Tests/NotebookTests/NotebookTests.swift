import CloudKit
import Notebook
import Testing

/// Runs against the server in the process, or against one by HTTP when the environment names it:
/// `cloudsync exec -- swift test --filter NotebookTests`.
@Suite("A notebook on several devices")
struct NotebookTests {
  /// Each test has a notebook of its own, since the server may outlive it.
  private let name = "Notebook-\(UUID().uuidString)"

  /// Proves E7.
  @Test("A note written on one device is on the other after both have synced")
  func noteReachesOtherDeviceAfterSync() async throws {
    let (phone, desk) = (Notebook(name: name), Notebook(name: name))
    await phone.write("milk", in: "shopping")
    await phone.write("call Ada", in: "today")
    try await phone.sync()
    try await desk.sync()
    #expect(await desk.texts == ["shopping": "milk", "today": "call Ada"])
    await desk.remove("today")
    try await desk.sync()
    try await phone.sync()
    #expect(await phone.texts == ["shopping": "milk"])
  }

  @Test("A note changed on both devices keeps both texts, identical on both")
  func conflictingNoteKeepsBothTexts() async throws {
    let (phone, desk) = (Notebook(name: name), Notebook(name: name))
    await phone.write("milk", in: "shopping")
    try await phone.sync()
    try await desk.sync()
    await phone.write("milk, bread", in: "shopping")
    await desk.write("milk, apples", in: "shopping")
    try await phone.sync()
    try await desk.sync()
    try await phone.sync()
    let texts = await phone.texts
    #expect(texts == ["shopping": "milk, bread\nmilk, apples"])
    #expect(await desk.texts == texts)
  }

  @Test("CloudKit's own calls find the notebook's records")
  func notebookRecordsAreReadableWithCloudKit() async throws {
    let notebook = Notebook(name: name)
    await notebook.write("milk", in: "shopping")
    try await notebook.sync()
    let container = CKContainer.default()
    #expect(try await container.accountStatus() == .available)
    let id = CKRecord.ID(recordName: "shopping", zoneID: CKRecordZone.ID(zoneName: name))
    let record = try await container.privateCloudDatabase.record(for: id)
    #expect(record["text"] as? String == "milk")
    #expect(record.recordType == "Note" && record.recordChangeTag != nil)
  }
}
