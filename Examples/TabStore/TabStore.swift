public import Foundation
public import SyncSupport

/// The tabs of one device: the truth the editor shows, kept in `tabs.json`.
///
/// Every change is on the disk when the call returns, together with the note that the cloud is to
/// hear of it. May be used from any thread.
public final class TabStore: Sendable {
  /// The tabs, the outbox, and the file of both.
  public let document: SyncedDocument<TabList>

  /// Opens the tabs kept in `directory`.
  ///
  /// - Parameters:
  ///   - directory: the folder.
  ///   - isRecovering: whether a damaged `tabs.json` is set aside under another name; the store is
  ///     empty then, and the next ``CloudSyncEngine/start()`` fetches all the cloud has.
  /// - Throws: `FileError` when `tabs.json` is damaged or can't be read; nothing is changed then.
  public init(directory: URL, recovering isRecovering: Bool = false) throws {
    document = try SyncedDocument(
      directory.appendingPathComponent("tabs.json"), format: "tabs", recordType: .scratchTab,
      recovering: isRecovering)
  }

  /// All tabs, in the order they were opened.
  public var tabs: [ScratchTab] { document.read { list, _ in list.tabs } }

  /// The tab `id`, or `nil`.
  public func tab(_ id: UUID) -> ScratchTab? {
    document.read { list, _ in list[id] }
  }

  /// Opens a tab.
  ///
  /// - Throws: `FileError` when it can't be written down; it is not opened then.
  public func add(_ tab: ScratchTab) throws {
    try add([tab])
  }

  /// Opens many tabs with one write; a tab that is open already is replaced.
  ///
  /// - Throws: `FileError` when they can't be written down; none is opened then.
  public func add(_ tabs: [ScratchTab]) throws {
    try document.change { list, log in
      for tab in tabs {
        let before = list[tab.id]
        list[tab.id] = tab
        Self.note(before, tab, &log)
      }
    }
  }

  /// Changes a tab's text, name, language or file.
  ///
  /// - Parameters:
  ///   - id: the tab.
  ///   - now: the time of the edit.
  ///   - edit: changes the tab; its date is not its business.
  /// - Returns: the tab after the edit; `nil` when there is no such tab.
  /// - Throws: `FileError` when it can't be written down; the tab is as before then.
  @discardableResult
  public func edit(
    _ id: UUID, now: Date, _ edit: (inout ScratchTab) -> Void
  ) throws -> ScratchTab? {
    try document.change { list, log in
      guard let before = list[id] else { return nil }
      var tab = before
      edit(&tab)
      guard tab != before else { return before }
      tab.touch(now)
      list[id] = tab
      Self.note(before, tab, &log)
      return tab
    }
  }

  /// Changes a tab's text.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func updateContent(_ id: UUID, _ content: String, now: Date) throws -> ScratchTab? {
    try edit(id, now: now) { $0.content = content }
  }

  /// Chooses a tab's language, for good.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func updateLanguage(_ id: UUID, _ language: String, now: Date) throws -> ScratchTab? {
    try edit(id, now: now) {
      $0.language = language
      $0.languageLocked = true
    }
  }

  /// Closes a tab; a scratch tab goes on every device.
  ///
  /// - Returns: whether there was such a tab.
  /// - Throws: `FileError` when it can't be written down; the tab stays open then.
  @discardableResult
  public func close(_ id: UUID) throws -> Bool {
    try document.change { list, log in
      guard let tab = list[id] else { return false }
      list[id] = nil
      Self.note(tab, nil, &log)
      return true
    }
  }

  /// Moves in what an older version of the app kept in the key-value store, once.
  ///
  /// The later version of a tab stays. A tombstone closes the tab here and in the cloud, so that
  /// a device that moved before can't bring it back.
  ///
  /// - Throws: `FileError` when it can't be written down; nothing moved then.
  public func migrate(_ export: KeyValueExport) throws -> MigrationReport {
    try document.change { list, log in
      var report = MigrationReport()
      guard !list.hasMigrated else {
        report.wasDoneBefore = true
        return report
      }
      list.hasMigrated = true
      log.noteLocalChange()
      for id in export.deletedTabIDs {
        if let tab = list[id] {
          guard tab.isScratch else { continue }
          report.removed += 1
          list[id] = nil
        }
        log.noteRemoval(id, isKnown: true)
      }
      for old in export.tabs {
        let tab = ScratchTab(
          id: old.id, name: old.name, content: old.content, language: old.language,
          languageLocked: old.languageLocked, lastModified: old.lastModified)
        let before = list[old.id]
        if let before, !before.isScratch { continue }
        if let before, !CloudTabRecord(tab).wins(over: CloudTabRecord(before)) { continue }
        if before == nil { report.added += 1 } else { report.updated += 1 }
        list[old.id] = tab
        log.noteChange(tab.id)
      }
      return report
    }
  }

  /// Notes what the cloud has to hear of a tab that was `before` and is `after` now.
  private static func note(
    _ before: ScratchTab?, _ after: ScratchTab?, _ log: inout ChangeLog
  ) {
    log.noteLocalChange()
    if let after, after.isScratch {
      log.noteChange(after.id)
    } else if let before, before.isScratch {
      // Closed, or saved to a file: the file is the tab's home now, and other devices drop it.
      log.noteRemoval(before.id)
    }
  }
}
