import CloudProtocol
import Records

extension CloudMachine {
  /// The zones asked for, or all: the default zone first, the others by name.
  func fetchZones(_ zones: [ZoneID]?, _ context: RequestContext) throws -> CloudReply {
    if let zones {
      try refuse(itemCount: zones.count)
      return .zones(
        try zones.map { asked in
          let id = context.spelled(asked)
          switch try context.zone(id) {
          case .success(let row): return ItemResult(id: id, .success(context.described(row.id)))
          case .failure(let error): return ItemResult(id: id, .failure(error))
          }
        })
    }
    if context.database.scope == .shared { return .zones([]) }
    let custom = try context.storage.zones(in: context.database)
      .filter { $0.deletion == nil && $0.id != .default }.map(\.id)
    return .zones(
      ([.default] + custom).map { ItemResult(id: $0, .success(context.described($0))) })
  }

  /// Creates and deletes zones, each on its own.
  func modifyZones(
    _ request: ModifyZones, _ context: RequestContext
  ) throws -> (CloudReply, Ledger) {
    try refuse(itemCount: request.save.count + request.delete.count)
    let save = request.save.map(context.spelled)
    let delete = request.delete.map(context.spelled)
    guard Set(save + delete).count == save.count + delete.count else {
      throw Refusal(.invalidArguments, "a zone can't be named twice in one request")
    }
    var ledger = Ledger(try context.databaseRow(), now: context.now)
    let saved = try save.map { zone in
      if let error = try create(zone, context, &ledger) {
        return ItemResult<ZoneID, Zone>(id: zone, .failure(error))
      }
      return ItemResult(id: zone, .success(context.described(zone)))
    }
    let deleted = try delete.map { zone in
      if let error = try remove(zone, context, &ledger) {
        return ItemResult<ZoneID, Done>(id: zone, .failure(error))
      }
      return ItemResult(id: zone, .success(Done()))
    }
    return (.zonesModified(saved: saved, deleted: deleted), ledger)
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

  /// Deletes `zone`.
  ///
  /// Deleting one that went with a reset of encrypted data succeeds and changes nothing: the reset
  /// asks apps to do so, and other devices must still learn of it.
  private func remove(
    _ zone: ZoneID, _ context: RequestContext, _ ledger: inout Ledger
  ) throws -> CloudError? {
    switch try context.zone(zone) {
    case .failure(let error): return error.userDidResetEncryptedData ? nil : error
    case .success(let row):
      if row.id == .default {
        return CloudError(.invalidArguments, "the default zone can't be deleted")
      }
      ledger.remove(row, reason: .deleted)
      return nil
    }
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
