import CloudProtocol
import Records

/// The part of the oracle that knows of shares: who sees which record, who may write, and what the
/// feeds of owner and participants must give.
///
/// The order of these feeds is not modelled, for records that come into a share move in it. A feed
/// is checked by what a reader knows that has read it to its end: exactly what it may see.
extension CloudOracle {
  /// Checks what concerns shares; returns whether it did.
  mutating func checkSharing(
    _ call: CloudCall, account: Int, device: String, _ reply: CloudReply
  ) -> Bool {
    guard sharing != nil else { return false }
    defer { noteSeen() }
    let isOwners = call.database == .private && account == SharingOptions.owner
    switch (call.request, reply) {
    case (.acceptShares, .sharesAccepted(let results)):
      for result in results { if let record = result.value { keep(record) } }
    case (.fetchZoneChanges(let request), .zoneChanges(let page))
    where isOwners || call.database == .shared:
      checkView(request, page, account: account, scope: call.database)
    case (.fetchDatabaseChanges(let request), .databaseChanges(let page))
    where isOwners || call.database == .shared:
      checkView(request, page, account: account, scope: call.database)
    case (.modifyRecords(let request), .recordsModified(let saved, let deleted)) where isOwners:
      check(request, saved, deleted, account: account, device: device)
      noteOwnersShares(saved, deleted)
    case (.modifyRecords(let request), .recordsModified(let saved, let deleted))
    where call.database == .shared:
      checkParticipantChange(request, saved, deleted, account: account, device: device)
    case (.modifyZones(let request), .zonesModified(let saved, let deleted))
    where call.database == .shared:
      guard checkCompleteness(request, saved, deleted) else { return true }
      for result in saved where result.error == nil {
        findings.report("I6", "\(result.id.name) is created in a shared database")
      }
      for result in deleted where result.error == nil {
        if let zone = zone(result.id) { leave(zone, account) }
      }
    default: return false
    }
    return true
  }

  /// The number of a zone, however it is spelled.
  func zone(_ id: ZoneID) -> Int? { layout.number(of: sharing?.inward.plain(id) ?? id) }

  /// A record as the oracle keeps it.
  func plain(_ record: Record) -> Record { sharing?.plain(record) ?? record }

  /// The outcome of a save with its records as the oracle keeps them.
  private func plain(_ result: ItemResult<RecordID, Record>) -> ItemResult<RecordID, Record> {
    result.converted(sharing?.inward.plain(result.id) ?? result.id, plain, record: plain)
  }

  // MARK: Who is in a share

  /// Takes over a share as the server answered it.
  private mutating func keep(_ record: Record) {
    guard var details = record.sharing,
      let zone = sharing.flatMap({ $0.zone(ofShare: $0.inward.plain(record.id)) })
    else { return }
    details.currentParticipant = nil
    details.root = details.root.map { sharing?.inward.plain($0) ?? $0 }
    var kept = plain(record)
    kept.sharing = details
    sharing?.shares[zone] = SharingModel.Share(record: kept, details: details)
    noteMembers()
  }

  private mutating func noteMembers() {
    guard sharing != nil else { return }
    let now = tick()
    sharing?.noteMembers(at: now)
  }

  /// The share of a zone is gone.
  mutating func endShare(of zone: Int) {
    sharing?.shares[zone] = nil
    noteMembers()
    noteSeen()
  }

  private mutating func noteOwnersShares(
    _ saved: [ItemResult<RecordID, Record>], _ deleted: [ItemResult<RecordID, Done>]
  ) {
    for result in saved {
      // A share that was changed meanwhile is known from the conflict.
      if let record = result.value ?? result.error?.serverRecord { keep(record) }
    }
    for result in deleted where result.error == nil {
      guard let zone = layout.number(of: result.id.zone) else { continue }
      let isShare = sharing?.zone(ofShare: result.id) != nil
      let isRoot =
        layout.treeSize(of: zone) > 0
        && layout.place(of: result.id).map {
          $0 == layout.places(of: zone).lowerBound
        } ?? false
      if isShare || isRoot { endShare(of: zone) }
    }
  }

  private mutating func leave(_ zone: Int, _ account: Int) {
    let user = layout.users[account - 1]
    guard
      let index = sharing?.shares[zone]?.details.participants.firstIndex(where: {
        $0.identity.user == user
      })
    else { return }
    sharing?.shares[zone]?.details.participants[index].acceptance = .removed
    sharing?.shares[zone]?.record.changeTag = nil
    noteMembers()
  }

  // MARK: Who sees what

  /// The records of a zone that `account` sees, by place; `nil` if it does not see the zone.
  func visible(_ zone: Int, _ account: Int, _ scope: DatabaseScope) -> [Int: Record]? {
    guard let sharing else { return nil }
    let home = databases[SharingOptions.owner - 1]
    guard home.zones[zone].isLive else { return nil }
    let places: Range<Int>
    if scope == .shared {
      guard sharing.mounts(zone, account) else { return nil }
      places = layout.sharedPlaces(of: zone)
    } else {
      places = layout.places(of: zone)
    }
    var visible: [Int: Record] = [:]
    for place in places { visible[place] = home.entries[place].record }
    return visible
  }

  /// Whether `account` sees something of a zone of another account.
  func isThere(visited id: ZoneID, _ account: Int) -> Bool {
    guard sharing != nil, let zone = self.zone(id) else { return false }
    return visible(zone, account, .shared) != nil
  }

  /// What is wrong with telling a participant that a zone is gone: it was, at some time since
  /// `start`.
  func fault(
    telling deletion: ZoneDeletion, toParticipant account: Int, since start: Int
  ) -> String? {
    guard let zone = self.zone(deletion.zone), let visit = sharing?.visits[account - 1][zone],
      visit.lives > 0
    else { return "\(deletion.zone.name) is told to be gone, which was never shared" }
    guard visible(zone, account, .shared) != nil, visit.joinedAt <= start else { return nil }
    return "\(deletion.zone.name) is told to be gone and is shared"
  }

  private mutating func noteSeen() {
    for account in 1...layout.users.count {
      for zone in layout.zones.indices {
        let places = visible(zone, account, .shared)
        if let places { sharing?.seen[account - 1].formUnion(places.keys) }
        let (contents, now) = (contents(of: zone, account, .shared) ?? 0, clock)
        sharing?.note(contents, of: zone, for: account, at: now)
      }
    }
  }

  // MARK: Writes of participants

  private mutating func checkParticipantChange(
    _ request: ModifyRecords, _ saved: [ItemResult<RecordID, Record>],
    _ deleted: [ItemResult<RecordID, Done>], account: Int, device: String
  ) {
    guard checkCompleteness(request, saved, deleted), let sharing else { return }
    if request.isAtomic { checkAtomicity(saved, deleted) }
    var rest = (request: request, saved: saved, deleted: deleted)
    rest.request.isAtomic = false
    (rest.request.save, rest.saved) = ([], [])
    (rest.request.delete, rest.deleted) = ([], [])
    var left: [Int] = []
    // A record whose parent the same request deletes would end outside of the share.
    let treesCutInto = Set(
      request.delete.compactMap { layout.place(of: sharing.inward.plain($0)).map(layout.zone(of:)) }
    ).filter { layout.treeSize(of: $0) > 0 }
    for (save, result) in zip(request.save, saved) {
      let id = sharing.inward.plain(save.id)
      guard let place = layout.place(of: id),
        checkPermission(
          to: place, result.error, account, isDeletion: false,
          mayLoseParent: treesCutInto.contains(layout.zone(of: place)))
      else { continue }
      var inner = save
      inner.id = id
      rest.request.save.append(inner)
      rest.saved.append(plain(result))
    }
    for result in deleted {
      let id = sharing.inward.plain(result.id)
      if let zone = sharing.zone(ofShare: id), result.error == nil { left.append(zone) }
      guard let place = layout.place(of: id),
        checkPermission(to: place, result.error, account, isDeletion: true)
      else { continue }
      rest.request.delete.append(id)
      rest.deleted.append(
        ItemResult(id: id, result.error.map { .failure($0) } ?? .success(Done())))
    }
    check(
      rest.request, rest.saved, rest.deleted, account: SharingOptions.owner, device: device)
    for zone in left { leave(zone, account) }
  }

  /// Checks whether a participant's change was rightly taken or refused; returns whether it is then
  /// to be checked like one of the owner's.
  private mutating func checkPermission(
    to place: Int, _ error: CloudError?, _ account: Int, isDeletion: Bool,
    mayLoseParent: Bool = false
  ) -> Bool {
    let zone = layout.zone(of: place)
    let path = layout.records[place].path
    let isSeen = visible(zone, account, .shared) != nil
    let isIn = layout.sharedPlaces(of: zone).contains(place)
    let mayWrite = isIn && sharing?.mayWrite(account, in: zone) ?? false
    if isSeen || error != nil {
      sharing?.count("participant \(isDeletion ? "deletes" : "saves")", error)
    }
    switch error?.code {
    case nil:
      if mayWrite, isSeen { return true }
      // The deletion of what is not there for this account changes nothing.
      if isDeletion, isSeen, visible(zone, account, .shared)?[place] == nil { return false }
      findings.report(
        "I13", "account \(account) may not write \(path), and its change was accepted")
      return false
    case .zoneNotFound:
      if isSeen { findings.report("I21", "account \(account) is refused \(path), which it sees") }
      return false
    case .permissionFailure:
      let isRoot = layout.treeSize(of: zone) > 0 && place == layout.places(of: zone).lowerBound
      if mayWrite, !(isRoot && isDeletion), !mayLoseParent {
        findings.report("I6", "account \(account) may write \(path), and is not allowed to")
      }
      return false
    case .some(let code):
      if !mayWrite, layout.treeSize(of: zone) == 0, code != .batchRequestFailed,
        visible(zone, account, .shared)?[place] != nil
      {
        findings.report(
          "I6", "account \(account) may only read \(path), and its change failed with \(code)")
      }
      return mayWrite
    }
  }
}
