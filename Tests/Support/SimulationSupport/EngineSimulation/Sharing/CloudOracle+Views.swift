import CloudProtocol
import Records

/// I8, I9, I10 and I13 for the feeds of a zone that is shared: of its owner and of participants.
extension CloudOracle {
  mutating func checkView(
    _ request: FetchZoneChanges, _ page: ZoneChangesPage, account: Int, scope: DatabaseScope
  ) {
    guard let sharing, let zone = self.zone(request.zone) else { return }
    guard let visible = visible(zone, account, scope) else {
      let isLeak = scope == .shared
      findings.report(
        isLeak ? "I13" : "I9",
        "account \(account) reads \(request.zone.name), which is not there for it")
      return
    }
    let life = life(of: zone, account, scope)
    guard
      var view = view(request.since, account: account, scope: scope, zone: zone, life: life)
    else { return }
    var given: Set<Int> = []
    for record in page.modified where record.type != ShareDetails.recordType {
      guard let place = place(of: sharing.inward.plain(record.id), among: &given) else { continue }
      guard let expected = visible[place] else {
        findings.report(
          "I13", "account \(account) is given \(record.id.path), which is not there for it")
        continue
      }
      if plain(record) != expected {
        findings.report("I9", "\(record.id.name) is not given at its newest version")
      }
      view.records[place] = record.changeTag
    }
    for deletion in page.deleted where deletion.type != ShareDetails.recordType {
      let id = sharing.inward.plain(deletion.id)
      guard let place = place(of: id, among: &given) else { continue }
      if visible[place] != nil {
        findings.report("I8", "\(deletion.id.name) is said to be deleted and is not")
      }
      if scope == .shared, !sharing.seen[account - 1].contains(place) {
        findings.report(
          "I13", "account \(account) learns of \(deletion.id.path), which it never saw")
      }
      view.records[place] = nil
    }
    if !page.moreComing {
      for place in layout.places(of: zone)
      where view.records[place] != visible[place]?.changeTag {
        findings.report(
          "I9", "the feed of account \(account) ends without \(layout.records[place].path)")
      }
    }
    self.sharing?.views[page.token] = view
  }

  mutating func checkView(
    _ request: FetchDatabaseChanges, _ page: DatabaseChangesPage, account: Int,
    scope: DatabaseScope
  ) {
    guard sharing != nil,
      var view = view(request.since, account: account, scope: scope, zone: nil, life: 0)
    else { return }
    for id in page.modified {
      guard let zone = self.zone(id), let contents = contents(of: zone, account, scope) else {
        findings.report(
          scope == .shared ? "I13" : "I9",
          "account \(account) is given \(id.name), which is not there for it")
        continue
      }
      view.zones[zone] = contents
    }
    for deletion in page.deleted {
      guard let zone = self.zone(deletion.zone) else { continue }
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
    self.sharing?.views[page.token] = view
  }

  private func life(of zone: Int, _ account: Int, _ scope: DatabaseScope) -> Int {
    guard scope == .shared else { return databases[account - 1].zones[zone].life }
    return sharing?.visits[account - 1][zone].lives ?? 0
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
  private func view(
    _ token: ChangeToken?, account: Int, scope: DatabaseScope, zone: Int?, life: Int
  ) -> SharingModel.View? {
    guard let token else {
      return SharingModel.View(account: account, scope: scope, zone: zone, life: life)
    }
    guard let view = sharing?.views[token] else {
      findings.report("I10", "a token that was never given out is taken")
      return nil
    }
    guard view.account == account, view.scope == scope, view.zone == zone, view.life == life else {
      findings.report("I10", "a token of another account, database, zone or life is taken")
      return nil
    }
    return view
  }
}
