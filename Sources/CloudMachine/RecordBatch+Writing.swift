import CloudProtocol
import Records

/// Writing a validated batch.
extension RecordBatch {
  /// Writes the saves and `removals` to `transaction`: saves in the order of the request, then
  /// deletions with their cascades, then records whose share changed.
  func write(_ removals: [Removal], to transaction: inout WriteTransaction) throws -> Outcome {
    let home = try transaction.open(access.home, context)
    var pages = Pages(zone: zone, changeSet: transaction[home], context: context)
    var saved: [ItemResult<RecordID, Record>.Outcome] = []
    saved.reserveCapacity(saves.count)
    let parents = parentsThatChange(besides: removals)
    for item in saves {
      // Taken out, so that it is changed and not copied.
      guard item.error == nil, let merged = item.merged.take() else {
        saved.append(.failure(item.error ?? CloudError(.internalError, "the save was not judged")))
        continue
      }
      let share = plan.share(of: item.save.id)
      saved.append(.success(pages.save(merged, over: item, share)))
    }
    for removal in removals {
      guard let row = try context.storage.record(removal.id, in: access.home) else { continue }
      pages.remove(row)
    }
    for item in deletes where item.leaves && item.error == nil {
      guard let user = access.requester?.user else { continue }
      try pages.leave(try context.storage.record(item.id, in: access.home), user)
    }
    for move in plan.moves {
      pages.move(
        try context.storage.record(move.id, in: access.home), to: move.share,
        changesVersion: parents.contains(move.id))
    }
    for parent in parents where !plan.moves.contains(where: { $0.id == parent }) {
      guard let row = try context.storage.record(parent, in: access.home) else { continue }
      pages.move(row, to: row.share, changesVersion: true)
    }
    if bringsTypes {
      let events = pages.changeSet.recordEvents
      for type in try Schema(context, transaction.types).additions(
        from: events.filter { $0.reason != .deleted }.map(\.record))
      {
        transaction.put(type)
      }
    }
    transaction[home] = pages.changeSet
    try close(pages, &transaction)
    let deleted = deletes.map { item -> ItemResult<RecordID, Done>.Outcome in
      item.error.map { .failure($0) } ?? .success(Done())
    }
    return Outcome(saved: saved, deleted: deleted)
  }

  /// The parents that get a new change tag because their children are saved, each once, in order.
  private func parentsThatChange(besides removals: [Removal]) -> [RecordID] {
    guard context.limits.childSavesChangeParents else { return [] }
    var parents: [RecordID] = []
    for item in saves where item.error == nil {
      guard let parent = item.merged?.parent, !parents.contains(parent),
        !(savePosition(of: parent).map { saves[$0].error == nil } ?? false),
        !removals.contains(where: { $0.id == parent })
      else { continue }
      parents.append(parent)
    }
    return parents
  }

  /// Notifies the viewers, and writes the zone's row.
  private func close(_ pages: Pages, _ transaction: inout WriteTransaction) throws {
    guard !pages.written.isEmpty else { return }
    let home = try transaction.open(access.home, context)
    var row = pages.zone
    for written in pages.written where written.type == ShareDetails.recordType {
      transaction.put(share: written, at: home)
    }
    try transaction.notifyViewers(
      of: &row, in: access.home, written: pages.written, since: pages.first,
      changes: pages.changes, context)
    transaction.put(row, at: home)
    transaction[home].note(ChangeSet.ZoneEvent(zone: row.id, types: pages.types))
  }
}

/// The rows of one zone to write.
private struct Pages {
  var zone: ZoneRow
  var changeSet: ChangeSet
  let context: RequestContext
  /// The number of the first change.
  let first: UInt64
  var written: [RecordRow] = []
  var changes: [ShareChange] = []
  /// The types of the written records, each once, in order.
  var types: [String] = []

  init(zone: ZoneRow, changeSet: ChangeSet, context: RequestContext) {
    self.zone = zone
    self.changeSet = changeSet
    self.context = context
    first = changeSet.database.sequence + 1
  }

  mutating func save(
    _ merged: consuming Record, over item: RecordBatch.PendingSave, _ share: String?
  ) -> Record {
    let sequence = changeSet.nextSequence()
    var record = merged
    record.stamp(sequence, changeSet.time, context)
    if record.sharing == nil { record.share = share.map { RecordID(name: $0, zone: zone.id) } }
    if let details = record.sharing {
      let old = item.stored?.sharing
      changes.append(
        ShareChange(name: record.id.name, old: old, new: details, sequence: sequence))
      if old == nil {
        count(details, 1)
        if let url = details.url {
          changeSet.append(
            ShareAddress.registration(of: url, for: record.id, in: changeSet.database.id))
        }
      }
    }
    put(record, at: sequence, in: share, over: item.row)
    grow(item.growth)
    changeSet.note(
      ChangeSet.RecordEvent(record: record, reason: item.stored == nil ? .created : .updated))
    return record
  }

  mutating func remove(_ row: RecordRow) {
    guard let record = row.record else { return }
    let sequence = changeSet.nextSequence()
    if let details = record.sharing {
      changes.append(
        ShareChange(name: record.id.name, old: details, new: nil, sequence: sequence))
      count(details, -1)
    }
    var gone = row
    gone.record = nil
    gone.changedAt = sequence
    gone.device = record.created?.device ?? context.device
    move(&gone, to: nil, at: sequence)
    put(gone)
    grow(-record.storedByteCount)
    changeSet.note(ChangeSet.RecordEvent(record: record, reason: .deleted))
  }

  /// Removes `user` from a share.
  mutating func leave(_ row: RecordRow?, _ user: UserID) throws {
    guard let row, var record = row.record, let old = record.sharing else { return }
    var details = old
    details.participants.removeAll { $0.identity.user == user && $0.role == .publicUser }
    for index in details.participants.indices
    where details.participants[index].identity.user == user {
      details.participants[index].acceptance = .removed
    }
    let sequence = changeSet.nextSequence()
    record.sharing = details
    record.stamp(sequence, changeSet.time, context)
    changes.append(
      ShareChange(name: record.id.name, old: old, new: details, sequence: sequence))
    put(record, at: sequence, in: row.share, over: row)
    changeSet.note(ChangeSet.RecordEvent(record: record, reason: .updated))
  }

  /// Moves a record that is not itself saved into or out of a share: it gets a new position in the
  /// feed, and a new change tag only if `changesVersion` is true.
  mutating func move(_ row: RecordRow?, to share: String?, changesVersion: Bool) {
    guard let row, var record = row.record else { return }
    let sequence = changeSet.nextSequence()
    if changesVersion {
      record.stamp(sequence, changeSet.time, context)
      changeSet.note(ChangeSet.RecordEvent(record: record, reason: .updated))
    }
    put(record, at: sequence, in: share, over: row)
  }

  private mutating func put(
    _ record: Record, at sequence: UInt64, in share: String?, over old: RecordRow?
  ) {
    var row = RecordRow(
      id: record.id, type: record.type, record: record, changedAt: sequence,
      device: context.device, memberships: old?.memberships ?? [])
    if record.sharing == nil { row.record?.share = share.map { RecordID(name: $0, zone: zone.id) } }
    if let old, old.type != row.type, let last = old.memberships.compactMap(\.until).max() {
      // Users who saw the previous record must not learn the type of the new one, so their tokens
      // expire.
      zone.trimmedThrough = max(zone.trimmedThrough, last)
      row.memberships = []
    }
    move(&row, to: share, at: sequence)
    put(row)
  }

  private mutating func move(_ row: inout RecordRow, to share: String?, at sequence: UInt64) {
    if row.share != share {
      if let last = row.memberships.lastIndex(where: { $0.until == nil }) {
        row.memberships[last].until = sequence
      }
      if let share { row.memberships.append(ShareMembership(share: share, since: sequence)) }
    }
    if row.memberships.isEmpty { return }
    zone.trimmedThrough = max(
      zone.trimmedThrough, row.memberships.forget(through: zone.trimmedThrough))
  }

  private mutating func put(_ row: RecordRow) {
    changeSet.put(row)
    written.append(row)
    if !types.contains(row.type) { types.append(row.type) }
    if zone.id != .default { zone.changedAt = row.changedAt }
  }

  private mutating func grow(_ bytes: Int) {
    changeSet.count(bytes: bytes)
    zone.byteCount = max(0, zone.byteCount + bytes)
  }

  private mutating func count(_ details: ShareDetails, _ number: Int) {
    if details.root == nil {
      zone.sharing.isZoneWide = number > 0
    } else {
      zone.sharing.hierarchies = max(0, zone.sharing.hierarchies + number)
    }
  }
}

extension Record {
  /// Sets a change tag that is unique in the database, and the creation and modification stamps.
  mutating func stamp(_ sequence: UInt64, _ time: Timestamp, _ context: RequestContext) {
    changeTag = ChangeTag(String(sequence, radix: 36))
    guard let user = context.account?.user else { return }
    let stamp = RecordStamp(time: time, user: user, device: context.device)
    modified = stamp
    if created == nil { created = stamp }
  }
}
