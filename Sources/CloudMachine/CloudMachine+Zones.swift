import CloudProtocol
import Records

extension CloudMachine {
  /// The requested zones, or all: the default zone first, the others by name.
  func fetchZones(_ zones: [ZoneID]?, _ context: RequestContext) throws -> CloudReply {
    if let zones {
      try refuse(itemCount: zones.count)
      return .zones(
        try zones.map { id in
          switch try context.access(to: id) {
          case .success(let access):
            return ItemResult(id: id, .success(try describe(access, context)))
          case .failure(let error): return ItemResult(id: id, .failure(error))
          }
        })
    }
    let custom = try context.storage.zones(in: context.database)
      .filter { $0.deletion == nil && $0.id != .default }.map(\.id)
    let all = context.database.scope == .shared ? custom : [.default] + custom
    return .zones(
      try all.map { id in
        switch try context.access(to: id) {
        case .success(let access):
          ItemResult(id: id, .success(try describe(access, context)))
        case .failure(let error): ItemResult(id: id, .failure(error))
        }
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
      if let error = try create(zone, context, &transaction[position]) {
        return ItemResult<ZoneID, Zone>(id: zone, .failure(error))
      }
      return ItemResult(
        id: zone, .success(Zone(id: zone, capabilities: zone == .default ? [] : .custom)))
    }
    let deleted = try delete.map { zone in
      if let error = try remove(zone, context, &transaction) {
        return ItemResult<ZoneID, Done>(id: zone, .failure(error))
      }
      return ItemResult(id: zone, .success(Done()))
    }
    return (.zonesModified(saved: saved, deleted: deleted), transaction)
  }

  /// Creates `zone` unless it exists.
  ///
  /// A deleted zone gets a new incarnation, so that tokens of the old one expire.
  private func create(
    _ zone: ZoneID, _ context: RequestContext, _ changeSet: inout ChangeSet
  ) throws -> CloudError? {
    switch context.database.scope {
    case .shared:
      return CloudError(.badDatabase, "zones can't be created in the shared database")
    case .public where zone.name != ZoneID.defaultName:
      return CloudError(.badDatabase, "zones can't be created in the public database")
    case .public, .private: break
    }
    guard zone.owner == ZoneID.currentOwner else {
      return CloudError(.zoneNotFound, "a zone of another owner can't be created")
    }
    if zone == .default { return nil }
    if let error = context.names.faultOfZoneName(zone.name) { return error }
    if let row = try context.storage.zone(zone, in: context.database), row.deletion == nil {
      return nil
    }
    let sequence = changeSet.nextSequence()
    changeSet.put(ZoneRow(id: zone, incarnation: sequence, changedAt: sequence))
    changeSet.note(ChangeSet.ZoneEvent(zone: zone, types: []))
    return nil
  }

  /// Deletes `zone`, or leaves its shares if it belongs to another user.
  ///
  /// Deleting a zone that was removed by a reset of encrypted data succeeds without changes: the
  /// reset asks apps to delete it, and other devices must still be notified.
  private func remove(
    _ zone: ZoneID, _ context: RequestContext, _ transaction: inout WriteTransaction
  ) throws -> CloudError? {
    switch try context.access(to: zone) {
    case .failure(let error): return error.userDidResetEncryptedData ? nil : error
    case .success(let access):
      if let mount = access.mount { return try leave(mount, access, &transaction) }
      if access.zone.id == .default {
        return CloudError(.invalidArguments, "the default zone can't be deleted")
      }
      try transaction.remove(access.zone, in: access.home, reason: .deleted, context)
      return nil
    }
  }

  /// Leaves every share through which `mount` is seen.
  func leave(
    _ mount: ZoneRow, _ access: ZoneAccess, _ transaction: inout WriteTransaction
  ) throws -> CloudError? {
    let shares = mount.sharing.memberships.filter { $0.until == nil }.map {
      RecordID(name: $0.share, zone: access.zone.id)
    }
    let home = try transaction.open(access.home, access.context)
    var batch = try RecordBatch(
      saves: [], deletes: shares, policy: .ifServerRecordUnchanged, isAtomic: true,
      access: access, spent: transaction[home].database.byteCount)
    let outcome = try batch.apply(to: &transaction)
    for case .failure(let error) in outcome.deleted { return error }
    return nil
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
