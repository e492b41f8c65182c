import Foundation
import SyncSupport

/// The files of the first version of the store: the results, the changes that wait, the system
/// fields, the records that could not be read, and the settings.
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
  private static let settings = "sync-settings.json"

  let folder: DocumentFolder

  /// Opens the store with the content of the files, if there are any.
  func open(_ type: SyncedType) throws -> SyncedStore {
    let names = [Self.results, Self.queue, Self.metadata, DocumentFolder.kept, Self.settings]
    return try folder.takeOver(names) { directory, isRecovering in
      try SyncedStore(
        zoneID: ResultRecord.zoneID, directory: directory, types: [type],
        files: .init(items: "results.journal", state: Self.state), recovering: isRecovering,
        importing: add)
    }
  }

  private func add(to content: inout SyncedStoreImport) throws {
    let results = try folder.read([GameResult].self, Self.results, format: "game-results")
    let queue = try folder.read([Waiting].self, Self.queue, format: "offline-queue")
    let metadata = try folder.systemFields(Self.metadata)
    let hasSettings = try folder.file(Self.settings).read() != nil
    let settings = try folder.read(Settings.self, Self.settings, format: "result-settings")
    let waiting = Dictionary((queue ?? []).map { ($0.id, $0) }) { $1 }
    for result in results ?? [] {
      guard waiting[result.id]?.change != .delete else { continue }
      let systemFields = metadata[result.recordName]
      try content.add(
        result, systemFields: systemFields,
        isUnsent: waiting[result.id] != nil || systemFields == nil,
        wasOffered: waiting[result.id]?.wasOffered ?? false)
    }
    for entry in (queue ?? []).sorted(by: { $0.number < $1.number }) where entry.change == .delete {
      try content.addDeletion(
        of: GameResult.self, named: entry.id.uuidString,
        systemFields: metadata[entry.id.uuidString])
    }
    // Without the owner's name nobody can say whose results these are.
    content.owner = hasSettings && settings == nil ? "?" : settings?.owner
    if let settings {
      content.setProperty(
        Self.lastSync, settings.lastSync.map { "\($0.timeIntervalSinceReferenceDate)" })
      if settings.hasZone || settings.wasZoneRemoved { content.setProperty(Self.hadZone, "yes") }
    }
    let isComplete = results != nil && queue != nil && settings != nil
    try folder.add(to: &content, state: isComplete ? Self.state : nil)
  }
}
