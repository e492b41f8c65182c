package import Records

/// An account change that the app may or may not have been told of.
package struct UnannouncedAccount: Hashable, Sendable {
  /// The account whose data the app may still hold; `nil` for nobody's.
  package var previous: UserID?

  /// Notes that the app was last surely told of `previous`.
  package init(previous: UserID?) { self.previous = previous }
}

/// Everything a client must remember between two runs.
package struct SyncState: Hashable, Sendable {
  /// The database the rest belongs to; `nil` in states of earlier versions.
  package var database: SyncedDatabase?
  /// The account the rest belongs to; `nil` before the first sign-in and after a sign-out.
  package var user: UserID? {
    didSet {
      records.user = user
      zones.user = user
    }
  }
  /// Set while the app is told of `user`: after a crash in between, it is told again.
  package var unannounced: UnannouncedAccount?
  /// How far the database feed was read.
  package var databaseToken: ChangeToken?
  /// How far each zone's feed was read.
  package var zoneTokens: [ZoneID: ChangeToken] = [:]
  /// Zones that hold changes the app has not been given, in the order the server told of them.
  package var changedZones: [ZoneID] = []
  /// Zones to read from the start, where what is not given is gone: their token expired, or the app
  /// holds records of them although they were never read.
  ///
  /// Until such a reading has ended.
  package var expiredZones: Set<ZoneID> = []
  /// Whether a failed send asks for a fetch before the next one.
  package var needsFetch = false
  /// Whether the app has changes it does not list.
  package var hasUntrackedChanges = false
  /// The subscription known to be on the server.
  package var subscription: SubscriptionID?
  /// Record changes to send.
  package var records = PendingChanges<RecordID>()
  /// Zone changes to send.
  package var zones = PendingChanges<ZoneID>()

  /// The zones the app may hold something of, in order.
  package var knownZones: [ZoneID] {
    Set(zoneTokens.keys).union(expiredZones).union(changedZones).sorted()
  }

  /// The same, to keep or to hand out while the original goes on: see `PendingChanges.snapshot`.
  package var snapshot: SyncState {
    var copy = self
    copy.records = records.snapshot
    copy.zones = zones.snapshot
    return copy
  }

  /// Makes a snapshot ready to go on from.
  package mutating func makeIndexes() {
    records.makeIndex()
    zones.makeIndex()
  }

  /// A state that knows nothing.
  package init() {}

  /// Feeds what tells states apart cheaply; pending changes count by number.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(user)
    hasher.combine(databaseToken)
    hasher.combine(changedZones)
    hasher.combine(records.count)
  }
}

/// One step from a state to the next: what a state log holds.
///
/// Applying a state's changes in order to the state they began from gives the state again.
package enum StateChange: Hashable, Sendable {
  /// Forget everything.
  case reset
  /// Belong to an account, or none, of which the app is about to be told.
  case announceUser(UserID?, previous: UserID?)
  /// Belong to an account, or none, of which the app has been told.
  case setUser(UserID?)
  /// The database feed was read so far.
  case setDatabaseToken(ChangeToken?)
  /// A zone's feed was read so far; `nil` forgets it.
  case setZoneToken(ZoneID, ChangeToken?)
  /// A zone holds changes, or holds none any more.
  case setZoneChanged(ZoneID, Bool)
  /// A zone's token expired, or its full fetch ended.
  case setZoneExpired(ZoneID, Bool)
  /// A fetch is due before the next send, or not.
  case setNeedsFetch(Bool)
  /// The app has unlisted changes, or not.
  case setHasUntrackedChanges(Bool)
  /// The subscription on the server.
  case setSubscription(SubscriptionID?)
  /// A record change waits.
  case addRecord(PendingChange<RecordID>)
  /// Nothing waits for a record.
  case removeRecord(RecordID)
  /// A zone change waits.
  case addZone(PendingChange<ZoneID>)
  /// Nothing waits for a zone.
  case removeZone(ZoneID)
  /// The state belongs to this database.
  case setDatabase(SyncedDatabase)
}

extension SyncState {
  /// Takes one step, as when a state log is read.
  package mutating func apply(_ change: StateChange) {
    switch change {
    case .reset:
      let database = database
      let (records, zones) = (records, zones)
      self = SyncState()
      self.database = database
      // What follows these lists must see that they are other ones now.
      (self.records, self.zones) = (records, zones)
      self.records.removeAll()
      self.zones.removeAll()
      user = nil
    case .announceUser(let user, let previous):
      self.user = user
      unannounced = UnannouncedAccount(previous: previous)
    case .setUser(let user):
      self.user = user
      unannounced = nil
    case .setDatabaseToken(let token): databaseToken = token
    case .setZoneToken(let zone, let token): zoneTokens[zone] = token
    case .setZoneChanged(let zone, let isChanged):
      let index = changedZones.firstIndex(of: zone)
      if isChanged, index == nil { changedZones.append(zone) }
      if !isChanged, let index { changedZones.remove(at: index) }
    case .setZoneExpired(let zone, let isExpired):
      if isExpired { expiredZones.insert(zone) } else { expiredZones.remove(zone) }
    case .setNeedsFetch(let value): needsFetch = value
    case .setHasUntrackedChanges(let value): hasUntrackedChanges = value
    case .setSubscription(let id): subscription = id
    case .addRecord(let change): records.add(change)
    case .removeRecord(let id):
      if let kind = records.waiting(for: id) { records.remove(PendingChange(kind, id)) }
    case .addZone(let change): zones.add(change)
    case .removeZone(let id):
      if let kind = zones.waiting(for: id) { zones.remove(PendingChange(kind, id)) }
    case .setDatabase(let database): self.database = database
    }
  }
}
