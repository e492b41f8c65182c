public import Foundation
public import SyncSupport

/// The clipboard history of one device, kept in `clipboard.json`.
///
/// Entries come and go but never change. Texts sync, images stay. Every change is on the disk when
/// the call returns. May be used from any thread.
public final class ClipboardStore: Sendable {
  /// The most texts kept; the oldest go first, on every device.
  public static let mostKept = 1_000

  /// The entries, the outbox, and the file of both.
  public let document: SyncedDocument<EntryList>

  /// Opens the history kept in `directory`.
  ///
  /// - Parameters:
  ///   - directory: the folder.
  ///   - isRecovering: whether a damaged `clipboard.json` is set aside under another name; the
  ///     store is empty then, and the next ``CloudSyncEngine/start()`` fetches all the cloud has.
  /// - Throws: `FileError` when `clipboard.json` is damaged or can't be read; nothing is changed
  ///   then.
  public init(directory: URL, recovering isRecovering: Bool = false) throws {
    document = try SyncedDocument(
      directory.appendingPathComponent("clipboard.json"), format: "clipboard",
      recordType: .clipboardEntry, recovering: isRecovering)
  }

  /// All entries, newest first.
  public var entries: [ClipboardEntry] { document.read { list, _ in list.newestFirst } }

  /// The entry `id`, or `nil`.
  public func entry(_ id: UUID) -> ClipboardEntry? {
    document.read { list, _ in list[id] }
  }

  /// Adds an entry.
  ///
  /// - Throws: `FileError` when it can't be written down; it is not added then.
  public func add(_ entry: ClipboardEntry) throws {
    try add([entry])
  }

  /// Adds many entries with one write; an entry whose ID is known is left as it is.
  ///
  /// - Throws: `FileError` when they can't be written down; none is added then.
  public func add(_ entries: [ClipboardEntry]) throws {
    try document.change { list, log in
      for entry in entries where list[entry.id] == nil {
        list[entry.id] = entry
        log.noteLocalChange()
        if entry.isText { log.noteChange(entry.id) }
      }
      for entry in list.keepNewest(Self.mostKept) { Self.noteRemoval(entry, &log) }
    }
  }

  /// Deletes an entry, on every device.
  ///
  /// - Returns: whether there was such an entry.
  /// - Throws: `FileError` when it can't be written down; it stays then.
  @discardableResult
  public func delete(_ id: UUID) throws -> Bool {
    try remove { $0.id == id } > 0
  }

  /// Deletes everything, on every device.
  ///
  /// - Returns: how many entries there were.
  /// - Throws: `FileError` when it can't be written down; everything stays then.
  @discardableResult
  public func clear() throws -> Int {
    try remove { _ in true }
  }

  /// Deletes, on every device, what was copied more than `age` seconds before `now`.
  ///
  /// - Returns: how many entries went.
  /// - Throws: `FileError` when it can't be written down; everything stays then.
  @discardableResult
  public func prune(olderThan age: TimeInterval, now: Date) throws -> Int {
    let limit = now.addingTimeInterval(-age)
    return try remove { $0.timestamp < limit }
  }

  /// Moves in what an older version of the app kept in the key-value store, once.
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
      for id in export.deletedClipboardIDs {
        if list[id] != nil { report.removed += 1 }
        list[id] = nil
        log.noteRemoval(id, isKnown: true)
      }
      for old in export.clipboard where list[old.id] == nil {
        list[old.id] = ClipboardEntry(id: old.id, text: old.text, timestamp: old.timestamp)
        log.noteChange(old.id)
        report.added += 1
      }
      for entry in list.keepNewest(Self.mostKept) { Self.noteRemoval(entry, &log) }
      return report
    }
  }

  private func remove(_ isGone: (ClipboardEntry) -> Bool) throws -> Int {
    try document.change { list, log in
      let gone = list.newestFirst.filter(isGone)
      for entry in gone {
        list[entry.id] = nil
        Self.noteRemoval(entry, &log)
      }
      return gone.count
    }
  }

  static func noteRemoval(_ entry: ClipboardEntry, _ log: inout ChangeLog) {
    log.noteLocalChange()
    if entry.isText { log.noteRemoval(entry.id) }
  }
}
