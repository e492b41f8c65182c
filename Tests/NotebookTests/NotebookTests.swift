import CloudKit
import Notebook
import Testing

/// Runs against the server in the process, or against one by HTTP when the environment names it:
/// `cloudsync exec -- swift test --filter NotebookTests`.
@Suite("A notebook on several devices")
struct NotebookTests {
  /// Each test has a notebook of its own, since the server may outlive it.
  private let name = "Notebook-\(UUID().uuidString)"

  /// A device with a folder that the test removes when it ends.
  private func notebook() throws -> Notebook {
    let device = folder.url.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
    return try Notebook(name: name, in: device)
  }

  private let folder = TestFolder()

  /// Proves E7.
  @Test("A note written on one device is on the other after both have synced")
  func noteReachesOtherDeviceAfterSync() async throws {
    let (phone, desk) = (try notebook(), try notebook())
    try await phone.write("milk", in: "shopping")
    try await phone.write("call Ada", in: "today")
    try await phone.sync()
    try await desk.sync()
    #expect(await desk.texts == ["shopping": "milk", "today": "call Ada"])
    try await desk.remove("today")
    try await desk.sync()
    try await phone.sync()
    #expect(await phone.texts == ["shopping": "milk"])
  }

  @Test("A note changed on both devices keeps both texts, identical on both")
  func conflictingNoteKeepsBothTexts() async throws {
    let (phone, desk) = (try notebook(), try notebook())
    try await phone.write("milk", in: "shopping")
    try await phone.sync()
    try await desk.sync()
    try await phone.write("milk, bread", in: "shopping")
    try await desk.write("milk, apples", in: "shopping")
    try await phone.sync()
    try await desk.sync()
    try await phone.sync()
    let texts = await phone.texts
    #expect(texts == ["shopping": "milk, bread\nmilk, apples"])
    #expect(await desk.texts == texts)
  }

  @Test("CloudKit's own calls find the notebook's records")
  func notebookRecordsAreReadableWithCloudKit() async throws {
    let notebook = try notebook()
    try await notebook.write("milk", in: "shopping")
    try await notebook.sync()
    let container = CKContainer.default()
    #expect(try await container.accountStatus() == .available)
    let id = CKRecord.ID(recordName: "shopping", zoneID: CKRecordZone.ID(zoneName: name))
    let record = try await container.privateCloudDatabase.record(for: id)
    #expect(record["text"] as? String == "milk")
    #expect(record.recordType == "Note" && record.recordChangeTag != nil)
  }
}

/// A folder that is removed with the test.
private final class TestFolder: Sendable {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("notebook-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }
}
