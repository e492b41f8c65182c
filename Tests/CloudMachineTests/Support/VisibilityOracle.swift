import CloudMachine
import CloudProtocol
import Records

/// Says who sees what of Alice's zone, worked out from parents and shares alone, the slow way.
struct VisibilityOracle {
  private let records: [String: Record]
  private let shares: [String: ShareDetails]

  init(_ world: World) throws {
    let rows = try world.storage.recordChanges(
      of: World.zone, in: world.database, after: 0, limit: .max)
    var records: [String: Record] = [:]
    for record in rows.compactMap(\.record) { records[record.id.name] = record }
    self.records = records
    shares = records.compactMapValues(\.sharing)
  }

  /// Everything that is stored.
  var all: [String: Record] { records }

  /// The share a record is in: that of the nearest root on the way up.
  func share(of name: String) -> String? {
    var seen = Set<String>()
    var current: String? = name
    while let here = current, let record = records[here], seen.insert(here).inserted {
      if let share = shares.first(where: { $0.value.root?.name == here })?.key { return share }
      current = record.parent?.name
    }
    return nil
  }

  /// What `user`, who is not Alice, sees.
  func visible(to user: UserID) -> Set<String> {
    let open = Set(
      shares.filter { _, details in
        details.participants.contains {
          $0.identity.user == user && $0.acceptance == .accepted
            && [.readOnly, .readWrite].contains($0.permission)
        }
      }.keys)
    if open.contains(ShareDetails.zoneWideName) { return Set(records.keys) }
    return open.union(records.keys.filter { share(of: $0).map(open.contains) ?? false })
  }
}

/// A visitor's device that knows of the shared database only what the feeds say.
struct VisitorReplica {
  let caller: Caller
  let user: UserID
  private var databaseToken: ChangeToken?
  private var zones: Set<ZoneID> = []
  private var unread: Set<ZoneID> = []
  private var token: ChangeToken?
  private(set) var records: [String: Record] = [:]
  /// Every name a feed ever gave.
  private(set) var told = Set<String>()

  init(_ user: UserID, _ device: String) {
    self.user = user
    caller = Caller(user: user, device: device)
  }

  /// Takes one page of the database's feed, then one of the zone's; whether there may be more.
  mutating func step(_ world: World, limit: Int?) throws -> Bool {
    let zones = try world.ask(
      .fetchDatabaseChanges(FetchDatabaseChanges(since: databaseToken, limit: 1)), as: caller,
      in: .shared)
    var isMore = false
    switch zones.result {
    case .failure(let error) where error.code == .changeTokenExpired:
      databaseToken = nil
      return true
    case .success(.databaseChanges(let page)):
      databaseToken = page.token
      isMore = page.moreComing
      unread.formUnion(page.modified)
      for deletion in page.deleted {
        unread.remove(deletion.zone)
        forget()
      }
    default: throw Unexpected()
    }
    guard unread.contains(world.visited) else { return isMore }
    return try read(world, limit: limit) || isMore
  }

  private mutating func read(_ world: World, limit: Int?) throws -> Bool {
    let request = FetchZoneChanges(zone: world.visited, since: token, limit: limit)
    switch try world.ask(.fetchZoneChanges(request), as: caller, in: .shared).result {
    case .failure(let error) where error.code == .changeTokenExpired:
      forget()
      return true
    case .failure(let error) where error.code == .zoneNotFound:
      // Its deletion stands further on in the database's feed.
      unread.remove(world.visited)
      return true
    case .success(.zoneChanges(let page)):
      token = page.token
      for record in page.modified {
        records[record.id.name] = record
        told.formUnion(record.names)
      }
      for deletion in page.deleted {
        records[deletion.id.name] = nil
        told.insert(deletion.id.name)
      }
      if !page.moreComing { unread.remove(world.visited) }
      return page.moreComing
    default: throw Unexpected()
    }
  }

  private mutating func forget() {
    token = nil
    records = [:]
  }
}

extension Record {
  /// The names of records that the system puts into a record.
  var names: [String] {
    [id.name] + [parent, share, sharing?.root].compactMap { $0?.name }
  }
}

extension CloudReply {
  /// The names of all records the answer tells of.
  var names: [String] {
    switch self {
    case .records(let results): results.flatMap { $0.value?.names ?? [] }
    case .recordsModified(let saved, _):
      saved.flatMap { ($0.value?.names ?? []) + ($0.error?.serverRecord?.names ?? []) }
    case .zoneChanges(let page):
      page.modified.flatMap(\.names) + page.deleted.map(\.id.name)
    case .sharesAccepted(let results): results.flatMap { $0.value?.names ?? [] }
    case .currentUser, .databaseChanges, .zones, .zonesModified, .subscriptions,
      .subscriptionsModified, .queried, .sharesResolved, .usersFound, .assetUploaded,
      .assetContent:
      []
    }
  }
}
