public import Foundation
public import SyncSupport
public import SyncedStore

/// The tabs of one device, in a ``SyncedStore``.
///
/// Every change is on the disk when the call returns. May be used from any thread.
public final class TabStore: Sendable {
  /// Tabs, and the rule for conflicts: the later `lastModified` wins, and an edit wins over a
  /// deletion.
  public static let type = SyncedType(
    ScratchTab.self,
    merging: MergePolicy { conflict in
      guard case .item(let theirs) = conflict.server else { return .mine }
      return conflict.mine.wins(over: theirs) ? .mine : .server
    })

  /// The items, and their sync.
  public let store: SyncedStore

  /// Uses the tabs of a store that was opened with ``type``.
  public init(_ store: SyncedStore) {
    self.store = store
  }

  /// All tabs, in the order in which they were opened.
  public var tabs: [ScratchTab] { store.items() }

  /// The tab `id`, or `nil`.
  public func tab(_ id: UUID) -> ScratchTab? { store.item(named: id.uuidString) }

  /// The number of changes that the server has not confirmed.
  public var unsentCount: Int { store.unsentCount(of: ScratchTab.self) }

  /// Whether the server has not confirmed the last change of the tab `id`.
  public func isUnsent(_ id: UUID) -> Bool { store.isUnsent(id.uuidString) }

  /// Opens a tab.
  ///
  /// - Throws: `FileError` if it can't be stored; it is not opened then.
  public func add(_ tab: ScratchTab) throws {
    try add([tab])
  }

  /// Opens many tabs with one write; a tab that is open is replaced.
  ///
  /// - Throws: `FileError` if they can't be stored; none is opened then.
  public func add(_ tabs: [ScratchTab]) throws {
    try store.change { change in
      for tab in tabs { try change.save(tab) }
    }
  }

  /// Changes a tab's text, name, language or file.
  ///
  /// - Parameters:
  ///   - id: the tab.
  ///   - now: the time of the edit.
  ///   - edit: changes the tab; the date follows from `now`.
  /// - Returns: the tab after the edit; `nil` if there is none.
  /// - Throws: `FileError` if it can't be stored; the tab is as before then.
  @discardableResult
  public func edit(
    _ id: UUID, now: Date, _ edit: (inout ScratchTab) -> Void
  ) throws -> ScratchTab? {
    try store.change { change in
      try change.edit(ScratchTab.self, named: id.uuidString) { tab in
        let before = tab
        edit(&tab)
        if tab != before { tab.touch(now) }
      }
      return change.item(named: id.uuidString)
    }
  }

  /// Changes a tab's text.
  ///
  /// - Throws: `FileError` if it can't be stored.
  @discardableResult
  public func updateContent(_ id: UUID, _ content: String, now: Date) throws -> ScratchTab? {
    try edit(id, now: now) { $0.content = content }
  }

  /// Sets a tab's language, which is not detected any more.
  ///
  /// - Throws: `FileError` if it can't be stored.
  @discardableResult
  public func updateLanguage(_ id: UUID, _ language: String, now: Date) throws -> ScratchTab? {
    try edit(id, now: now) {
      $0.language = language
      $0.languageLocked = true
    }
  }

  /// Closes a tab; a scratch tab is closed on every device.
  ///
  /// - Returns: whether there was such a tab.
  /// - Throws: `FileError` if it can't be stored; the tab stays open then.
  @discardableResult
  public func close(_ id: UUID) throws -> Bool {
    try store.change { change in
      guard change.item(ScratchTab.self, named: id.uuidString) != nil else { return false }
      change.delete(ScratchTab.self, named: id.uuidString)
      return true
    }
  }

  /// Opens a tab that came from the server, unless a newer version is here.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func applyCloudTab(_ tab: CloudTabRecord) throws {
    // The record has no change tag that tells which version is newer.
    if let mine = self.tab(tab.id), !tab.wins(over: mine), !store.isUnsent(tab.recordName) {
      return
    }
    let record = CKRecord(recordType: ScratchTab.recordType, recordID: recordID(tab.id))
    tab.copy(to: record)
    try store.receive([record])
  }

  /// Closes a tab that was deleted on the server, unless it has an unsent edit.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func removeCloudTab(id: UUID) throws {
    try store.receive([], deleted: [recordID(id)])
  }

  private func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: store.zoneID)
  }

  /// Takes over the tabs that an older version of the app kept in the key-value store, once.
  ///
  /// The later version of a tab stays. A tombstone closes the tab here and on the server, so that
  /// a device that migrated earlier can't restore it.
  ///
  /// - Throws: `FileError` if it can't be stored; nothing is taken over then.
  public func migrate(_ export: KeyValueExport) throws -> MigrationReport {
    try store.migrateOnce(Self.migrated) { change, report in
      for id in export.deletedTabIDs {
        let tab: ScratchTab? = change.item(named: id.uuidString)
        if let tab {
          guard tab.isScratch else { continue }
          report.removed += 1
        }
        change.delete(ScratchTab.self, named: id.uuidString, evenIfUnknown: true)
      }
      for tab in export.tabs {
        if let before: ScratchTab = change.item(named: tab.recordName) {
          guard before.isScratch, tab.wins(over: before) else { continue }
          report.updated += 1
        } else {
          report.added += 1
        }
        try change.save(tab)
      }
    }
  }

  static let migrated = "tabs migrated"

  /// The file of the tabs in the first version of the store.
  public static let firstVersion = FirstVersion.File(
    "tabs.json", format: "tabs", of: ScratchTab.self, migrated: migrated)
}
