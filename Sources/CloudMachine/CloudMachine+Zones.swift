import CloudProtocol
import Records

extension CloudMachine {
  /// The requested zones, or all: the default zone first, the others by name.
  func fetchZones(_ zones: [ZoneID]?, _ context: RequestContext) throws -> CloudReply {
    if let zones { try refuse(itemCount: zones.count) }
    let first: [ZoneID] = context.database.scope == .shared ? [] : [.default]
    return .zones(
      try (zones ?? first + context.customZones()).map { id in
        try ItemResult(id) { try describe(context.access(to: id), context) }
      })
  }

  /// Creates and deletes zones, each independently.
  func modifyZones(
    _ request: ModifyZones, _ context: RequestContext
  ) throws -> (CloudReply, WriteTransaction) {
    try refuse(itemCount: request.save.count + request.delete.count)
    let (save, delete) = (request.save, request.delete)
    guard Set(save + delete).count == save.count + delete.count else {
      throw Refusal(.invalidArguments, "a zone can't be named twice in one request")
    }
    var transaction = WriteTransaction()
    let position = try transaction.open(context.database, context)
    let saved = try save.map { zone in
      try ItemResult(zone) {
        try create(zone, context, &transaction[position])
        return Zone(id: zone, capabilities: zone == .default ? [] : .custom)
      }
    }
    let deleted = try delete.map { zone in
      try ItemResult(zone) { try remove(zone, context, &transaction) }
    }
    return (.zonesModified(saved: saved, deleted: deleted), transaction)
  }

  /// Creates `zone` unless it exists.
  ///
  /// A deleted zone gets a new incarnation, so that tokens of the old one expire.
  private func create(
    _ zone: ZoneID, _ context: RequestContext, _ changeSet: inout ChangeSet
  ) throws {
    switch context.database.scope {
    case .shared:
      throw Refusal(
        .invalidArguments, "zones can't be created in the shared database; use the private one")
    case .public where zone.name != ZoneID.defaultName:
      throw Refusal(.badDatabase, "zones can't be created in the public database")
    case .public, .private: break
    }
    guard zone.owner == ZoneID.currentOwner else {
      throw Refusal.foreignZone
    }
    if zone == .default { return }
    try Refusal.check(context.names.faultOfZoneName(zone.name))
    if let row = try context.storage.zone(zone, in: context.database), row.deletion == nil {
      return
    }
    let sequence = changeSet.nextSequence()
    changeSet.put(ZoneRow(id: zone, incarnation: sequence, changedAt: sequence))
    changeSet.note(ChangeSet.ZoneEvent(zone: zone, types: []))
  }

  /// Deletes `zone`, or leaves its shares if it belongs to another user.
  ///
  /// Deleting a zone that was removed by a reset of encrypted data succeeds without changes: the
  /// reset asks apps to delete it, and other devices must still be notified.
  private func remove(
    _ zone: ZoneID, _ context: RequestContext, _ transaction: inout WriteTransaction
  ) throws -> Done {
    let access: ZoneAccess
    do { access = try context.access(to: zone) } catch let refusal as Refusal
      where refusal.error.userDidResetEncryptedData
    { return Done() }
    if let mount = access.mount { return try leave(mount, access, &transaction) }
    if access.zone.id == .default {
      throw Refusal(.invalidArguments, "the default zone can't be deleted")
    }
    try transaction.remove(access.zone, in: access.home, reason: .deleted, context)
    return Done()
  }

  /// Leaves every share through which `mount` is seen.
  func leave(
    _ mount: ZoneRow, _ access: ZoneAccess, _ transaction: inout WriteTransaction
  ) throws -> Done {
    let shares = mount.sharing.memberships.filter { $0.until == nil }.map {
      RecordID(name: $0.share, zone: access.zone.id)
    }
    let home = try transaction.open(access.home, access.context)
    var batch = try RecordBatch(
      saves: [], deletes: shares, policy: .ifServerRecordUnchanged, isAtomic: true,
      access: access, spent: transaction[home].database.byteCount)
    let outcome = try batch.apply(to: &transaction)
    for case .failure(let error) in outcome.deleted { throw Refusal(error) }
    return Done()
  }

  /// Rejects a call with more items than a request may have.
  ///
  /// Scenarios `limitExceeded_modifyRecords` and `records_limitExceeded`.
  func refuse(itemCount: Int) throws {
    guard itemCount <= limits.itemsPerRequest else {
      throw Refusal(
        .limitExceeded,
        "the request holds \(itemCount) items, more than the \(limits.itemsPerRequest) that one "
          + "request may hold; send it in parts")
    }
  }
}
