import Foundation
import LoopbackServer
import SyncedStore
import Testing

// The app of README.md and Docs/SyncedStore.md, as it is there; a rule compares both.

struct Note: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Note"
  let id: UUID
  var text: String
  var modified = Date().roundedToMilliseconds

  init(_ text: String) { (id, self.text) = (UUID(), text) }

  init?(_ record: CKRecord) {
    guard let id = UUID(uuidString: record.recordID.recordName),
      let text = record["text"] as? String, let modified = record["modified"] as? Date
    else { return nil }
    (self.id, self.text, self.modified) = (id, text, modified)
  }

  func copy(to record: CKRecord) {
    record["text"] = text
    record["modified"] = modified
  }
}

func openNotes(in folder: URL, _ container: CKContainer) throws -> SyncedStore {
  let notes = try SyncedStore(
    zoneID: CKRecordZone.ID(zoneName: "Notes"), directory: folder,
    types: [SyncedType(Note.self, merging: .laterWins { $0.modified })])
  try notes.start(container)
  return notes
}

struct Reminder: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Reminder"
  let id: UUID
  var text: String
  var isPinned = false  // new in version 2

  init(_ text: String) { (id, self.text) = (UUID(), text) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    text = try container.decode(String.self, forKey: .text)
    isPinned = try container.decodeIfPresent(Bool.self, forKey: .isPinned) ?? false
  }

  init?(_ record: CKRecord) {
    guard let id = UUID(uuidString: record.recordID.recordName),
      let text = record["text"] as? String
    else { return nil }
    (self.id, self.text, isPinned) = (id, text, record["isPinned"] as? Bool ?? false)
  }

  func copy(to record: CKRecord) {
    record["text"] = text
    record["isPinned"] = isPinned
  }
}

struct Article: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Article"
  let id: UUID
  var text: String
  var scrollPosition = 0  // only on this device

  init(_ text: String) { (id, self.text) = (UUID(), text) }

  init?(_ record: CKRecord) { self.init(record, current: nil) }

  init?(_ record: CKRecord, current: Article?) {
    guard let id = UUID(uuidString: record.recordID.recordName),
      let text = record["text"] as? String
    else { return nil }
    (self.id, self.text, scrollPosition) = (id, text, current?.scrollPosition ?? 0)
  }

  func copy(to record: CKRecord) { record["text"] = text }
}

/// Proves X8.
@Test func aNoteIsEditedOnTwoDevices() async throws {
  let server = LoopbackServer()
  let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
  defer { try? FileManager.default.removeItem(at: folder) }
  func open(_ device: String) throws -> SyncedStore {
    let link = server.device(device, signedInAs: "alice")
    return try openNotes(
      in: folder.appending(path: device),
      CKContainer(identifier: "iCloud.example", transport: link))
  }
  let phone = try open("phone")
  let laptop = try open("laptop")

  let note = Note("Bread, milk")
  try phone.save(note)
  try await phone.sync()
  try await laptop.sync()
  #expect(laptop.items(Note.self).map(\.text) == ["Bread, milk"])

  try laptop.edit(Note.self, named: note.recordName) { note in
    note.text = "Bread, tea"
    note.modified = Date().roundedToMilliseconds
  }
  try await laptop.sync()
  try await phone.sync()
  #expect(phone.items(Note.self).map(\.text) == ["Bread, tea"])
}

/// A folder that is removed with its owner.
private final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID())")

  deinit { try? FileManager.default.removeItem(at: url) }
}

@Suite(.timeLimit(.minutes(20)))
struct DocumentedStoreTests {
  private let server = LoopbackServer()

  private func container(_ device: String) -> CKContainer {
    CKContainer(
      identifier: "iCloud.example", transport: server.device(device, signedInAs: "ada"))
  }

  /// Proves X8.
  @Test func twoDevicesConvergeAfterACrash() async throws {
    let folders = [Folder(), Folder()]
    let phone = container("phone")
    var note = Note("Bread")
    do {
      let notes = try openNotes(in: folders[0].url, phone)
      try notes.save(note)
      // The app is killed here: the store goes without a shutdown.
    }
    let notes = try openNotes(in: folders[0].url, phone)
    #expect(notes.items() == [note])
    try await notes.sync()
    let desk = try openNotes(in: folders[1].url, container("desk"))
    try await desk.sync()
    note.text = "Bread, milk"
    note.modified += 1
    try desk.save(note)
    try await desk.sync()
    try await notes.sync()
    #expect(notes.items() == [note] && desk.items() == [note])
    #expect(notes.status.unsentCount + desk.status.unsentCount == 0)
    try await notes.shutDown()
    try await desk.shutDown()
  }

  /// A file of version 1 has no `isPinned`.
  @Test func aPropertyIsAdded() throws {
    let first = Data(#"{"id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF","text":"Bread"}"#.utf8)
    let reminder = try JSONDecoder().decode(Reminder.self, from: first)
    #expect(reminder.text == "Bread" && !reminder.isPinned)
  }

  @Test func aSavedNoteIsListed() async throws {
    let home = Folder()
    let (folder, container) = (home.url, container("phone"))
    let notes = try openNotes(in: folder, container)
    try notes.save(Note("Bread, milk"))  // on the disk when it returns, and sent when possible
    let texts = notes.items(Note.self).map(\.text)
    #expect(texts == ["Bread, milk"])
    try await notes.shutDown()
  }
}
