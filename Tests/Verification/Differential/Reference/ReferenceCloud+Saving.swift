import CloudProtocol
import Records

extension ReferenceCloud {
  func modify(_ request: ModifyRecords, _ ask: Ask) throws(CloudError) -> CloudReply {
    let ids = request.save.map(\.id) + request.delete
    guard ids.count <= Limits.items else { throw refusal(.limitExceeded) }
    let own = ids.map { ask.spelled($0) }
    guard Set(own).count == own.count else { throw refusal(.invalidArguments) }
    var errors: [RecordID: CloudError] = [:]
    var saved: [RecordID: Record] = [:]
    var zones: [ZoneID] = []
    for id in own where !zones.contains(id.zone) { zones.append(id.zone) }
    for zone in zones {
      let saves = request.save.filter { ask.spelled($0.id).zone == zone }
      let deletes = request.delete.filter { ask.spelled($0).zone == zone }
      let asked = saves.map(\.id) + deletes
      do throws(CloudError) {
        let outcome = carryOut(
          saves, deletes, request, at: try place(zone, ask), by: ask.device)
        for id in asked {
          let place = try place(id.zone, ask)
          let inner = RecordID(name: id.name, zone: ZoneID(name: place.name))
          if var error = outcome.errors[inner] {
            error.serverRecord = error.serverRecord.map { place.outward($0) }
            errors[id] = error
          } else if let record = outcome.saved[inner] {
            saved[id] = place.outward(record)
          }
        }
      } catch {
        for id in asked { errors[id] = error }
      }
    }
    return .recordsModified(
      saved: request.save.map { save in
        if let error = errors[save.id] { return ItemResult(id: save.id, .failure(error)) }
        guard var record = saved[save.id] else {
          return ItemResult(id: save.id, .failure(refusal(.internalError)))
        }
        record.fields = request.fields.applied(to: record.fields)
        return ItemResult(id: save.id, .success(record))
      },
      deleted: request.delete.map { id in
        ItemResult(id: id, errors[id].map { .failure($0) } ?? .success(Done()))
      })
  }

  /// Decides about one zone's part of a request, and writes what holds.
  func carryOut(
    _ saves: [RecordSave], _ deletes: [RecordID], _ request: ModifyRecords,
    at place: ReferencePlace, by device: Device
  ) -> (saved: [RecordID: Record], errors: [RecordID: CloudError]) {
    func spelled(_ id: RecordID) -> RecordID {
      RecordID(name: id.name, zone: ZoneID(name: place.name))
    }
    var request = request
    request.deleteTags = Dictionary(
      request.deleteTags.map { (spelled($0.key), $0.value) },
      uniquingKeysWith: { first, _ in first })
    var database = database(place.home)
    var batch = ReferenceBatch(
      saves: saves.map { place.inward($0) }, deletes: deletes.map(spelled), request: request,
      place: place, uploads: uploads,
      room: quotas[place.home].map { $0 - database.bytes })
    let isAtomic = request.isAtomic && place.name != ZoneID.defaultName
    if isAtomic { batch.decideAtomically() } else { batch.decideOneByOne() }
    let changes = database.write(batch, by: device, at: clock)
    databases[place.home] = database
    written += changes
    var saved: [RecordID: Record] = [:]
    for save in batch.saves where batch.errors[save.id] == nil {
      saved[save.id] = database.zones[place.name]?.records[save.id.name]?.record
    }
    return (saved, batch.errors)
  }
}

extension ReferenceCloud.Ask {
  /// `id` with the asker's own name replaced by the name that stands for it.
  func spelled(_ id: RecordID) -> RecordID {
    guard id.zone.owner == account else { return id }
    return RecordID(name: id.name, zone: ZoneID(name: id.zone.name))
  }
}

extension ReferenceDatabase {
  /// Writes what a batch decided: saves, then deletions, then those who leave, then the records
  /// whose share is another now.
  mutating func write(_ batch: ReferenceBatch, by device: Device, at time: Int) -> [ReferenceChange]
  {
    let name = batch.place.name
    guard var zone = zones[name] else { return [] }
    var changes: [ReferenceChange] = []
    func note(_ type: String, _ before: Record?, _ after: Record?) {
      changes.append(
        ReferenceChange(home: identity, zone: name, type: type, before: before, after: after))
    }
    let stamp = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: Double(time)), user: UserID(device.account),
      device: device.name)
    func put(_ record: Record, _ moment: Int) {
      var record = record
      let before = zone.records[record.id.name]?.record
      record.changeTag = ChangeTag("tag \(moment)")
      record.created = before?.created ?? stamp
      record.modified = stamp
      zone.records[record.id.name] = ReferenceRecord(record: record, changed: moment)
      zone.tombstones[record.id.name] = nil
      note(record.type, before, record)
    }
    for save in batch.saves where batch.errors[save.id] == nil {
      if let record = batch.outcomes[save.id] { put(record, tick()) }
    }
    for gone in batch.gone {
      guard let record = zone.records.removeValue(forKey: gone)?.record else { continue }
      zone.tombstones[gone] = (record.type, tick())
      note(record.type, record, nil)
    }
    for share in batch.left {
      guard var record = zone.records[share]?.record else { continue }
      record.sharing?.remove(device.account)
      put(record, tick())
    }
    for key in zone.records.keys.sorted() {
      guard let record = zone.records[key]?.record, record.sharing == nil else { continue }
      let share = zone.share(of: key).map { RecordID(name: $0, zone: record.id.zone) }
      guard record.share != share else { continue }
      zone.records[key]?.record.share = share
      let isSaved = batch.saves.contains { $0.id.name == key && batch.errors[$0.id] == nil }
      if isSaved {
        for index in changes.indices where changes[index].after?.id == record.id {
          changes[index].after?.share = share
        }
      } else {
        zone.records[key]?.changed = tick()
        note(record.type, nil, nil)
      }
    }
    if !changes.isEmpty { zone.changed = tick() }
    zones[name] = zone
    return changes
  }
}
