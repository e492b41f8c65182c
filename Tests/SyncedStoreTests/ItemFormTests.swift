import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

/// Two versions of an app's type, whose files differ.
private struct Place: Codable, Equatable, Sendable {
  var city = "Ulm"
}

private struct NewPlace: Codable, Equatable, Sendable {
  var city = "Ulm"
  var zip = "89073"
}

private struct Visit: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Visit"
  var id = "a"
  var places = [Place()]

  init() {}
  init?(_ record: CKRecord) { self.init() }
  func copy(to record: CKRecord) {}
}

private struct NewVisit: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Visit"
  var id = "a"
  var places = [NewPlace()]

  init() {}
  init?(_ record: CKRecord) { self.init() }
  func copy(to record: CKRecord) {}
}

@Suite("SyncedStore: items that a file, JSON or the server can't take", .timeLimit(.minutes(20)))
struct ItemFormTests {
  let server = LoopbackServer()

  private func items(_ folder: TemporaryFolder) -> URL {
    folder.url.appendingPathComponent(SyncedStore.FileNames().items)
  }

  @Test("An item of another form is reported with its type and key path, and is not recovered from")
  func otherFormIsReported() throws {
    let folder = TemporaryFolder()
    do {
      let store = try SyncedStore(
        zoneID: NoteDevice.zone, directory: folder.url,
        types: [SyncedType(Visit.self, merging: .serverWins)])
      try store.save(Visit())
    }
    let content = try Data(contentsOf: items(folder))
    let cases: [([SyncedType], String)] = [
      ([SyncedType(NewVisit.self, merging: .serverWins)], "places.zip"), ([], "types"),
    ]
    for (types, part) in cases {
      for isRecovering in [false, true] {
        let error = #expect(throws: FileError.self) {
          _ = try SyncedStore(
            zoneID: NoteDevice.zone, directory: folder.url, types: types, recovering: isRecovering)
        }
        #expect(error?.step == .use)
        let text = "\(error?.reason ?? "")"
        #expect(text.contains("Visit") && text.contains(part) && !text.contains("damage"))
      }
    }
    #expect(try Data(contentsOf: items(folder)) == content)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
  }

  @Test(
    "A number that JSON has no notation for is stored, with what was fetched beside it",
    arguments: [Double.infinity, -.infinity, .nan])
  func everyNumberIsStored(number: Double) throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    let records = [("a", number), ("b", 1)].map { name, modified in
      let id = CKRecord.ID(recordName: name, zoneID: NoteDevice.zone)
      let record = CKRecord(recordType: Note.recordType, recordID: id)
      Note(name, "text", modified: modified).copy(to: record)
      return record
    }
    try phone.store.receive(records)
    try phone.store.save(Note("c", "text", modified: number))
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    let found = again.store.items(Note.self).map(\.modified.description)
    #expect(found == [number, 1, number].map(\.description))
  }

  @Test("Properties are merged beside a number that JSON has no notation for")
  func propertiesAreMergedBesideInfinity() {
    func note(_ text: String, _ title: String) -> Note {
      Note("a", text, title: title, modified: .infinity)
    }
    let result = MergePolicy<Note>.perProperty(otherwise: .serverWins).resolve(
      MergePolicy.Conflict(
        mine: note("mine", ""), server: .item(note("", "theirs")), base: note("", "")))
    guard case .merged(let merged) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(merged == note("mine", "theirs"))
  }

  @Test("A name that CloudKit does not accept is refused before anything changes")
  func unusableNameIsRefused() throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    let longest = String(repeating: "x", count: 255)
    for name in ["", "_x", longest + "x", "Müller"] {
      let error = #expect(throws: SyncedStoreError.self, "\(name)") {
        try phone.store.change { change in
          try change.save(Note("good", "text"))
          try change.save(Note(name, "text"))
        }
      }
      #expect(error?.code.rawValue == "invalidName")
      #expect(phone.texts == [:] && phone.store.status.unsentCount == 0)
    }
    try phone.write(longest, "text")
    #expect(phone.texts == [longest: "text"])
  }

  // MARK: The zone of a file

  private func open(_ folder: TemporaryFolder, zone: String) throws -> SyncedStore {
    try SyncedStore(
      zoneID: CKRecordZone.ID(zoneName: zone, ownerName: "_\(zone)"), directory: folder.url,
      types: [SyncedType(Note.self, merging: Note.later)])
  }

  @Test("A folder whose items are of another zone is refused, and stays as it is")
  func otherZoneIsRefused() throws {
    let folder = TemporaryFolder()
    try open(folder, zone: "anna").save(Note("secret", "for anna"))
    let content = try Data(contentsOf: items(folder))
    let error = #expect(throws: SyncedStoreError.self) { _ = try open(folder, zone: "boris") }
    #expect(error?.code.rawValue == "otherZone" && error?.message.contains("anna") == true)
    #expect(try Data(contentsOf: items(folder)) == content)
    let again = try open(folder, zone: "anna")
    #expect(again.items(Note.self).map(\.text) == ["for anna"])
    try again.delete(Note("secret", ""))
    // Without items there is nothing that could reach the wrong zone.
    #expect(try open(folder, zone: "boris").items(Note.self) == [])
  }

  @Test("A file of an older version, which names no zone, is opened and names it afterwards")
  func fileWithoutZoneIsOpened() throws {
    let folder = TemporaryFolder()
    var journal = Journal<StoredColumns>(items(folder), format: "synced-items", version: 2)
    var entry = Entry(type: Note.recordType, order: 1)
    entry.item = Note("a", "text")
    try journal.append([
      StoredChange(key: StoredChange.Key(name: "a"), entry: entry),
      StoredChange(settings: StoreSettings(isEnabled: true)),
    ])
    let store = try open(folder, zone: "anna")
    #expect(store.items(Note.self).map(\.text) == ["text"] && store.isEnabled == true)
    try store.save(Note("b", "text"))
    #expect(throws: SyncedStoreError.self) { _ = try open(folder, zone: "boris") }
    #expect(try open(folder, zone: "anna").items(Note.self).count == 2)
  }
}
