import CloudProtocol
import Records

extension ReferenceDatabase {
  mutating func modify(
    _ request: ModifyRecords, by device: Device
  ) throws(CloudError) -> CloudReply {
    let ids = request.save.map(\.id) + request.delete
    guard ids.count <= Limits.items else { throw refusal(.limitExceeded) }
    guard Set(ids).count == ids.count else { throw refusal(.invalidArguments) }
    var errors: [RecordID: CloudError] = [:]
    for name in Set(ids.map(\.zone.name)).sorted() {
      let zone = ZoneID(name: name)
      let saves = request.save.filter { $0.id.zone == zone }
      let deletes = request.delete.filter { $0.zone == zone }
      guard zones[name] != nil else {
        for id in ids where id.zone == zone { errors[id] = missing(zone) }
        continue
      }
      var batch = ReferenceBatch(
        saves: saves, deletes: deletes, request: request, zone: zones[name]?.records ?? [:],
        plant: plant)
      let isAtomic = request.isAtomic && name != ZoneID.defaultName
      if isAtomic { batch.decideAtomically() } else { batch.decideOneByOne() }
      errors.merge(batch.errors) { first, _ in first }
      carryOut(batch, in: name, by: device)
    }
    let stored = zones
    return .recordsModified(
      saved: request.save.map { save in
        if let error = errors[save.id] { return ItemResult(id: save.id, .failure(error)) }
        guard var record = stored[save.id.zone.name]?.records[save.id.name]?.record else {
          return ItemResult(id: save.id, .failure(refusal(.internalError)))
        }
        record.fields = request.fields.applied(to: record.fields)
        return ItemResult(id: save.id, .success(record))
      },
      deleted: request.delete.map { id in
        ItemResult(id: id, errors[id].map { .failure($0) } ?? .success(Done()))
      })
  }

  /// Writes what the batch decided.
  private mutating func carryOut(
    _ batch: ReferenceBatch, in name: String, by device: Device
  ) {
    guard var zone = zones[name] else { return }
    for save in batch.saves where batch.errors[save.id] == nil {
      let moment = tick()
      var record = batch.outcome(of: save)
      let stamp = RecordStamp(
        time: Timestamp(secondsSinceReferenceDate: Double(moment)),
        // A database of this reference has one user, who is told so in these words.
        user: UserID(ZoneID.currentOwner), device: device.name)
      record.changeTag = ChangeTag("tag \(moment)")
      record.created = zone.records[save.id.name]?.record.created ?? stamp
      record.modified = stamp
      zone.records[save.id.name] = ReferenceRecord(record: record, changed: moment)
      zone.tombstones[save.id.name] = nil
      zone.changed = moment
    }
    for gone in batch.gone {
      guard let record = zone.records.removeValue(forKey: gone)?.record else { continue }
      let moment = tick()
      zone.tombstones[gone] = (record.type, moment)
      zone.changed = moment
    }
    zones[name] = zone
  }
}
