import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

/// A note with a property that is only on the device.
private struct Draft: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Draft"
  let id: String
  var text: String
  /// The position of the cursor, which is not sent.
  var cursor = 0

  init(_ id: String, _ text: String, cursor: Int = 0) {
    (self.id, self.text, self.cursor) = (id, text, cursor)
  }

  init?(_ record: CKRecord) { self.init(record, current: nil) }

  init?(_ record: CKRecord, current: Draft?) {
    guard let text = record["text"] as? String else { return nil }
    self.init(record.recordID.recordName, text, cursor: current?.cursor ?? 0)
  }

  func copy(to record: CKRecord) { record["text"] = text }
}

@Suite("SyncedStore: properties that are only on the device", .timeLimit(.minutes(20)))
struct LocalPropertyTests {
  let server = LoopbackServer()
  private let folders = [TemporaryFolder(), TemporaryFolder()]

  private func device(
    _ name: String, merging policy: MergePolicy<Draft> = .serverWins
  ) throws -> SyncedStore {
    let link = server.device(name, signedInAs: "anna")
    let store = try SyncedStore(
      zoneID: NoteDevice.zone, directory: folders[name == "phone" ? 0 : 1].url,
      types: [SyncedType(Draft.self, merging: policy)])
    store.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: link), automaticallySync: false)
    try store.start()
    return store
  }

  @Test("A property that is not sent stays when the own save comes back, which is no change")
  func localPropertyStaysAfterASave() async throws {
    let phone = try device("phone")
    try phone.save(Draft("a", "text", cursor: 3))
    try await phone.sync()
    try await phone.sync()
    #expect(phone.items() == [Draft("a", "text", cursor: 3)])
    #expect(phone.status.activity.received == 0)
    try await phone.shutDown()
  }

  @Test("A property that is not sent stays when another device changes the item")
  func localPropertyStaysWithAnotherText() async throws {
    let (phone, desk) = (try device("phone"), try device("desk"))
    try phone.save(Draft("a", "text", cursor: 3))
    try await phone.sync()
    try await desk.sync()
    #expect(desk.items() == [Draft("a", "text", cursor: 0)])
    try desk.save(Draft("a", "text of the desk", cursor: 9))
    try await desk.sync()
    try await phone.sync()
    #expect(phone.items() == [Draft("a", "text of the desk", cursor: 3)])
    for store in [phone, desk] { try await store.shutDown() }
  }

  @Test("An edit after a lost answer is no conflict, though the property was changed meanwhile")
  func localPropertyMakesNoConflict() async throws {
    let phone = try device("phone")
    try phone.save(Draft("a", "first", cursor: 1))
    try await phone.sync()
    try phone.save(Draft("a", "second", cursor: 2))
    server.controls.dropAnswers(in: RequestScope(kind: .modifyRecords))
    try? await phone.sendChanges()
    try phone.save(Draft("a", "third", cursor: 3))
    try await phone.sync()
    #expect(phone.items() == [Draft("a", "third", cursor: 3)])
    #expect(phone.status.activity.conflicts == [])
    try await phone.shutDown()
  }

  @Test("A change that is given up keeps the property that is not sent")
  func givenUpChangeKeepsTheProperty() async throws {
    let phone = try device("phone")
    try phone.save(Draft("a", "text", cursor: 1))
    try await phone.sync()
    try phone.save(Draft("a", "given up", cursor: 2))
    try await phone.revert(Draft.self, named: "a")
    #expect(phone.items() == [Draft("a", "text", cursor: 2)])
    try await phone.shutDown()
  }
}
