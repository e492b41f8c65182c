import CloudProtocol
import Records

extension CloudMachine {
  /// The zones asked for, or all: the default zone first, the others by name.
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

  /// Creates and deletes zones, each on its own.
  func modifyZones(
    _ request: ModifyZones, _ context: RequestContext
  ) throws -> (CloudReply, Books) {
    try refuse(itemCount: request.save.count + request.delete.count)
    let (save, delete) = (request.save, request.delete)
    guard Set(save + delete).count == save.count + delete.count else {
      throw Refusal(.invalidArguments, "a zone can't be named twice in one request")
    }
    var books = Books()
    let position = try books.open(context.database, context)
    let saved = try save.map { zone in
      if let error = try create(zone, context, &books[position]) {
        return ItemResult<ZoneID, Zone>(id: zone, .failure(error))
      }
      return ItemResult(
        id: zone, .success(Zone(id: zone, capabilities: zone == .default ? [] : .custom)))
    }
    let deleted = try delete.map { zone in
      if let error = try remove(zone, context, &books) {
        return ItemResult<ZoneID, Done>(id: zone, .failure(error))
      }
      return ItemResult(id: zone, .success(Done()))
    }
    return (.zonesModified(saved: saved, deleted: deleted), books)
  }

  /// Makes sure that `zone` is there.
  ///
  /// A zone that went away begins a new life, so that tokens of the old one expire.
  private func create(
    _ zone: ZoneID, _ context: RequestContext, _ ledger: inout Ledger
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
    let sequence = ledger.nextSequence()
    ledger.put(ZoneRow(id: zone, incarnation: sequence, changedAt: sequence))
    ledger.note(Ledger.ZoneEvent(zone: zone, types: []))
    return nil
  }

  /// Deletes `zone`, or leaves what is shared of it when it is somebody else's.
  ///
  /// Deleting one that went with a reset of encrypted data succeeds and changes nothing: the reset
  /// asks apps to do so, and other devices must still learn of it.
  private func remove(
    _ zone: ZoneID, _ context: RequestContext, _ books: inout Books
  ) throws -> CloudError? {
    switch try context.access(to: zone) {
    case .failure(let error): return error.userDidResetEncryptedData ? nil : error
    case .success(let access):
      if let mount = access.mount { return try leave(mount, access, &books) }
      if access.zone.id == .default {
        return CloudError(.invalidArguments, "the default zone can't be deleted")
      }
      try books.remove(access.zone, in: access.home, reason: .deleted, context)
      return nil
    }
  }

  /// Leaves every share through which `mount` is seen.
  func leave(
    _ mount: ZoneRow, _ access: ZoneAccess, _ books: inout Books
  ) throws -> CloudError? {
    let shares = mount.sharing.stays.filter { $0.until == nil }.map {
      RecordID(name: $0.share, zone: access.zone.id)
    }
    let home = try books.open(access.home, access.context)
    var batch = try RecordBatch(
      saves: [], deletes: shares, policy: .ifServerRecordUnchanged, isAtomic: true,
      access: access, spent: books[home].database.byteCount)
    let outcome = try batch.apply(to: &books)
    for case .failure(let error) in outcome.deleted { return error }
    return nil
  }

  /// Refuses a call with more items than one request may hold.
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
