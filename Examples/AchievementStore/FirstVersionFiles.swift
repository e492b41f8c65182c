import Foundation
import SyncSupport
import SyncedStore

/// The files of the first version of the store: the achievements and the settings.
///
/// They are read when the store has no file yet, and removed when it has one; a crash in between
/// repeats this.
struct FirstVersionFiles {
  private struct Body: Codable {
    struct Held: Codable {}

    var elements: [JSONValue]
    var isUnsent: Bool
    var systemFields: Data?
    var held: Held?
    var lastUpdated: Date?
    var summary: Data?
  }

  private struct Settings: Codable {
    var isEnabled: Bool
    var owner: String?
    var lastSync: Date?
  }

  private static let names = SyncedStore.FileNames(
    items: "achievements.journal", state: "achievement-sync-state.data")

  private let directory: URL
  private let isRecovering: Bool
  private let items: DocumentFile<Body>
  private let settings: DocumentFile<Settings>

  init(_ directory: URL, isRecovering: Bool) {
    self.directory = directory
    self.isRecovering = isRecovering
    items = DocumentFile(
      directory.appendingPathComponent("achievements.json"), format: "achievements")
    settings = DocumentFile(
      directory.appendingPathComponent("achievement-settings.json"), format: "achievement-settings")
  }

  /// Opens the store with the content of the files, if there are any.
  func open(_ type: SyncedType) throws -> SyncedStore {
    let store = try SyncedStore(
      zoneID: AchievementRecord.zoneID, directory: directory, types: [type], files: Self.names,
      recovering: isRecovering, importing: add)
    try items.file.removeFile()
    try settings.file.removeFile()
    return store
  }

  private func add(to content: inout SyncedStoreImport) throws {
    if let settings = try settings.read(recovering: isRecovering).body {
      content.owner = settings.owner
      content.isEnabled = settings.isEnabled
      content.lastSync = settings.lastSync
    }
    guard let body = try items.read(recovering: isRecovering).body else { return }
    var set = AchievementSet(body.elements)
    set.lastUpdated = body.lastUpdated
    set.archive = body.summary
    if set.archive == nil || body.isUnsent { set.touch(body.lastUpdated) }
    content.add(set, systemFields: body.systemFields, isUnsent: body.isUnsent)
    // The record of a newer version was not stored whole, so it is fetched again.
    let state = AtomicFile(directory.appendingPathComponent(Self.names.state))
    if body.held == nil, content.owner != nil, let data = try state.read() {
      content.takeOverState(data)
    }
  }
}
