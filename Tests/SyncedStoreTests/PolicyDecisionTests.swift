import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: decisions of a policy", .timeLimit(.minutes(20)))
struct PolicyDecisionTests {
  let server = LoopbackServer()

  /// Marks what it keeps against a deletion or a version that can't be read.
  private static let marking = MergePolicy<Note> { conflict in
    if case .item = conflict.server { return .mine }
    var merged = conflict.mine
    if !merged.text.hasSuffix(" (kept)") { merged.text += " (kept)" }
    return .merged(merged)
  }

  @Test("A merge per property is asked as often as the policy for its contradictions")
  func propertyMergeIsAskedAsOftenAsItsPolicy() {
    for mergesAlways in [false, true] {
      let policy = MergePolicy<Note>(mergesAlways: mergesAlways) { _ in .mine }
      #expect(MergePolicy.perProperty(otherwise: policy).mergesAlways == mergesAlways)
    }
  }

  @Test("A merged version is kept against a deletion, and sent")
  func mergedVersionIsKeptAgainstDeletion() async throws {
    let phone = try NoteDevice(server, "phone", merging: Self.marking)
    let desk = try NoteDevice(server, "desk", merging: Self.marking)
    try phone.write("a", "base")
    for device in [phone, desk] { try await device.store.sync() }
    try desk.store.delete(Note("a", ""))
    try await desk.store.sync()
    try phone.write("a", "edit", 2)
    var changes = phone.store.changes.makeAsyncIterator()
    for device in [phone, desk] { try await device.store.sync() }
    #expect(phone.texts == ["a": "edit (kept)"] && desk.texts == phone.texts)
    #expect(phone.store.status.activity.conflicts.map(\.resolution) == [.merged])
    let change = await changes.next()
    #expect(change?.kind == .saved && change?.resolution == .merged)
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A merged version is kept against one that can't be read, and waits for an update")
  func mergedVersionWaitsForAnUpdate() throws {
    let phone = try NoteDevice(server, "phone", merging: Self.marking, isStarted: false)
    try phone.write("a", "edit")
    let record = CKRecord(
      recordType: Note.recordType,
      recordID: CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone))
    record["version"] = 2
    try phone.store.receive([record])
    #expect(phone.texts == ["a": "edit (kept)"] && phone.store.unreadableNames == ["a"])
    #expect(phone.store.status.unsentCount == 1 && phone.store.unsentRecordIDs == [])
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    #expect(again.texts == ["a": "edit (kept)"] && again.store.status.unsentCount == 1)
  }

  private static func newer(_ name: String, _ type: CKRecord.RecordType) -> CKRecord {
    let record = CKRecord(
      recordType: type, recordID: CKRecord.ID(recordName: name, zoneID: NoteDevice.zone))
    record["version"] = 2
    return record
  }

  @Test(
    "An unsent edit that is given up for a version that can't be read is reported",
    arguments: [Note.recordType, "Drawing"])
  func editGivenUpIsReported(type: CKRecord.RecordType) async throws {
    let phone = try NoteDevice(server, "phone", merging: .serverWins, isStarted: false)
    try phone.write("a", "edit")
    var changes = phone.store.changes.makeAsyncIterator()
    try phone.store.receive([Self.newer("a", type)])
    let change = await changes.next()
    #expect(change?.kind == .removed && change?.recordType == Note.recordType)
    #expect(change?.resolution == .serverWon)
    #expect(phone.texts == [:] && phone.store.unreadableNames == ["a"])
    #expect(phone.store.status.activity.conflicts.map(\.resolution) == [.serverWon])
    #expect(phone.store.status.activity.problems.map(\.name) == ["a"])
  }

  @Test("A record that can't be read is a problem until it is read or deleted")
  func unreadableRecordIsAProblem() throws {
    let phone = try NoteDevice(server, "phone", merging: .serverWins, isStarted: false)
    func problems() -> [String] { phone.store.status.activity.problems.map(\.name) }
    for name in ["a", "b", "c"] { try phone.store.receive([Self.newer(name, Note.recordType)]) }
    #expect(problems() == ["a", "b", "c"])
    try phone.write("a", "waits for an update")
    #expect(problems() == ["a", "b", "c"] && phone.store.unsentRecordIDs == [])
    let readable = Self.newer("b", Note.recordType)
    readable["version"] = nil
    Note("b", "read").copy(to: readable)
    try phone.store.receive([readable])
    #expect(problems() == ["a", "c"])
    try phone.store.receive(
      [], deleted: ["a", "c"].map { CKRecord.ID(recordName: $0, zoneID: NoteDevice.zone) })
    #expect(problems() == [] && phone.texts == ["b": "read"])
  }

  @Test("The policy decides about an item that stayed on the device and is sent again")
  func itemThatIsSentAgainIsAConflict() async throws {
    let phone = try NoteDevice(server, "phone", merging: .serverWins)
    let desk = try NoteDevice(server, "desk")
    try phone.write("a", "base")
    for device in [phone, desk] { try await device.store.sync() }
    var local = Note("a", "only here")
    local.isSynced = false
    try phone.store.save(local)
    try desk.write("a", "important", 2)
    for device in [phone, desk, phone] { try await device.store.sync() }
    #expect(phone.texts == ["a": "only here"] && desk.texts == ["a": "important"])
    try phone.write("a", "sent again", 1)
    for device in [phone, desk] { try await device.store.sync() }
    #expect(phone.texts == ["a": "important"] && desk.texts == phone.texts)
    #expect(phone.store.status.activity.conflicts.map(\.resolution) == [.serverWon])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("Another device's record is not deleted by an item of its name that was never sent")
  func itemOfTheDeviceDeletesNoRecord() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    var local = Note("a", "only here")
    local.isSynced = false
    try phone.store.save(local)
    try desk.write("a", "of the desk")
    for device in [desk, phone] { try await device.store.sync() }
    local.text = "still only here"
    try phone.store.save(local)
    for device in [phone, desk] { try await device.store.sync() }
    #expect(phone.texts == ["a": "still only here"] && desk.texts == ["a": "of the desk"])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A policy that decides about a deletion knows the version that the change is based on")
  func deletionConflictHasABase() async throws {
    let policy = MergePolicy<Note> { conflict in
      var merged = conflict.mine
      merged.text += ", before: \(conflict.base?.text ?? "unknown")"
      return .merged(merged)
    }
    let phone = try NoteDevice(server, "phone", merging: policy)
    let desk = try NoteDevice(server, "desk", merging: policy)
    try phone.write("a", "base")
    for device in [phone, desk] { try await device.store.sync() }
    try desk.store.delete(Note("a", ""))
    try await desk.store.sync()
    try phone.write("a", "edit", 2)
    for device in [phone, desk] { try await device.store.sync() }
    #expect(phone.texts == ["a": "edit, before: base"] && desk.texts == phone.texts)
    for device in [phone, desk] { try await device.store.shutDown() }
  }
}
