import CloudProtocol
import Records

/// I8 to I10: what the feeds give.
extension CloudOracle {
  mutating func check(
    _ request: FetchZoneChanges, _ page: ZoneChangesPage, account: Int, device: String
  ) {
    guard let zone = layout.number(of: request.zone) else { return }
    let model = databases[account - 1].zones[zone]
    guard model.isLive else {
      findings.report("I9", "\(request.zone.name) is read and is not there")
      return
    }
    guard let start = position(request.since, account, zone, life: model.life) else { return }
    var given: Set<Int> = []
    var end = start.through
    for record in page.modified {
      guard let place = place(of: record.id, among: &given) else { continue }
      let entry = databases[account - 1].entries[place]
      if entry.record != plain(record) {
        findings.report("I9", "\(record.id.name) is not given at its newest version")
      }
      if entry.changedAt <= start.through {
        findings.report("I9", "\(record.id.name) is given again after its token")
      }
      end = max(end, entry.changedAt)
    }
    for deletion in page.deleted {
      guard let place = place(of: deletion.id, among: &given) else { continue }
      let entry = databases[account - 1].entries[place]
      if entry.record != nil || entry.changedAt == 0 {
        findings.report("I8", "\(deletion.id.name) is said to be deleted and is not")
      }
      end = max(end, entry.changedAt)
    }
    if !page.moreComing { end = max(end, clock) }
    for place in layout.places(of: zone) where !given.contains(place) {
      let entry = databases[account - 1].entries[place]
      guard entry.changedAt > start.through, entry.changedAt <= end else { continue }
      if entry.record == nil, isNoNews(entry, to: device, start) { continue }
      findings.report(
        "I9",
        "a page leaves out \(layout.records[place].name), "
          + (entry.record == nil ? "which was deleted" : "which was changed"))
    }
    let floor = page.moreComing && start.floor > end ? start.floor : 0
    positions[page.token] = Position(
      account: account, zone: zone, life: model.life, through: end, floor: floor)
  }

  /// The place of a record of a page; reports one that is given twice.
  func place(of id: RecordID, among given: inout Set<Int>) -> Int? {
    if let place = layout.place(of: id), given.insert(place).inserted { return place }
    findings.report("I9", "\(id.name) is given twice in one page")
    return nil
  }

  /// A fetch from nothing receives a deletion only when the device made the record, or when it is
  /// newer than the fetch.
  private func isNoNews(_ entry: Entry, to device: String, _ start: Position) -> Bool {
    entry.changedAt <= start.floor && (entry.maker != device || entry.isTrimmed)
  }

  mutating func check(_ request: FetchDatabaseChanges, _ page: DatabaseChangesPage, account: Int) {
    guard let start = position(request.since, account, -1, life: 0) else { return }
    var given: Set<Int> = []
    var end = start.through
    for id in page.modified {
      guard let zone = layout.number(of: id), given.insert(zone).inserted else { continue }
      let model = databases[account - 1].zones[zone]
      if !model.isLive { findings.report("I9", "\(id.name) is listed and is not there") }
      end = max(end, model.changedAt)
    }
    for deletion in page.deleted {
      guard let zone = layout.number(of: deletion.zone), given.insert(zone).inserted else {
        findings.report("I9", "\(deletion.zone.name) is given twice in one page")
        continue
      }
      checkListing(deletion, of: zone, account: account)
      end = max(end, databases[account - 1].zones[zone].changedAt)
    }
    if !page.moreComing { end = max(end, clock) }
    for zone in layout.zones.indices where !given.contains(zone) {
      let model = databases[account - 1].zones[zone]
      guard model.changedAt > start.through, model.changedAt <= end else { continue }
      if !model.isLive, model.changedAt <= start.floor { continue }
      findings.report("I9", "the list of zones leaves out \(layout.zones[zone].name)")
    }
    let floor = page.moreComing && start.floor > end ? start.floor : 0
    positions[page.token] = Position(
      account: account, zone: -1, life: 0, through: end, floor: floor)
  }

  /// The position at which a fetch starts; reports a token that the server should have refused.
  private func position(
    _ token: ChangeToken?, _ account: Int, _ zone: Int, life: Int
  ) -> Position? {
    guard let token else {
      return Position(account: account, zone: zone, life: life, through: 0, floor: clock)
    }
    guard let position = positions[token] else {
      findings.report("I10", "a token that was never given out is taken")
      return nil
    }
    guard position.account == account, position.zone == zone, position.life == life else {
      findings.report("I10", "a token of another account, zone or life is taken")
      return nil
    }
    return position
  }
}
