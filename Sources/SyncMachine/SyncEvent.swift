package import CloudProtocol
package import Records

/// The reason for an operation.
package enum SyncReason: Hashable, Sendable {
  /// The engine's schedule.
  case scheduled
  /// A call by the app.
  case manual
}

/// The zones of a fetch.
package enum FetchScope: Hashable, Sendable {
  /// All zones.
  case all
  /// All zones except these.
  case allExcluding([ZoneID])
  /// Only these zones.
  case zones([ZoneID])

  /// Whether the scope contains `zone`.
  package func contains(_ zone: ZoneID) -> Bool {
    switch self {
    case .all: true
    case .allExcluding(let zones): !zones.contains(zone)
    case .zones(let zones): zones.contains(zone)
    }
  }
}

extension FetchScope {
  /// Whether the scope contains a zone, for a test of many zones.
  var membership: (ZoneID) -> Bool {
    switch self {
    case .all: return { _ in true }
    case .allExcluding(let zones):
      let excluded = Set(zones)
      return { !excluded.contains($0) }
    case .zones(let zones): return Set(zones).contains
    }
  }
}

/// The changes of a send.
package enum SendScope: Hashable, Sendable {
  /// All changes.
  case all
  /// All changes except those of these zones.
  case allExcluding([ZoneID])
  /// Only changes of these zones.
  case zones([ZoneID])
  /// Only changes of these records.
  case records([RecordID])

  /// Whether the scope contains changes of `record`.
  package func contains(_ record: RecordID) -> Bool {
    switch self {
    case .all: true
    case .allExcluding(let zones): !zones.contains(record.zone)
    case .zones(let zones): zones.contains(record.zone)
    case .records(let records): records.contains(record)
    }
  }

  /// Whether the scope contains changes of the zone itself; a scope of records contains their
  /// zones.
  package func containsZone(_ zone: ZoneID) -> Bool {
    switch self {
    case .all: true
    case .allExcluding(let zones): !zones.contains(zone)
    case .zones(let zones): zones.contains(zone)
    case .records(let records): records.contains { $0.zone == zone }
    }
  }
}

/// The options of a fetch, which the app may change before each request.
package struct FetchOptions: Hashable, Sendable {
  /// The zones to fetch.
  package var scope: FetchScope
  /// The zones to fetch first, in this order.
  package var prioritizedZones: [ZoneID]

  /// Creates options.
  package init(scope: FetchScope = .all, prioritizedZones: [ZoneID] = []) {
    self.scope = scope
    self.prioritizedZones = prioritizedZones
  }
}

/// The context of a fetch, as delivered to the app.
package struct FetchContext: Hashable, Sendable {
  /// The reason for the operation.
  package var reason: SyncReason
  /// The scope of the operation.
  package var options: FetchOptions
  /// Identifies the caller's options, which are opaque to the machine; 0 for none.
  package var ticket: UInt64

  /// Creates a context.
  package init(reason: SyncReason, options: FetchOptions, ticket: UInt64 = 0) {
    self.reason = reason
    self.options = options
    self.ticket = ticket
  }
}

/// The context of a send, as delivered to the app.
package struct SendContext: Hashable, Sendable {
  /// The reason for the operation.
  package var reason: SyncReason
  /// The scope of the operation.
  package var scope: SendScope
  /// Identifies the caller's options, which are opaque to the machine; 0 for none.
  package var ticket: UInt64

  /// Creates a context.
  package init(reason: SyncReason, scope: SendScope, ticket: UInt64 = 0) {
    self.reason = reason
    self.scope = scope
    self.ticket = ticket
  }
}

/// An account change.
package enum AccountChange: Hashable, Sendable {
  /// An account signed in; there was none before.
  case signIn(UserID)
  /// The account signed out.
  case signOut(previous: UserID)
  /// Another account signed in.
  case switchAccounts(previous: UserID, current: UserID)
}

/// The record changes that the app sends in one request.
package struct RecordBatch: Hashable, Sendable {
  /// Records to save.
  package var saves: [RecordSave]
  /// Records to delete.
  package var deletions: [RecordID]
  /// Whether the changes of a zone succeed or fail together.
  package var isAtomic: Bool

  /// Creates a batch.
  package init(saves: [RecordSave] = [], deletions: [RecordID] = [], isAtomic: Bool = false) {
    self.saves = saves
    self.deletions = deletions
    self.isAtomic = isAtomic
  }

  /// The number of changes.
  package var count: Int { saves.count + deletions.count }

  /// The two halves of a batch that is too large, saves before deletions.
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

/// The results of the changes of one request.
package struct SentChanges<
  ID: Hashable & Sendable & Codable, Value: Hashable & Sendable & Codable
>: Hashable, Sendable {
  /// The results of saves, in the order of the request.
  package var saved: [ItemResult<ID, Value>]
  /// The results of deletions, in the order of the request.
  package var deleted: [ItemResult<ID, Done>]

  /// Creates results.
  package init(saved: [ItemResult<ID, Value>], deleted: [ItemResult<ID, Done>]) {
    self.saved = saved
    self.deleted = deleted
  }

  /// Creates results of a request that failed as a whole.
  init(saves: [ID], deletions: [ID], failedWith error: CloudError) {
    saved = saves.map { ItemResult(id: $0, .failure(error)) }
    deleted = deletions.map { ItemResult(id: $0, .failure(error)) }
  }

  /// Whether any change succeeded.
  var isPartlyDone: Bool {
    saved.contains { $0.error == nil } || deleted.contains { $0.error == nil }
  }
}

/// The results of the zone changes of one request.
package typealias SentZones = SentChanges<ZoneID, Zone>
/// The results of the record changes of one request; a batch that was split has several.
package typealias SentRecords = SentChanges<RecordID, Record>

/// An event for the app, in the order of CE-19 and CE-35 in Docs/Evidence/Engine.md.
package enum SyncEvent: Hashable, Sendable {
  /// The state changed; the driver adds the current state.
  case stateUpdate
  /// The account changed.
  case accountChange(AccountChange)
  /// A fetch begins.
  case willFetchChanges(FetchContext)
  /// A page of the list of zones was fetched.
  case fetchedDatabaseChanges(modified: [ZoneID], deleted: [ZoneDeletion])
  /// The fetch of a zone begins. With `startsOver` it delivers all records of the zone, so that
  /// records which the app holds from the server and does not receive have been deleted: the zone
  /// was never fetched, its token had expired, or an earlier state was restored.
  case willFetchZoneChanges(ZoneID, startsOver: Bool)
  /// A page of a zone's changes was fetched.
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
