public import CloudSync
public import Foundation
public import SyncSupport

extension ClipboardStore: SyncedStore {
  /// Clipboard entries.
  public var recordType: CloudSyncEngine.RecordType { .clipboardEntry }

  /// Remembers whom to tell about local changes.
  public func connect(to recorder: any ChangeRecorder) {
    document.connect(to: recorder)
  }

  /// The entries to save and to delete, written down as handed over.
  public func changesToSend() throws -> (saves: [UUID], deletes: [UUID]) {
    try document.changesToSend()
  }

  /// Counts every text as not sent.
  public func markEverythingUnsent() {
    document.take { list, log in
      for entry in list.newestFirst where entry.isText {
        log.outbox.noteChange(entry.id, isOffered: true)
      }
    }
  }

  /// Copies an entry's fields onto `record`.
  public func copyFields(of id: UUID, onto record: CKRecord) -> Bool {
    let entry = document.read { list, outbox in outbox.unsent.contains(id) ? list[id] : nil }
    guard let entry, let fields = CloudClipboardRecord(entry) else { return false }
    fields.copy(onto: record)
    return true
  }

  /// Whether the cloud has not confirmed the entry.
  public func isUnsent(_ id: UUID) -> Bool {
    document.read { _, outbox in outbox.unsent.contains(id) }
  }

  /// Takes in what happened in the cloud; what is too many afterwards is deleted there as well.
  public func take(_ news: [CloudNews]) -> [Verdict] {
    document.take { list, log in
      var verdicts = news.map { item in
        switch item {
        case .fetched(let record), .conflict(let record):
          CloudClipboardRecord(record).map { Self.apply($0, &list, &log) }
            ?? Self.hide(item.id, &list, &log)
        case .saved(let record):
          CloudClipboardRecord(record).map { Self.acknowledge($0, list, &log) }
            ?? Verdict(.ignore)
        case .removed(let id), .vanished(let id): Self.remove(id, &list, &log)
        case .deletionDone(let id): Self.deletionDone(id, list, &log)
        }
      }
      let gone = Set(list.keepNewest(Self.mostKept).map(\.id))
      guard !gone.isEmpty else { return verdicts }
      for id in gone.sorted(by: { $0.precedes($1) }) { log.noteRemoval(id) }
      for (position, item) in news.enumerated() {
        if let id = item.id, gone.contains(id) { verdicts[position].duty = .delete }
      }
      return verdicts
    }
  }

  /// Removes every text, from memory and disk; images are this device's own.
  public func forgetEverything() throws {
    try document.replace { $0.removeTexts() }
  }

  /// Writes `clipboard.json` when it lags behind.
  public func writeDown() throws {
    try document.writeDown()
  }

  /// Whether `clipboard.json` was lost, or this store is new.
  public var needsFullFetch: Bool { document.needsFullFetch }

  /// Takes back that the cloud has to be read from its beginning.
  public func fullFetchIsCertain() {
    document.fullFetchIsCertain()
  }

  /// Shows an entry that came from the cloud.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func applyCloudClipboardEntry(_ entry: CloudClipboardRecord) throws -> Verdict {
    let verdict = document.take { list, log in
      let verdict = Self.apply(entry, &list, &log)
      for old in list.keepNewest(Self.mostKept) { Self.noteRemoval(old, &log) }
      return verdict
    }
    try writeDown()
    return verdict
  }

  /// Removes an entry that was deleted in the cloud.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func removeCloudClipboardEntry(id: UUID) throws -> Verdict {
    let verdict = document.take { list, log in Self.remove(id, &list, &log) }
    try writeDown()
    return verdict
  }

  /// The cloud's version wins, whatever is here.
  private static func apply(
    _ remote: CloudClipboardRecord, _ list: inout EntryList, _ log: inout ChangeLog
  ) -> Verdict {
    if log.outbox.deleted.contains(remote.id) { return Verdict(.delete) }
    let isUnsent = log.outbox.unsent.contains(remote.id)
    if let local = list[remote.id] {
      guard let mine = CloudClipboardRecord(local) else { return Verdict(.none) }
      if mine == remote {
        log.outbox.noteSettled(remote.id)
        return Verdict(.none, resolution: isUnsent ? .equal : nil)
      }
    }
    list[remote.id] = ClipboardEntry(
      id: remote.id, text: remote.text, timestamp: remote.timestamp)
    log.outbox.noteSettled(remote.id)
    log.noteLocalChange()
    return Verdict(.none, resolution: isUnsent ? .cloudWon : nil, isVisible: true)
  }

  /// The cloud has a version that this one can't read: it wins like any other, and the engine keeps
  /// it for a version of the app that can show it.
  private static func hide(
    _ id: UUID?, _ list: inout EntryList, _ log: inout ChangeLog
  ) -> Verdict {
    guard let id else { return Verdict(.ignore) }
    if log.outbox.deleted.contains(id) { return Verdict(.delete) }
    guard let local = list[id], local.isText else { return Verdict(.ignore) }
    list[id] = nil
    log.outbox.forget(id)
    log.noteLocalChange()
    return Verdict(.ignore, isVisible: true)
  }

  private static func acknowledge(
    _ sent: CloudClipboardRecord, _ list: EntryList, _ log: inout ChangeLog
  ) -> Verdict {
    if log.outbox.deleted.contains(sent.id) { return Verdict(.delete) }
    guard let local = list[sent.id], let mine = CloudClipboardRecord(local) else {
      return gone(sent.id, &log)
    }
    guard mine == sent else { return Verdict(.save) }
    log.outbox.noteSettled(sent.id)
    return Verdict(.none)
  }

  /// An entry never changes, so a deletion can't cross an edit: it always wins.
  private static func remove(
    _ id: UUID, _ list: inout EntryList, _ log: inout ChangeLog
  ) -> Verdict {
    guard let local = list[id], local.isText else { return gone(id, &log) }
    list[id] = nil
    log.outbox.forget(id)
    log.noteLocalChange()
    return Verdict(.forget, isVisible: true)
  }

  private static func deletionDone(
    _ id: UUID, _ list: EntryList, _ log: inout ChangeLog
  ) -> Verdict {
    if let local = list[id], local.isText {
      log.outbox.noteChange(id, isOffered: true)
      return Verdict(.save)
    }
    return gone(id, &log)
  }

  private static func gone(_ id: UUID, _ log: inout ChangeLog) -> Verdict {
    log.outbox.forget(id)
    return Verdict(.forget)
  }
}
