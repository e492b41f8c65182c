import CloudProtocol
import Records

/// I8, I9, I10 and I13: what the feeds of zones and databases give.
///
/// A feed is checked by what a reader knows that has read it to its end: exactly what it may see.
/// The order within a feed is not modelled, for records that come into a share move in it.
extension CloudOracle {
  /// The records and zones that the holder of a token has received.
  struct View {
    var account: Int
    var scope: DatabaseScope
    /// The zone, or `nil` for the list of zones.
    var zone: Int?
    var life = 0
    /// The version of each record, by its place.
    var records: [Int: ChangeTag] = [:]
    /// A hash of each zone's contents when it was listed.
    var zones: [Int: UInt64] = [:]
    /// When the holder last had read everything, by the oracle's clock.
    var through = 0
    /// The places of the deletions that it was told of since.
    var told: Set<Int> = []
  }

  mutating func check(
    _ request: FetchZoneChanges, _ page: ZoneChangesPage, account: Int, scope: DatabaseScope,
    device: String
  ) {
    guard let zone = number(of: request.zone) else { return }
    guard let visible = visible(zone, account, scope) else {
      return report(scope, "account \(account) reads \(request.zone.name), which is not there")
    }
    var known = View(
      account: account, scope: scope, zone: zone, life: life(of: zone, account, scope))
    known.through = clock
    if request.since == nil, scope == .private {
      known.records = deletions(in: zone, of: account, madeBy: device)
    }
    guard var view = view(request.since, beginning: known) else { return }
    var given: Set<Int> = []
    for record in page.modified where record.type != ShareDetails.recordType {
      guard let place = layout.place(of: inward(record.id)), given.insert(place).inserted else {
        findings.report("I9", "\(record.id.name) is given twice in one page")
        continue
      }
      guard let expected = visible[place] else {
        report(scope, "account \(account) is given \(record.id.path), which is not there for it")
        continue
      }
      if plain(record) != expected {
        findings.report("I9", "\(record.id.name) is not given at its newest version")
      }
      if sharing == nil, view.records[place] == record.changeTag {
        findings.report("I9", "\(record.id.name) is given again after its token")
      }
      view.records[place] = record.changeTag
      view.told.remove(place)
    }
    for deletion in page.deleted where deletion.type != ShareDetails.recordType {
      guard let place = layout.place(of: inward(deletion.id)), given.insert(place).inserted else {
        findings.report("I9", "\(deletion.id.name) is given twice in one page")
        continue
      }
      let wasThere = scope == .shared || databases[account - 1].entries[place].changedAt > 0
      if visible[place] != nil || !wasThere {
        findings.report("I8", "\(deletion.id.name) is said to be deleted and is not")
      }
      if scope == .shared, sharing?.seen[account - 1].contains(place) != true {
        findings.report(
          "I13", "account \(account) learns of \(deletion.id.path), which it never saw")
      }
      view.records[place] = nil
      view.told.insert(place)
    }
    if !page.moreComing {
      for place in layout.places(of: zone) {
        // Without shares a reader is told of each deletion since its token, also of a record that
        // it never knew.
        let entry = databases[account - 1].entries[place]
        let isOwed = sharing == nil && entry.record == nil && entry.changedAt > view.through
        guard
          view.records[place] != visible[place]?.changeTag
            || isOwed && !view.told.contains(place)
        else { continue }
        findings.report(
          "I9", "the feed of account \(account) ends without \(layout.records[place].path)")
      }
      (view.through, view.told) = (clock, [])
    }
    views[page.token] = view
  }

  mutating func check(
    _ request: FetchDatabaseChanges, _ page: DatabaseChangesPage, account: Int,
    scope: DatabaseScope
  ) {
    guard var view = view(request.since, beginning: View(account: account, scope: scope)) else {
      return
    }
    var given: Set<Int> = []
    for id in page.modified {
      guard let zone = number(of: id), let contents = contents(of: zone, account, scope) else {
        report(scope, "account \(account) is given \(id.name), which is not there for it")
        continue
      }
      given.insert(zone)
      view.zones[zone] = contents
    }
    for deletion in page.deleted {
      guard let zone = number(of: deletion.zone) else { continue }
      if !given.insert(zone).inserted {
        findings.report("I9", "\(deletion.zone.name) is given twice in one page")
      }
      if scope == .private { checkListing(deletion, of: zone, account: account) }
      if visible(zone, account, scope) != nil {
        findings.report("I8", "\(deletion.zone.name) is said to be gone and is not")
      }
      if scope == .shared, life(of: zone, account, scope) == 0 {
        findings.report("I13", "account \(account) learns of \(deletion.zone.name), not shared")
      }
      view.zones[zone] = nil
    }
    if !page.moreComing {
      for zone in layout.zones.indices where view.zones[zone] != contents(of: zone, account, scope)
      {
        findings.report(
          "I9", "the list of zones of account \(account) leaves out \(layout.zones[zone].name)")
      }
    }
    views[page.token] = view
  }

  private func report(_ scope: DatabaseScope, _ message: String) {
    findings.report(scope == .shared ? "I13" : "I9", message)
  }

  private func number(of zone: ZoneID) -> Int? { layout.number(of: sharing?.inward(zone) ?? zone) }

  private func inward(_ id: RecordID) -> RecordID { sharing?.inward(id) ?? id }

  private func life(of zone: Int, _ account: Int, _ scope: DatabaseScope) -> Int {
    guard scope == .shared else { return databases[account - 1].zones[zone].life }
    return sharing?.lives[account - 1][zone] ?? 0
  }

  /// The deleted records that `device` made.
  ///
  /// A device that reads a feed from its start is told of these, as if it knew them.
  private func deletions(
    in zone: Int, of account: Int, madeBy device: String
  ) -> [Int: ChangeTag] {
    var made: [Int: ChangeTag] = [:]
    for place in layout.places(of: zone) {
      let entry = databases[account - 1].entries[place]
      guard entry.record == nil, entry.maker == device, !entry.isTrimmed else { continue }
      made[place] = ChangeTag("deleted")
    }
    return made
  }

  /// The records of a zone that `account` sees, by place; `nil` if it does not see the zone.
  func visible(_ zone: Int, _ account: Int, _ scope: DatabaseScope) -> [Int: Record]? {
    let isVisit = scope == .shared
    let home = databases[(isVisit ? SharingOptions.owner : account) - 1]
    guard home.zones[zone].isLive, !isVisit || sharing?.mounts(zone, account) == true else {
      return nil
    }
    var visible: [Int: Record] = [:]
    for place in isVisit ? layout.sharedPlaces(of: zone) : layout.places(of: zone) {
      visible[place] = home.entries[place].record
    }
    return visible
  }

  /// A number over what `account` sees of a zone; `nil` when it does not see the zone.
  func contents(of zone: Int, _ account: Int, _ scope: DatabaseScope) -> UInt64? {
    guard let visible = visible(zone, account, scope) else { return nil }
    var hash = TraceHash()
    hash.mix(life(of: zone, account, scope))
    for (place, record) in visible.sorted(by: { $0.key < $1.key }) {
      hash.mix(place)
      hash.mix(record.changeTag?.rawValue ?? "")
    }
    return hash.value
  }

  /// The view of a reader with `token`; reports a token that should have been refused.
  private func view(_ token: ChangeToken?, beginning first: View) -> View? {
    guard let token else { return first }
    guard let view = views[token] else {
      findings.report("I10", "a token that was never given out is taken")
      return nil
    }
    guard view.account == first.account, view.scope == first.scope, view.zone == first.zone,
      view.life == first.life
    else {
      findings.report("I10", "a token of another account, database, zone or life is taken")
      return nil
    }
    return view
  }
}
