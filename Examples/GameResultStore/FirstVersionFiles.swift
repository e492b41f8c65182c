import CloudSync
import Foundation
import SyncSupport

/// The files of the first version of the store: the results, the changes that wait, the system
/// fields, the records that could not be read, and the settings.
///
/// They are read when the store has no file yet, and removed when it has one; a crash in between
/// repeats this.
struct FirstVersionFiles {
  /// The engine's state, in all versions.
  static let state = "sync-state.data"
  /// The property with the time of the last sync, in seconds.
  static let lastSync = "last sync"
  /// The property that is set once the account had the zone.
  static let hadZone = "had zone"

  private struct Waiting: Codable {
    enum Change: String, Codable {
      case save, delete
    }

    var id: UUID
    var change: Change
    var number: UInt64
    var wasOffered: Bool
  }

  private struct Settings: Codable {
    var owner: String?
    var lastSync: Date?
    var hasZone: Bool
    var wasZoneRemoved: Bool
  }

  private static let results = "results.json"
  private static let queue = "offline-queue.json"
  private static let metadata = "cloud-record-metadata.json"
  private static let kept = "cloud-kept-records.json"
  private static let settings = "sync-settings.json"

  private let directory: URL
  private let isRecovering: Bool

  init(_ directory: URL, recovering isRecovering: Bool) {
    self.directory = directory
    self.isRecovering = isRecovering
  }

  private func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

  private func read<Body: Codable & Sendable>(
    _ type: Body.Type, _ name: String, _ format: String
  ) throws -> Body? {
    try DocumentFile<Body>(url(name), format: format).read(recovering: isRecovering).body
  }

  /// Adds the content of the files, if there are any.
  func add(to content: inout SyncedStoreImport) throws {
    let results = try read([GameResult].self, Self.results, "game-results")
    let queue = try read([Waiting].self, Self.queue, "offline-queue")
    let metadata = try read([String: Data].self, Self.metadata, "record-metadata") ?? [:]
    let kept = try read([String: Data].self, Self.kept, "kept-records") ?? [:]
    let settingsFile = DocumentFile<Settings>(url(Self.settings), format: "result-settings")
    let reading = try settingsFile.read(recovering: isRecovering)
    let settings = reading.body
    let waiting = Dictionary((queue ?? []).map { ($0.id, $0) }) { $1 }
    for result in results ?? [] {
      guard waiting[result.id]?.change != .delete else { continue }
      let systemFields = metadata[result.recordName]
      content.add(
        result, systemFields: systemFields,
        isUnsent: waiting[result.id] != nil || systemFields == nil,
        wasOffered: waiting[result.id]?.wasOffered ?? false)
    }
    for entry in (queue ?? []).sorted(by: { $0.number < $1.number }) where entry.change == .delete {
      content.addDeletion(
        of: GameResult.self, named: entry.id.uuidString,
        systemFields: metadata[entry.id.uuidString])
    }
    for archive in kept.sorted(by: { $0.key < $1.key }).map(\.value) {
      if let record = CKRecord.unarchived(archive) { content.addUnreadable(record) }
    }
    // Without the owner's name nobody can say whose results these are.
    content.owner = reading.recovery == nil ? settings?.owner : "?"
    if let settings {
      content.setProperty(
        Self.lastSync, settings.lastSync.map { "\($0.timeIntervalSinceReferenceDate)" })
      if settings.hasZone || settings.wasZoneRemoved { content.setProperty(Self.hadZone, "yes") }
    }
    // Otherwise the engine's state knows of more than the files.
    if results != nil, queue != nil, settings?.owner != nil,
      let state = try AtomicFile(url(Self.state)).read()
    {
      content.takeOverState(state)
    }
  }

  /// Removes the files, which the store has taken over.
  func remove() throws(FileError) {
    for name in [Self.results, Self.queue, Self.metadata, Self.kept, Self.settings] {
      try AtomicFile(url(name)).removeFile()
    }
  }
}
