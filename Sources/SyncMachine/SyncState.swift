package import Records

/// An account change whose delivery to the app is unconfirmed.
package struct UnannouncedAccount: Hashable, Sendable {
  /// The account whose data the app may still hold; `nil` for none.
  package var previous: UserID?

  /// Creates a change whose last confirmed account is `previous`.
  package init(previous: UserID?) { self.previous = previous }
}

/// The state that an engine stores between runs.
package struct SyncState: Hashable, Sendable {
  /// The database of this state; `nil` in states of earlier versions.
  package var database: SyncedDatabase?
  /// The account of this state; `nil` before the first sign-in and after a sign-out.
  package var user: UserID? {
    didSet {
      records.user = user
      zones.user = user
    }
  }
  /// Set while the app handles the change to `user`; after a crash the change is delivered again.
  package var unannounced: UnannouncedAccount?
  /// The token of the database's change feed.
  package var databaseToken: ChangeToken?
  /// The tokens of the zones' change feeds.
  package var zoneTokens: [ZoneID: ChangeToken] = [:]
  /// Zones with changes that were not delivered yet, in the order the server listed them.
  package var changedZones: [ZoneID] = []
  /// Zones to fetch from the start: their token expired, or the app holds records of them although
  /// they were never fetched.
  ///
  /// Records that such a fetch does not deliver have been deleted.
  ///
  /// A zone is removed when its fetch has completed.
  package var expiredZones: Set<ZoneID> = []
  /// Whether a fetch is required before the next send, after a failed one.
  package var needsFetch = false
  /// Whether the app has untracked changes.
  package var hasUntrackedChanges = false
  /// The subscription known to exist on the server.
  package var subscription: SubscriptionID?
  /// The pending record changes.
  package var records = PendingChanges<RecordID>()
  /// The pending zone changes.
  package var zones = PendingChanges<ZoneID>()

  /// The zones of which the app may hold data, in order.
  package var knownZones: [ZoneID] {
    Set(zoneTokens.keys).union(expiredZones).union(changedZones).sorted()
  }

  /// A copy to store or to return while the original changes; see `PendingChanges.snapshot`.
  package var snapshot: SyncState {
    var copy = self
    copy.records = records.snapshot
    copy.zones = zones.snapshot
    return copy
  }

  /// Rebuilds the indexes of a snapshot, so that a machine can use it.
  package mutating func makeIndexes() {
    records.makeIndex()
    zones.makeIndex()
  }

  /// Creates an empty state.
  package init() {}

  /// Hashes the inexpensive parts; pending changes contribute their count.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(user)
    hasher.combine(databaseToken)
    hasher.combine(changedZones)
    hasher.combine(records.count)
  }

  /// Applies one change, as when a state log is read.
  package mutating func apply(_ change: StateChange) {
    switch change {
    case .reset:
      let database = database
      let (records, zones) = (records, zones)
      self = SyncState()
      self.database = database
      // Observers of these lists must detect that they were replaced.
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
      if let kind = records.pending(for: id) { records.remove(PendingChange(kind, id)) }
    case .addZone(let change): zones.add(change)
    case .removeZone(let id):
      if let kind = zones.pending(for: id) { zones.remove(PendingChange(kind, id)) }
    case .setDatabase(let database): self.database = database
    }
  }
}

/// A change of a state; a state log stores these.
///
/// Applying the changes in order to the initial state gives the current state.
package enum StateChange: Hashable, Sendable {
  /// Removes everything.
  case reset
  /// Sets the account, or none, that is about to be reported to the app.
  case announceUser(UserID?, previous: UserID?)
  /// Sets the account, or none, that has been reported to the app.
  case setUser(UserID?)
  /// Sets the database token.
  case setDatabaseToken(ChangeToken?)
  /// Sets the token of a zone; `nil` removes it.
  case setZoneToken(ZoneID, ChangeToken?)
  /// Sets whether a zone has undelivered changes.
  case setZoneChanged(ZoneID, Bool)
  /// Sets whether a zone is fetched from the start.
  case setZoneExpired(ZoneID, Bool)
  /// Sets whether a fetch is required before the next send.
  case setNeedsFetch(Bool)
  /// Sets whether the app has untracked changes.
  case setHasUntrackedChanges(Bool)
  /// Sets the subscription that exists on the server.
  case setSubscription(SubscriptionID?)
  /// Adds a pending record change.
  case addRecord(PendingChange<RecordID>)
  /// Removes the pending change of a record.
  case removeRecord(RecordID)
  /// Adds a pending zone change.
  case addZone(PendingChange<ZoneID>)
  /// Removes the pending change of a zone.
  case removeZone(ZoneID)
  /// Sets the database of the state.
  case setDatabase(SyncedDatabase)
}
