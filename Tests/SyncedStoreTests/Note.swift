import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

/// A note, as an app describes it.
struct Note: SyncedItem, Identifiable {
  static let recordType: CKRecord.RecordType = "Note"

  let id: String
  var title = ""
  var text: String
  var modified = 0.0
  var isSynced = true

  init(_ id: String, _ text: String, title: String = "", modified: Double = 0) {
    self.id = id
    self.text = text
    self.title = title
    self.modified = modified
  }

  init?(_ record: CKRecord) {
    guard record["version"] == nil, let text = record["text"] as? String else { return nil }
    id = record.recordID.recordName
    self.text = text
    title = record["title"] as? String ?? ""
    modified = record["modified"] as? Double ?? 0
  }

  func copy(to record: CKRecord) {
    record["text"] = text
    record["title"] = title
    record["modified"] = modified
  }

  static let later = MergePolicy<Note>.laterWins { Date(timeIntervalSince1970: $0.modified) }
}

/// A folder that is removed with its owner.
final class TemporaryFolder: Sendable {
  let url: URL

  init() {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-\(UUID().uuidString)")
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// A device with a store of notes.
final class NoteDevice: Sendable {
  static let container = "iCloud.com.example.notes"
  static let zone = CKRecordZone.ID(zoneName: "Notes")

  let link: LoopbackDevice
  let folder: TemporaryFolder
  let store: SyncedStore

  /// Opens the app on a device; with the folder of another one it is that one's next launch.
  init(
    _ server: LoopbackServer, _ name: String, account: String? = "anna",
    folder: TemporaryFolder = TemporaryFolder(), merging policy: MergePolicy<Note> = Note.later,
    isStarted: Bool = true, recovering: Bool = false
  ) throws {
    self.folder = folder
    link = server.device(name, signedInAs: account)
    store = try SyncedStore(
      zoneID: NoteDevice.zone, directory: folder.url,
      types: [SyncedType(Note.self, merging: policy)],
      recovering: recovering)
    if isStarted { try start() }
  }

  func start() throws {
    store.connect(
      to: CKContainer(identifier: Self.container, transport: link), automaticallySync: false,
      now: { Date(timeIntervalSince1970: 1_000) })
    try store.start()
  }

  /// The text of each note.
  var texts: [String: String] {
    Dictionary(store.items(Note.self).map { ($0.id, $0.text) }, uniquingKeysWith: { $0 + "|" + $1 })
  }

  func write(_ id: String, _ text: String, _ modified: Double = 1) throws {
    try store.save(Note(id, text, modified: modified))
  }
}
