public import Foundation
public import SyncSupport
public import SyncedStore
public import TabStore

/// The clipboard history of one device, in a ``SyncedStore``.
///
/// Entries are added and deleted but never changed. Texts sync, images stay. Every change is on the
/// disk when the call returns. May be used from any thread.
public final class ClipboardStore: Sendable {
  /// The maximum number of texts; the oldest are deleted, on every device.
  public static let mostKept = 1_000

  /// Entries, and the rule for conflicts: an entry never changes, so the server's version wins.
  public static let type = SyncedType(
    ClipboardEntry.self, merging: .serverWins, surplus: { surplus($0) })

  /// The items, and their sync.
  public let store: SyncedStore

  /// Uses the entries of a store that was opened with ``type``.
  public init(_ store: SyncedStore) {
    self.store = store
  }

  /// The entries that are too many of their kind.
  ///
  /// Texts and images are counted apart: images exist on one device only, and counting them in
  /// would make devices disagree about which texts are too many.
  private static func surplus(_ entries: [ClipboardEntry]) -> [ClipboardEntry] {
    guard entries.count > mostKept else { return [] }
    let sorted = entries.sorted { $0.isAbove($1) }
    return Array(sorted.filter(\.isText).dropFirst(mostKept))
      + sorted.filter { !$0.isText }.dropFirst(mostKept)
  }

  /// All entries, newest first.
  public var entries: [ClipboardEntry] { store.items().sorted { $0.isAbove($1) } }

  /// The entry `id`, or `nil`.
  public func entry(_ id: UUID) -> ClipboardEntry? { store.item(named: id.uuidString) }

  /// The number of changes that the server has not confirmed.
  public var unsentCount: Int { store.unsentCount(of: ClipboardEntry.self) }

  /// Whether the server has not confirmed the entry `id`.
  public func isUnsent(_ id: UUID) -> Bool { store.isUnsent(id.uuidString) }

  /// Adds an entry.
  ///
  /// - Throws: `FileError` if it can't be stored; it is not added then.
  public func add(_ entry: ClipboardEntry) throws {
    try add([entry])
  }

  /// Adds many entries with one write; an entry whose ID is known stays as it is.
  ///
  /// - Throws: `FileError` if they can't be stored; none is added then.
  public func add(_ entries: [ClipboardEntry]) throws {
    try store.change { change in
      for entry in entries
      where change.item(ClipboardEntry.self, named: entry.recordName) == nil {
        try change.save(entry)
      }
    }
  }

  /// Deletes an entry, on every device.
  ///
  /// - Returns: whether there was such an entry.
  /// - Throws: `FileError` if it can't be stored; it stays then.
  @discardableResult
  public func delete(_ id: UUID) throws -> Bool {
    try remove { $0.id == id } > 0
  }

  /// Deletes everything, on every device.
  ///
  /// - Returns: the number of entries.
  /// - Throws: `FileError` if it can't be stored; everything stays then.
  @discardableResult
  public func clear() throws -> Int {
    try remove { _ in true }
  }

  /// Deletes, on every device, what was copied more than `age` seconds before `now`.
  ///
  /// - Returns: the number of deleted entries.
  /// - Throws: `FileError` if it can't be stored; everything stays then.
  @discardableResult
  public func prune(olderThan age: TimeInterval, now: Date) throws -> Int {
    let limit = now.addingTimeInterval(-age)
    return try remove { $0.timestamp < limit }
  }

  private func remove(_ isRemoved: (ClipboardEntry) -> Bool) throws -> Int {
    try store.change { change in
      let removed = change.items(ClipboardEntry.self).filter(isRemoved)
      for entry in removed { change.delete(ClipboardEntry.self, named: entry.recordName) }
      return removed.count
    }
  }

  /// Adds an entry that came from the server.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func applyCloudClipboardEntry(_ entry: CloudClipboardRecord) throws {
    let record = CKRecord(recordType: ClipboardEntry.recordType, recordID: recordID(entry.id))
    entry.copy(to: record)
    try store.receive([record])
  }

  /// Removes an entry that was deleted on the server.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func removeCloudClipboardEntry(id: UUID) throws {
    try store.receive([], deleted: [recordID(id)])
  }

  private func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: store.zoneID)
  }

  /// Takes over the entries that an older version of the app kept in the key-value store, once.
  ///
  /// - Throws: `FileError` if it can't be stored; nothing is taken over then.
  public func migrate(_ export: KeyValueExport) throws -> MigrationReport {
    try store.migrateOnce(Self.migrated) { change, report in
      for id in export.deletedClipboardIDs {
        if change.item(ClipboardEntry.self, named: id.uuidString) != nil { report.removed += 1 }
        change.delete(ClipboardEntry.self, named: id.uuidString, evenIfUnknown: true)
      }
      for old in export.clipboard {
        let entry = ClipboardEntry(id: old.id, text: old.text, timestamp: old.timestamp)
        guard change.item(ClipboardEntry.self, named: entry.recordName) == nil else { continue }
        try change.save(entry)
        report.added += 1
      }
    }
  }

  static let migrated = "clipboard migrated"

  /// The file of the entries in the first version of the store.
  public static let firstVersion = FirstVersion.File(
    "clipboard.json", format: "clipboard", of: ClipboardEntry.self,
    migrated: migrated)
}
