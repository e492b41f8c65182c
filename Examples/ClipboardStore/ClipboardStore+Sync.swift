public import Foundation
public import SyncSupport

extension ClipboardStore: DocumentStore {
  /// Shows an entry that came from the server.
  ///
  /// - Throws: `FileError` when it can't be written.
  @discardableResult
  public func applyCloudClipboardEntry(_ entry: CloudClipboardRecord) throws -> Verdict {
    try document.apply(entry)
  }

  /// Removes an entry that was deleted on the server.
  ///
  /// - Throws: `FileError` when it can't be written.
  @discardableResult
  public func removeCloudClipboardEntry(id: UUID) throws -> Verdict {
    try document.remove(id)
  }
}

extension CloudClipboardRecord: SyncedFields {}

extension EntryList: SyncedItems {
  /// The IDs of the texts.
  public var syncedIDs: [UUID] { newestFirst.filter(\.isText).map(\.id) }

  /// Whether there is an entry with this ID.
  public func contains(_ id: UUID) -> Bool { self[id] != nil }

  /// The fields of the text `id`.
  public func fields(of id: UUID) -> CloudClipboardRecord? {
    self[id].flatMap { CloudClipboardRecord($0) }
  }

  /// Adds the entry that a record describes, or replaces it.
  public mutating func show(_ fields: CloudClipboardRecord) {
    self[fields.id] = ClipboardEntry(id: fields.id, text: fields.text, timestamp: fields.timestamp)
  }

  /// Removes the entry `id`.
  public mutating func remove(_ id: UUID) {
    self[id] = nil
  }

  /// Removes the oldest entries that are too many.
  public mutating func removeSurplus() -> [UUID] {
    keepNewest(ClipboardStore.mostKept).map(\.id)
  }

  /// Returns `false`: an entry never changes, so the server's version and its deletions win.
  public static func keeps(
    _ mine: CloudClipboardRecord, over theirs: CloudClipboardRecord?
  ) -> Bool { false }
}
