package import CloudProtocol
package import Records

/// Whether the schedule or the app asked for an operation.
package enum SyncReason: Hashable, Sendable {
  /// The engine's own schedule.
  case scheduled
  /// A call by the app.
  case manual
}

/// Which zones a fetch is about.
package enum FetchScope: Hashable, Sendable {
  /// Every zone.
  case all
  /// Every zone but these.
  case allExcluding([ZoneID])
  /// Only these zones.
  case zones([ZoneID])

  /// Whether `zone` is meant.
  package func contains(_ zone: ZoneID) -> Bool {
    switch self {
    case .all: true
    case .allExcluding(let zones): !zones.contains(zone)
    case .zones(let zones): zones.contains(zone)
    }
  }
}

/// Which changes a send is about.
package enum SendScope: Hashable, Sendable {
  /// Every change.
  case all
  /// Every change but those of these zones.
  case allExcluding([ZoneID])
  /// Only changes of these zones.
  case zones([ZoneID])
  /// Only changes of these records.
  case records([RecordID])

  /// Whether changes of `record` are meant.
  package func contains(_ record: RecordID) -> Bool {
    switch self {
    case .all: true
    case .allExcluding(let zones): !zones.contains(record.zone)
    case .zones(let zones): zones.contains(record.zone)
    case .records(let records): records.contains(record)
    }
  }

  /// Whether changes of the zone itself are meant: a scope of records means their zones.
  package func containsZone(_ zone: ZoneID) -> Bool {
    switch self {
    case .all: true
    case .allExcluding(let zones): !zones.contains(zone)
    case .zones(let zones): zones.contains(zone)
    case .records(let records): records.contains { $0.zone == zone }
    }
  }
}

/// What a fetch is told before each of its requests.
package struct FetchOptions: Hashable, Sendable {
  /// Which zones.
  package var scope: FetchScope
  /// Zones that go first, in this order.
  package var prioritizedZones: [ZoneID]

  /// Asks for the zones of `scope`.
  package init(scope: FetchScope = .all, prioritizedZones: [ZoneID] = []) {
    self.scope = scope
    self.prioritizedZones = prioritizedZones
  }
}

/// What the app is told of a fetch.
package struct FetchContext: Hashable, Sendable {
  /// Who asked.
  package var reason: SyncReason
  /// For what.
  package var options: FetchOptions
  /// Names the caller's own options, which the machine does not look into; 0 for none.
  package var ticket: UInt64

  /// Describes a fetch.
  package init(reason: SyncReason, options: FetchOptions, ticket: UInt64 = 0) {
    self.reason = reason
    self.options = options
    self.ticket = ticket
  }
}

/// What the app is told of a send.
package struct SendContext: Hashable, Sendable {
  /// Who asked.
  package var reason: SyncReason
  /// For what.
  package var scope: SendScope
  /// Names the caller's own options, which the machine does not look into; 0 for none.
  package var ticket: UInt64

  /// Describes a send.
  package init(reason: SyncReason, scope: SendScope, ticket: UInt64 = 0) {
    self.reason = reason
    self.scope = scope
    self.ticket = ticket
  }
}

/// How the account changed.
package enum AccountChange: Hashable, Sendable {
  /// Somebody signed in where nobody was known.
  case signIn(UserID)
  /// Nobody is signed in any more.
  case signOut(previous: UserID)
  /// Somebody else is signed in.
  case switchAccounts(previous: UserID, current: UserID)
}

/// The records the app wants sent in one request.
package struct RecordBatch: Hashable, Sendable {
  /// Records to save.
  package var saves: [RecordSave]
  /// Records to delete.
  package var deletions: [RecordID]
  /// Whether all changes of one zone land together or not at all.
  package var isAtomic: Bool

  /// Puts a batch together.
  package init(saves: [RecordSave] = [], deletions: [RecordID] = [], isAtomic: Bool = false) {
    self.saves = saves
    self.deletions = deletions
    self.isAtomic = isAtomic
  }

  /// How many changes it holds.
  package var count: Int { saves.count + deletions.count }

  /// The two halves of a batch that was too large, saves before deletions.
  package var halves: (RecordBatch, RecordBatch) {
    let half = (count + 1) / 2
    let firstSaves = Array(saves.prefix(half))
    let firstDeletions = Array(deletions.prefix(half - firstSaves.count))
    return (
      RecordBatch(saves: firstSaves, deletions: firstDeletions, isAtomic: isAtomic),
      RecordBatch(
        saves: Array(saves.dropFirst(firstSaves.count)),
        deletions: Array(deletions.dropFirst(firstDeletions.count)), isAtomic: isAtomic)
    )
  }
}

/// What became of the zones of one request.
package struct SentZones: Hashable, Sendable {
  /// Saves, in the order asked.
  package var saved: [ItemResult<ZoneID, Zone>]
  /// Deletions, in the order asked.
  package var deleted: [ItemResult<ZoneID, Done>]

  /// Notes what became of the zones.
  package init(saved: [ItemResult<ZoneID, Zone>], deleted: [ItemResult<ZoneID, Done>]) {
    self.saved = saved
    self.deleted = deleted
  }
}

/// What became of the records of one request.
package struct SentRecords: Hashable, Sendable {
  /// The batch this answers, as the app gave it; a batch that was split is answered in parts.
  package var saved: [ItemResult<RecordID, Record>]
  /// Deletions, in the order asked.
  package var deleted: [ItemResult<RecordID, Done>]

  /// Notes what became of the records.
  package init(saved: [ItemResult<RecordID, Record>], deleted: [ItemResult<RecordID, Done>]) {
    self.saved = saved
    self.deleted = deleted
  }

  /// Whether something of it is done.
  var isPartlyDone: Bool {
    saved.contains { $0.error == nil } || deleted.contains { $0.error == nil }
  }
}

/// One event for the app, in the order of cksyncengine 2.2 and 2.3.
package enum SyncEvent: Hashable, Sendable {
  /// The state is different; the driver adds the state as it is at this moment.
  case stateUpdate
  /// The account changed.
  case accountChange(AccountChange)
  /// A fetch begins.
  case willFetchChanges(FetchContext)
  /// The list of zones changed.
  case fetchedDatabaseChanges(modified: [ZoneID], deleted: [ZoneDeletion])
  /// The fetch of a zone begins; `startsOver` when it gives everything there is, so that what the
  /// app holds from the server and is not given is gone: the zone was never read, its token had
  /// expired, or an earlier state was restored.
  case willFetchZoneChanges(ZoneID, startsOver: Bool)
  /// A page of a zone's changes.
  case fetchedZoneChanges(modified: [Record], deleted: [RecordDeletion])
  /// The fetch of a zone ended.
  case didFetchZoneChanges(ZoneID, CloudError?)
  /// A fetch ended.
  case didFetchChanges(FetchContext)
  /// A send begins.
  case willSendChanges(SendContext)
  /// Zones were sent.
  case sentDatabaseChanges(SentZones)
  /// Records were sent.
  case sentRecordChanges(SentRecords)
  /// A send ended.
  case didSendChanges(SendContext)
}
