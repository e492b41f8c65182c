public import CloudSync
public import Foundation
public import SyncSupport

extension TabStore: SyncedStore {
  /// Scratch tabs.
  public var recordType: CloudSyncEngine.RecordType { .scratchTab }

  /// Remembers whom to tell about local changes.
  public func connect(to recorder: any ChangeRecorder) {
    document.connect(to: recorder)
  }

  /// The tabs to save and to delete, written down as handed over.
  public func changesToSend() throws -> (saves: [UUID], deletes: [UUID]) {
    try document.changesToSend()
  }

  /// Counts every scratch tab as not sent.
  public func markEverythingUnsent() {
    document.take { list, log in
      for tab in list.tabs where tab.isScratch { log.outbox.noteChange(tab.id, isOffered: true) }
    }
  }

  /// Copies a tab's fields onto `record`.
  public func copyFields(of id: UUID, onto record: CKRecord) -> Bool {
    let tab = document.read { list, outbox in outbox.unsent.contains(id) ? list[id] : nil }
    guard let tab, tab.isScratch else { return false }
    CloudTabRecord(tab).copy(onto: record)
    return true
  }

  /// Whether the cloud lacks the tab's latest version.
  public func isUnsent(_ id: UUID) -> Bool {
    document.read { _, outbox in outbox.unsent.contains(id) }
  }

  /// Takes in what happened in the cloud; the table is in `Examples/TabStore/README.md`.
  public func take(_ news: [CloudNews]) -> [Verdict] {
    document.take { list, log in
      news.map { item in
        switch item {
        case .fetched(let record), .conflict(let record):
          CloudTabRecord(record).map { Self.apply($0, &list, &log) }
            ?? Self.hide(item.id, &list, &log)
        case .saved(let record):
          CloudTabRecord(record).map { Self.acknowledge($0, list, &log) } ?? Verdict(.ignore)
        case .removed(let id): Self.remove(id, &list, &log)
        case .deletionDone(let id): Self.deletionDone(id, list, &log)
        case .vanished(let id): Self.vanished(id, list, &log)
        }
      }
    }
  }

  /// Removes every scratch tab, from memory and disk; tabs of files are this device's own.
  public func forgetEverything() throws {
    try document.replace { $0.removeScratchTabs() }
  }

  /// Writes `tabs.json` when it lags behind.
  public func writeDown() throws {
    try document.writeDown()
  }

  /// Whether `tabs.json` was lost, or this store is new.
  public var needsFullFetch: Bool { document.needsFullFetch }

  /// Takes back that the cloud has to be read from its beginning.
  public func fullFetchIsCertain() {
    document.fullFetchIsCertain()
  }

  /// Shows a tab that came from the cloud, unless a newer version is here.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func applyCloudTab(_ tab: CloudTabRecord) throws -> Verdict {
    let verdict = document.take { list, log in Self.apply(tab, &list, &log) }
    try writeDown()
    return verdict
  }

  /// Closes a tab that was deleted in the cloud, unless it has an edit the cloud has not seen.
  ///
  /// - Throws: `FileError` when it can't be written down.
  @discardableResult
  public func removeCloudTab(id: UUID) throws -> Verdict {
    let verdict = document.take { list, log in Self.remove(id, &list, &log) }
    try writeDown()
    return verdict
  }

  /// Brings the cloud's version and the local one together.
  private static func apply(
    _ remote: CloudTabRecord, _ list: inout TabList, _ log: inout ChangeLog
  ) -> Verdict {
    if log.outbox.deleted.contains(remote.id) { return Verdict(.delete) }
    let isUnsent = log.outbox.unsent.contains(remote.id)
    if let local = list[remote.id] {
      // A tab that became a file's has left the cloud; what others do there is not its business.
      guard local.isScratch else { return Verdict(.none) }
      let mine = CloudTabRecord(local)
      if mine == remote {
        log.outbox.noteSettled(remote.id)
        return Verdict(.none, resolution: isUnsent ? .equal : nil)
      }
      if isUnsent && mine.wins(over: remote) {
        return Verdict(.save, resolution: .localWon)
      }
    }
    list[remote.id] = ScratchTab(remote)
    log.outbox.noteSettled(remote.id)
    log.noteLocalChange()
    return Verdict(.none, resolution: isUnsent ? .cloudWon : nil, isVisible: true)
  }

  /// The cloud has a version that this one can't read; what is here is outdated.
  ///
  /// The engine keeps it. An edit that was not sent yet stays, for the version of the app that can
  /// bring both together.
  private static func hide(
    _ id: UUID?, _ list: inout TabList, _ log: inout ChangeLog
  ) -> Verdict {
    guard let id else { return Verdict(.ignore) }
    if log.outbox.deleted.contains(id) { return Verdict(.delete) }
    guard let local = list[id], local.isScratch, !log.outbox.unsent.contains(id) else {
      return Verdict(.ignore)
    }
    list[id] = nil
    log.outbox.forget(id)
    log.noteLocalChange()
    return Verdict(.ignore, isVisible: true)
  }

  /// The cloud took a version; only if it is still the latest one, nothing is left to send.
  private static func acknowledge(
    _ sent: CloudTabRecord, _ list: TabList, _ log: inout ChangeLog
  ) -> Verdict {
    if log.outbox.deleted.contains(sent.id) { return Verdict(.delete) }
    guard let local = list[sent.id], local.isScratch else { return gone(sent.id, &log) }
    guard CloudTabRecord(local) == sent else { return Verdict(.save) }
    log.outbox.noteSettled(sent.id)
    return Verdict(.none)
  }

  private static func remove(
    _ id: UUID, _ list: inout TabList, _ log: inout ChangeLog
  ) -> Verdict {
    guard let local = list[id], local.isScratch else { return gone(id, &log) }
    // An edit the cloud has not seen is worth more than a deletion: the tab is made anew.
    if log.outbox.unsent.contains(id) { return Verdict(.save, resolution: .localWon) }
    list[id] = nil
    log.outbox.forget(id)
    log.noteLocalChange()
    return Verdict(.forget, isVisible: true)
  }

  private static func deletionDone(
    _ id: UUID, _ list: TabList, _ log: inout ChangeLog
  ) -> Verdict {
    if let local = list[id], local.isScratch {
      // Opened again meanwhile: what was deleted is the old one.
      log.outbox.noteChange(id, isOffered: true)
      return Verdict(.save)
    }
    return gone(id, &log)
  }

  private static func vanished(
    _ id: UUID, _ list: TabList, _ log: inout ChangeLog
  ) -> Verdict {
    guard list[id] != nil, log.outbox.unsent.contains(id) else { return gone(id, &log) }
    return Verdict(.save, resolution: .localWon)
  }

  private static func gone(_ id: UUID, _ log: inout ChangeLog) -> Verdict {
    log.outbox.forget(id)
    return Verdict(.forget)
  }
}
