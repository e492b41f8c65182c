import Foundation
import SyncSupport
import SyncedStore

/// The files of the first version of the store: the achievements and the settings.
struct FirstVersionFiles {
  private struct Body: Codable {
    struct Held: Codable {}

    var isUnsent: Bool
    var systemFields: Data?
    var held: Held?
  }

  private struct Settings: Codable {
    var isEnabled: Bool
    var owner: String?
    var lastSync: Date?
  }

  private static let items = "achievements.json"
  private static let settings = "achievement-settings.json"
  private static let names = SyncedStore.FileNames(
    items: "achievements.journal", state: "achievement-sync-state.data")

  let folder: DocumentFolder

  /// Opens the store with the content of the files, if there are any.
  func open(_ type: SyncedType) throws -> SyncedStore {
    try folder.takeOver([Self.items, Self.settings]) { directory, isRecovering in
      try SyncedStore(
        zoneID: AchievementRecord.zoneID, directory: directory, types: [type], files: Self.names,
        recovering: isRecovering, importing: add)
    }
  }

  private func add(to content: inout SyncedStoreImport) throws {
    if let settings = try folder.read(
      Settings.self, Self.settings, format: "achievement-settings")
    {
      content.owner = settings.owner
      content.isEnabled = settings.isEnabled
      content.lastSync = settings.lastSync
    }
    guard let body = try folder.read(Body.self, Self.items, format: "achievements"),
      var set = try folder.read(AchievementSet.self, Self.items, format: "achievements")
    else { return }
    if set.archive == nil || body.isUnsent { set.touch(set.lastUpdated) }
    try content.add(set, systemFields: body.systemFields, isUnsent: body.isUnsent)
    // The record of a newer version was not stored whole, so it is fetched again.
    try folder.add(to: &content, state: body.held == nil ? Self.names.state : nil)
  }
}
