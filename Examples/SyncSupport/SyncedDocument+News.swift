public import Foundation

/// The merge of the server's events with the items of a document.
///
/// The table of the rules is in `Examples/TabStore/README.md`.
extension SyncedDocument {
  /// Applies events of the server, and deletes the items that exceed the limit afterwards.
  public func take(_ news: [CloudNews]) -> [Verdict] {
    take { items, log in
      var verdicts = news.map { Self.take($0, &items, &log) }
      let gone = Self.removeSurplus(&items, &log)
      for (position, item) in news.enumerated() {
        if let id = item.id, gone.contains(id) { verdicts[position].duty = .delete }
      }
      return verdicts
    }
  }

  /// Shows an item that came from the server, unless the version here is kept.
  ///
  /// - Throws: `FileError` when it can't be written.
  public func apply(_ fields: Items.Fields) throws -> Verdict {
    let verdict = take { items, log in
      let verdict = Self.apply(fields, &items, &log)
      _ = Self.removeSurplus(&items, &log)
      return verdict
    }
    try writeDown()
    return verdict
  }

  /// Removes an item that was deleted on the server, unless an unsent change of it is kept.
  ///
  /// - Throws: `FileError` when it can't be written.
  public func remove(_ id: UUID) throws -> Verdict {
    let verdict = take { items, log in Self.remove(id, &items, &log) }
    try writeDown()
    return verdict
  }

  private static func take(
    _ news: CloudNews, _ items: inout Items, _ log: inout ChangeLog
  ) -> Verdict {
    switch news {
    case .fetched(let record), .conflict(let record):
      if let fields = Items.Fields(record) { return apply(fields, &items, &log) }
      return hide(news.id, &items, &log)
    case .saved(let record):
      return Items.Fields(record).map { acknowledge($0, items, &log) } ?? Verdict(.ignore)
    case .removed(let id): return remove(id, &items, &log)
    case .vanished(let id): return vanished(id, &items, &log)
    case .deletionDone(let id): return deletionDone(id, items, &log)
    }
  }

  private static func apply(
    _ remote: Items.Fields, _ items: inout Items, _ log: inout ChangeLog
  ) -> Verdict {
    if log.outbox.deleted.contains(remote.id) { return Verdict(.delete) }
    let isUnsent = log.outbox.unsent.contains(remote.id)
    if items.contains(remote.id) {
      // An item that stays on this device does not follow what others do with its record.
      guard let mine = items.fields(of: remote.id) else { return Verdict(.none) }
      if mine == remote {
        log.outbox.noteSettled(remote.id)
        return Verdict(.none, resolution: isUnsent ? .equal : nil)
      }
      if isUnsent && Items.keeps(mine, over: remote) {
        return Verdict(.save, resolution: .localWon)
      }
    }
    items.show(remote)
    log.outbox.noteSettled(remote.id)
    log.noteLocalChange()
    return Verdict(.none, resolution: isUnsent ? .cloudWon : nil, isVisible: true)
  }

  /// Hides an item whose record this version of the app can't read any more.
  ///
  /// The engine keeps the record. An unsent change that is kept stays visible, for the version of
  /// the app that can merge both.
  private static func hide(
    _ id: UUID?, _ items: inout Items, _ log: inout ChangeLog
  ) -> Verdict {
    guard let id else { return Verdict(.ignore) }
    if log.outbox.deleted.contains(id) { return Verdict(.delete) }
    guard let mine = items.fields(of: id),
      !(log.outbox.unsent.contains(id) && Items.keeps(mine, over: nil))
    else { return Verdict(.ignore) }
    items.remove(id)
    log.outbox.forget(id)
    log.noteLocalChange()
    return Verdict(.ignore, isVisible: true)
  }

  /// Settles a save if what was saved is still the latest version.
  private static func acknowledge(
    _ sent: Items.Fields, _ items: Items, _ log: inout ChangeLog
  ) -> Verdict {
    if log.outbox.deleted.contains(sent.id) { return Verdict(.delete) }
    guard let mine = items.fields(of: sent.id) else { return gone(sent.id, &log) }
    guard mine == sent else { return Verdict(.save) }
    log.outbox.noteSettled(sent.id)
    return Verdict(.none)
  }

  private static func remove(
    _ id: UUID, _ items: inout Items, _ log: inout ChangeLog
  ) -> Verdict {
    guard let mine = items.fields(of: id) else { return gone(id, &log) }
    if log.outbox.unsent.contains(id) && Items.keeps(mine, over: nil) {
      return Verdict(.save, resolution: .localWon)
    }
    items.remove(id)
    log.outbox.forget(id)
    log.noteLocalChange()
    return Verdict(.forget, isVisible: true)
  }

  /// Sends an unsent change that is kept as a new record; a settled item waits for the next fetch.
  private static func vanished(
    _ id: UUID, _ items: inout Items, _ log: inout ChangeLog
  ) -> Verdict {
    if let mine = items.fields(of: id), Items.keeps(mine, over: nil),
      !log.outbox.unsent.contains(id)
    {
      return gone(id, &log)
    }
    return remove(id, &items, &log)
  }

  private static func deletionDone(
    _ id: UUID, _ items: Items, _ log: inout ChangeLog
  ) -> Verdict {
    guard items.fields(of: id) != nil else { return gone(id, &log) }
    // The item was added again in the meantime: the old one was deleted.
    log.outbox.noteChange(id, isOffered: true)
    return Verdict(.save)
  }

  private static func gone(_ id: UUID, _ log: inout ChangeLog) -> Verdict {
    log.outbox.forget(id)
    return Verdict(.forget)
  }

  private static func removeSurplus(_ items: inout Items, _ log: inout ChangeLog) -> Set<UUID> {
    let gone = Set(items.removeSurplus())
    for id in gone.sorted(by: { $0.precedes($1) }) { log.noteRemoval(id) }
    return gone
  }
}
