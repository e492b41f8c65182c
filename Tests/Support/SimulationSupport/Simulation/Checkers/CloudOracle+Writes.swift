import CloudProtocol
import Records

/// I2, I5, I6, I8, I13: what the server writes.
extension CloudOracle {
  mutating func check(
    _ request: ModifyRecords, _ saved: [ItemResult<RecordID, Record>],
    _ deleted: [ItemResult<RecordID, Done>], account: Int, device: String
  ) {
    guard checkCompleteness(request, saved, deleted) else { return }
    if request.isAtomic { checkAtomicity(saved, deleted) }
    // The order of the feed: zone by zone, as the request first names them.
    var zones: [ZoneID] = []
    for zone in request.save.map(\.id.zone) + request.delete.map(\.zone)
    where !zones.contains(zone) {
      zones.append(zone)
    }
    for zone in zones {
      check(zone, request, saved, deleted, account: account, device: device)
    }
  }

  private mutating func check(
    _ zone: ZoneID, _ request: ModifyRecords, _ saved: [ItemResult<RecordID, Record>],
    _ deleted: [ItemResult<RecordID, Done>], account: Int, device: String
  ) {
    for (save, result) in zip(request.save, saved) where save.id.zone == zone {
      guard let place = layout.place(of: save.id) else { continue }
      switch result.outcome {
      case .success(let record):
        commit(save, record, at: place, account: account, device: device)
      case .failure(let error): check(error, of: save, at: place, account: account)
      }
    }
    for result in deleted where result.id.zone == zone {
      guard let place = layout.place(of: result.id) else { continue }
      let zone = layout.zone(of: place)
      let isLive = databases[account - 1].zones[zone].isLive
      guard let error = result.error else {
        if !isLive { findings.report("I6", "a record is deleted in a zone that is not there") }
        delete(place, account: account)
        continue
      }
      checkZoneError(error, zone, account)
    }
  }

  private mutating func commit(
    _ save: RecordSave, _ record: Record, at place: Int, account: Int, device: String
  ) {
    let zone = layout.zone(of: place)
    let current = databases[account - 1].entries[place].record
    if !databases[account - 1].zones[zone].isLive {
      findings.report("I6", "\(save.id.name) is saved in a zone that is not there")
    }
    if current?.changeTag != save.changeTag {
      findings.report(
        "I5",
        "a save of \(save.id.name) that knows \(text(save.changeTag)) replaced "
          + "\(text(current?.changeTag)): an update is lost")
    }
    guard let tag = record.changeTag?.rawValue, tags.insert("\(account)/\(tag)").inserted else {
      findings.report("I5", "a version of \(save.id.name) has no tag of its own")
      return
    }
    guard let value = SimulatedValue(record, at: place), record.id == save.id,
      value.changes == save.changes || save.changes.isEmpty && current?.fields == record.fields
    else {
      findings.report("I6", "\(save.id.name) is not stored as it was sent")
      return
    }
    if value.account != 0, value.account != account {
      findings.report(
        "I13", "edit \(value.sequence) of account \(value.account) is stored for account \(account)"
      )
    }
    let now = tick()
    let maker = current == nil ? device : databases[account - 1].entries[place].maker
    databases[account - 1].entries[place] = Entry(
      record: plain(record), changedAt: now, maker: maker)
    databases[account - 1].zones[zone].changedAt = now
  }

  private mutating func delete(_ place: Int, account: Int) {
    let current = databases[account - 1].entries[place]
    guard current.record != nil else { return }
    let now = tick()
    databases[account - 1].entries[place] = Entry(changedAt: now, maker: current.maker)
    databases[account - 1].zones[layout.zone(of: place)].changedAt = now
  }

  private func check(_ error: CloudError, of save: RecordSave, at place: Int, account: Int) {
    let current = databases[account - 1].entries[place].record
    switch error.code {
    case .serverRecordChanged:
      if error.serverRecord.map(plain) != current || current == nil {
        findings.report("I6", "a conflict on \(save.id.name) carries another record than stored")
      }
      if current?.changeTag == save.changeTag {
        findings.report("I6", "a save of \(save.id.name) with the right tag is refused")
      }
    case .unknownItem:
      if current != nil || save.changeTag == nil {
        findings.report("I6", "\(save.id.name) is said to be unknown and is not")
      }
    default: checkZoneError(error, layout.zone(of: place), account)
    }
  }

  mutating func check(
    _ request: ModifyZones, _ saved: [ItemResult<ZoneID, Zone>],
    _ deleted: [ItemResult<ZoneID, Done>], account: Int
  ) {
    guard checkCompleteness(request, saved, deleted) else { return }
    for result in saved where result.error == nil {
      guard let zone = layout.number(of: result.id),
        !databases[account - 1].zones[zone].isLive
      else { continue }
      let life = databases[account - 1].zones[zone].life + 1
      databases[account - 1].zones[zone] = ZoneModel(isLive: true, life: life, changedAt: tick())
      databases[account - 1].zoneHistories[zone].append(ZoneEvent(at: clock, deletion: nil))
    }
    for result in deleted where result.error == nil {
      if let zone = layout.number(of: result.id) { remove(zone, of: account, reason: .deleted) }
    }
  }

  private func text(_ tag: ChangeTag?) -> String { tag.map { "version \($0.rawValue)" } ?? "none" }
}
