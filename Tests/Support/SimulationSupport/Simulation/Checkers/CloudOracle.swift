import CloudProtocol
import Records

/// A second, small account of what the server must hold, built only from what it was asked and
/// answered: it checks every answer before the device sees it.
///
/// Each write names the tag it replaced, so the history of a record is one chain and checking is
/// linear in its length (I5).
struct CloudOracle {
  /// The last word on one place.
  struct Entry {
    var record: Record?
    /// The time of the last change, by the oracle's clock; 0 for never.
    var changedAt = 0
    /// The device that made it, also when it is gone.
    var maker: String?
    var isTrimmed = false
  }

  /// One zone of one account.
  struct ZoneModel {
    var isLive = false
    var deletion: ZoneDeletionReason?
    /// Counts the zone's lives.
    var life = 0
    var changedAt = 0
    var isTrimmed = false
  }

  /// One account's database.
  struct Database {
    var entries: [Entry]
    var zones: [ZoneModel]
    /// The history of each zone, oldest first.
    var zoneHistories: [[ZoneEvent]]
  }

  /// The position in a feed that a token represents.
  struct Position {
    var account: Int
    /// The zone, or -1 for the database feed.
    var zone: Int
    var life: Int
    /// Everything up to here was handed out.
    var through: Int
    /// Deletions up to here are no news: the fetch began with nothing.
    var floor: Int
  }

  let layout: WorldLayout
  let findings: Findings
  var databases: [Database]
  var clock = 0
  var positions: [ChangeToken: Position] = [:]
  var tags: Set<String> = []
  var replays = ReplayChecker()
  /// The shares between accounts; `nil` in worlds without shares.
  var sharing: SharingModel?

  init(layout: WorldLayout, findings: Findings) {
    self.layout = layout
    self.findings = findings
    databases = layout.users.map { _ in
      Database(
        entries: Array(repeating: Entry(), count: layout.records.count),
        zones: Array(repeating: ZoneModel(), count: layout.zones.count),
        zoneHistories: Array(repeating: [], count: layout.zones.count))
    }
  }

  mutating func tick() -> Int {
    clock += 1
    return clock
  }

  // MARK: Judging answers

  /// Checks the answer to a call of `account`, counted from 1; returns whether the call was new.
  mutating func check(
    _ call: CloudCall, account: Int, device: String, _ reply: CloudReply
  ) -> Bool {
    switch replays.check(call, account: account, device: device, reply) {
    case .new: break
    case .repeated: return false
    case .contradicted:
      findings.report("I7", "\(call.requestID) is answered in two ways")
      return false
    }
    let reply = reply.naming(layout.users[account - 1])
    if checkSharing(call, account: account, device: device, reply) { return true }
    switch (call.request, reply) {
    case (.fetchCurrentUser, .currentUser(let user)):
      if user != layout.users[account - 1] { findings.report("I13", "another user is named") }
    case (.modifyRecords(let request), .recordsModified(let saved, let deleted)):
      check(request, saved, deleted, account: account, device: device)
    case (.modifyZones(let request), .zonesModified(let saved, let deleted)):
      check(request, saved, deleted, account: account)
    case (.fetchZoneChanges(let request), .zoneChanges(let page)):
      check(request, page, account: account, device: device)
    case (.fetchDatabaseChanges(let request), .databaseChanges(let page)):
      check(request, page, account: account)
    case (.fetchZones(let zones?), .zones(let results)):
      check(zones, results, account: account)
    case (.fetchSubscriptions, .subscriptions), (.modifySubscriptions, .subscriptionsModified):
      break
    case (.fetchCurrentUser, _), (.modifyRecords, _), (.modifyZones, _), (.fetchZoneChanges, _),
      (.fetchDatabaseChanges, _), (.fetchSubscriptions, _), (.modifySubscriptions, _),
      (.fetchZones, _), (.fetchRecords, _), (.queryRecords, _), (.resolveShares, _),
      (.acceptShares, _), (.findUsers, _), (.uploadAsset, _), (.downloadAsset, _):
      findings.report("I15", "\(call.requestID) is answered as another kind of request")
    }
    return true
  }

  /// Checks a refusal of a whole call.
  func check(refusal error: CloudError, of call: CloudCall, account: Int?) {
    switch error.code {
    case .zoneNotFound, .userDeletedZone:
      guard case .fetchZoneChanges(let request) = call.request, let account,
        let zone = layout.number(of: request.zone)
      else { return }
      if databases[account - 1].zones[zone].isLive {
        findings.report("I9", "\(request.zone.name) is there and is said not to be")
      }
    case .changeTokenExpired:
      let hasToken: Bool
      switch call.request {
      case .fetchZoneChanges(let request): hasToken = request.since != nil
      case .fetchDatabaseChanges(let request): hasToken = request.since != nil
      case .fetchCurrentUser, .fetchZones, .modifyZones, .fetchRecords, .modifyRecords,
        .fetchSubscriptions, .modifySubscriptions, .queryRecords, .resolveShares, .acceptShares,
        .findUsers, .uploadAsset, .downloadAsset:
        hasToken = false
      }
      if !hasToken { findings.report("I9", "a fetch without a token is told that it expired") }
    default: break
    }
  }

  // MARK: What happens without a request

  mutating func remove(_ zone: Int, of account: Int, reason: ZoneDeletionReason) {
    guard databases[account - 1].zones[zone].isLive else { return }
    databases[account - 1].zones[zone].isLive = false
    databases[account - 1].zones[zone].deletion = reason
    databases[account - 1].zones[zone].changedAt = tick()
    databases[account - 1].zones[zone].isTrimmed = false
    databases[account - 1].zoneHistories[zone].append(ZoneEvent(at: clock, deletion: reason))
    for place in layout.places(of: zone) { databases[account - 1].entries[place] = Entry() }
    if account == SharingOptions.owner { endShare(of: zone) }
  }

  /// The server begins again with nothing; to apps that hold data this is like a reset.
  mutating func loseEverything() {
    for account in databases.indices {
      for zone in layout.zones.indices {
        remove(zone, of: account + 1, reason: .encryptedDataReset)
        databases[account].zones[zone] = ZoneModel(
          changedAt: databases[account].zones[zone].changedAt)
      }
      databases[account].zoneHistories = databases[account].zoneHistories.map {
        $0 + [ZoneEvent(at: clock, deletion: .encryptedDataReset)]
      }
      databases[account].entries = layout.records.map { _ in Entry() }
    }
    positions = [:]
    tags = []
    replays = ReplayChecker()
  }

  mutating func trim(_ zone: Int?, of account: Int) {
    if let zone {
      for place in layout.places(of: zone) {
        databases[account - 1].entries[place].isTrimmed = true
      }
    } else {
      for zone in layout.zones.indices where !databases[account - 1].zones[zone].isLive {
        databases[account - 1].zones[zone].isTrimmed = true
        databases[account - 1].zones[zone].deletion = nil
        guard !databases[account - 1].zoneHistories[zone].isEmpty else { continue }
        databases[account - 1].zoneHistories[zone].append(ZoneEvent(at: tick(), deletion: .deleted))
      }
    }
  }
}
