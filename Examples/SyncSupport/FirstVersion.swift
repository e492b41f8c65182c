public import Foundation
public import SyncedStore

/// The files of the first version of a store, which had one document for each type of items, one
/// for the system fields, one for unreadable records and one for settings.
///
/// They are read when the store has no file yet, and removed when it has one; a crash in between
/// repeats this.
public struct FirstVersion {
  /// A document of items with their unsent changes.
  public struct File: Sendable {
    let name: String
    let add: @Sendable (DocumentFolder, [String: Data], inout SyncedStoreImport) throws -> Bool

    /// Describes a document.
    ///
    /// - Parameters:
    ///   - name: the name of the file.
    ///   - format: the format's name in the file.
    ///   - item: the type of the items.
    ///   - migrated: the property that was `hasMigrated`.
    public init<Item: SyncedItem>(
      _ name: String, format: String, of item: Item.Type, migrated: String
    ) {
      self.name = name
      add = { folder, systemFields, content in
        guard let body = try folder.read(Document<Item>.self, name, format: format) else {
          return false
        }
        for item in body.items.tabs ?? body.items.entries ?? [] {
          try content.add(
            item, systemFields: systemFields[item.recordName],
            isUnsent: body.outbox.unsent.contains(item.recordName),
            wasOffered: body.outbox.offered.contains(item.recordName))
        }
        for name in body.outbox.deleted {
          try content.addDeletion(
            of: Item.self, named: name, systemFields: systemFields[name])
        }
        if body.items.hasMigrated { content.setProperty(migrated, "yes") }
        return body.isUnfetched != true
      }
    }
  }

  private struct Document<Item: SyncedItem>: Codable {
    struct Items: Codable {
      var tabs: [Item]?
      var entries: [Item]?
      var hasMigrated: Bool
    }

    struct Outbox: Codable {
      var unsent: Set<String>
      var deleted: Set<String>
      var offered: Set<String>
    }

    var items: Items
    var outbox: Outbox
    var isUnfetched: Bool?
  }

  private struct Settings: Codable {
    var isSyncEnabled: Bool
    var owner: String?
  }

  private let folder: DocumentFolder
  private let files: [File]

  /// Names the files in a directory; nothing is read.
  public init(_ directory: URL, files: [File], recovering isRecovering: Bool) {
    folder = DocumentFolder(directory, recovering: isRecovering)
    self.files = files
  }

  private static let metadata = "cloud-record-metadata.json"
  private static let movedMetadata = "first-record-metadata.json"
  private static let settings = "cloud-sync-settings.json"

  /// Opens the store with the content of the files, if there are any.
  public func open(
    _ zoneName: String, types: [SyncedType], names: SyncedStore.FileNames
  ) throws -> SyncedStore {
    try moveMetadata()
    let documents = files.map(\.name) + [Self.movedMetadata, DocumentFolder.kept, Self.settings]
    return try folder.takeOver(documents) { directory, isRecovering in
      try SyncedStore(
        zoneID: CKRecordZone.ID(zoneName: zoneName), directory: directory, types: types,
        files: names, recovering: isRecovering,
        importing: { try add(to: &$0, stateName: names.state) })
    }
  }

  /// The store's own file has the name of the old file of system fields.
  private func moveMetadata() throws {
    let file = folder.file(Self.metadata)
    guard let data = try file.read(), data.first == UInt8(ascii: "{") else { return }
    try folder.file(Self.movedMetadata).write(data)
    try file.removeFile()
  }

  private func add(to content: inout SyncedStoreImport, stateName: String) throws {
    let systemFields = try folder.systemFields(Self.movedMetadata)
    var isComplete = true
    for file in files where try folder.file(file.name).read() != nil {
      let isFetched = try file.add(folder, systemFields, &content)
      isComplete = isComplete && isFetched
    }
    if let settings = try folder.read(Settings.self, Self.settings, format: "sync-settings") {
      content.owner = settings.owner
      content.isEnabled = settings.isSyncEnabled
    }
    try folder.add(to: &content, state: isComplete ? stateName : nil)
  }
}
