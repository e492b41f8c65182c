public import Foundation
public import SyncSupport

extension TabStore: DocumentStore {
  /// Shows a tab that came from the server, unless a newer version is here.
  ///
  /// - Throws: `FileError` when it can't be written.
  @discardableResult
  public func applyCloudTab(_ tab: CloudTabRecord) throws -> Verdict {
    try document.apply(tab)
  }

  /// Closes a tab that was deleted on the server, unless it has an unsent edit.
  ///
  /// - Throws: `FileError` when it can't be written.
  @discardableResult
  public func removeCloudTab(id: UUID) throws -> Verdict {
    try document.remove(id)
  }
}

extension CloudTabRecord: SyncedFields {}

extension TabList: SyncedItems {
  /// The IDs of the scratch tabs.
  public var syncedIDs: [UUID] { tabs.filter(\.isScratch).map(\.id) }

  /// Whether a tab with this ID is open.
  public func contains(_ id: UUID) -> Bool { self[id] != nil }

  /// The fields of the scratch tab `id`.
  public func fields(of id: UUID) -> CloudTabRecord? {
    self[id].flatMap { $0.isScratch ? CloudTabRecord($0) : nil }
  }

  /// Opens the tab that a record describes, or replaces it.
  public mutating func show(_ fields: CloudTabRecord) {
    self[fields.id] = ScratchTab(fields)
  }

  /// Closes the tab `id`.
  public mutating func remove(_ id: UUID) {
    self[id] = nil
  }

  /// Whether an unsent edit is kept: the later one wins, and every edit wins over a deletion.
  public static func keeps(_ mine: CloudTabRecord, over theirs: CloudTabRecord?) -> Bool {
    theirs.map { mine.wins(over: $0) } ?? true
  }
}
