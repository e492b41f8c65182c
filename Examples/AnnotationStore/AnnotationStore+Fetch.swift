import Foundation
public import SyncSupport
import Synchronization

/// Fetching: the zones that changed, then each of them page by page, with a token for each.
extension AnnotationStore {
  /// Fetches the changes of a database.
  ///
  /// - Returns: the first error of a zone that can't be read; the others were read.
  func fetch(_ scope: CKDatabase.Scope, _ generation: Int) async throws -> CKError? {
    try await fetchZoneList(scope, generation)
    let owners = state.withLock { state in
      state.tables.zones.filter { $0.value.isDirty && $0.key.isEmpty == (scope == .private) }
        .keys.sorted()
    }
    var failure: CKError?
    for key in owners {
      do {
        try await fetchZone(key.isEmpty ? nil : key, scope, generation)
      } catch let error as CKError where !error.isRetried {
        failure = failure ?? error
      }
    }
    return failure
  }

  /// Fetches the list of the changed zones; the own zone has the key `""`, others their owner's.
  private func fetchZoneList(_ scope: CKDatabase.Scope, _ generation: Int) async throws {
    let database = container.database(with: scope)
    let name = scope == .private ? "private" : "shared"
    var token = settings.databaseTokens[name].flatMap(Self.token)
    // A list from its beginning names all zones: a zone that it does not name is gone.
    var listed: Set<String>? = token == nil ? [] : nil
    var isMore = true
    while isMore {
      let since = token
      do {
        let page = try await attempt { try await database.databaseChanges(since: since) }
        let changed = page.modifications.map(\.zoneID).filter(\.isOurs).map { $0.owner ?? "" }
        (token, isMore) = (page.changeToken, page.moreComing)
        listed?.formUnion(changed)
        let all = isMore ? nil : listed
        try transaction(in: generation) { tables in
          for key in changed { tables.markDirty(key) }
          for deletion in page.deletions where deletion.zoneID.isOurs {
            tables.takeZoneLoss(deletion.zoneID.owner ?? "", deletion.reason)
          }
          for key in tables.zones.keys.sorted()
          where key.isEmpty == (scope == .private) && all?.contains(key) == false {
            // Nothing says that the user removed the own zone, so it is made again.
            tables.takeZoneLoss(key, key.isEmpty ? .encryptedDataReset : .deleted)
          }
          // A list from its beginning that is interrupted must begin again.
          let isResumable = listed == nil || !isMore
          tables.changeSettings {
            $0.databaseTokens[name] = isResumable ? Self.data(page.changeToken) : nil
          }
        }
      } catch let error as CKError where error.code == .changeTokenExpired && since != nil {
        (token, listed) = (nil, [])
      }
    }
  }

  // MARK: One zone

  private func fetchZone(
    _ owner: String?, _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws {
    let database = container.database(with: scope)
    var token = state.withLock { $0.tables.zones[owner ?? ""]?.token }.flatMap(Self.token)
    // In a feed from its beginning the items that were removed are missing.
    var missing = token == nil ? knownItems(owner) : nil
    var isMore = true
    while isMore {
      let since = token
      do {
        let page = try await attempt {
          try await database.recordZoneChanges(
            inZoneWith: AnnotationZone.zoneID(owner), since: since)
        }
        // The token must not pass a record that did not arrive, so its error ends the fetch.
        let records = try page.modificationResultsByID.values.map { try $0.get().record }
        (token, isMore) = (page.changeToken, page.moreComing)
        missing?.subtract(records.compactMap(\.itemID))
        let isResumable = missing == nil || !isMore
        let removed = page.deletions.map(\.recordID.recordName)
        let gone = isMore ? [] : (missing ?? []).map(\.uuidString).sorted()
        try takeIn(
          records, removed: removed + gone, owner, generation,
          zone: ZoneState(token: isResumable ? Self.data(page.changeToken) : nil, isDirty: isMore))
      } catch let error as CKError where error.code == .changeTokenExpired && since != nil {
        (token, isMore, missing) = (nil, true, knownItems(owner))
      } catch let error as CKError where error.isMissingZone {
        return try await noteMissing(error, owner, scope, generation)
      }
    }
  }

  /// The items of a zone that the server had; `nil` if there are none.
  private func knownItems(_ owner: String?) -> Set<UUID>? {
    let known = state.withLock { state in
      Set(state.tables.items.values.filter { $0.owner == owner && $0.cloud != nil }.map(\.id))
    }
    return known.isEmpty ? nil : known
  }

  /// Follows the loss of a zone that a fetch found missing.
  ///
  /// The error does not say whether the zone was removed on purpose; the list of zones does. An own
  /// zone that it does not name was lost, and is made again.
  private func noteMissing(
    _ error: CKError, _ owner: String?, _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws {
    let isUnexplained = owner == nil && error.code == .zoneNotFound
    if isUnexplained {
      try await fetchZoneList(scope, generation)
      if state.withLock({ $0.tables.zones[""] == nil }) { return }
    }
    try transaction(in: generation) { tables in
      tables.takeZoneLoss(owner ?? "", isUnexplained ? .encryptedDataReset : .purged)
    }
    if owner == nil { throw PassError.zoneLost }
  }

  /// Takes over records and, from a page of a feed, the state of the zone: all or nothing.
  func takeIn(
    _ records: [CKRecord], removed: [String] = [], _ owner: String?, _ generation: Int,
    zone: ZoneState? = nil
  ) throws {
    // Parents first, so that no child waits that need not.
    let arrivals = try records.compactMap { try item($0, owner) }
      .sorted { ($0.kind.depth, $0.id.uuidString) < ($1.kind.depth, $1.id.uuidString) }
    let shares = records.compactMap { $0 as? CKShare }.map { ShareState($0, owner: owner) }
    let date = moment()
    try transaction(in: generation) { tables in
      var results = arrivals.map { tables.take($0, at: date) }
      for name in removed {
        tables.setShare(ShareState.key(name, owner: owner), nil)
        if let id = UUID(uuidString: name) {
          results.append(tables.takeRemoval(id, owner: owner, at: date))
        }
      }
      for share in shares { tables.setShare(share.key, share) }
      if let zone { tables.setZone(owner ?? "", zone) }
      tables.metrics.downloadCount += results.count(where: \.isNews)
      tables.metrics.conflictCount += results.count(where: \.isConflict)
    }
  }

  /// A record as an item, with its file in the store; `nil` if it is not one of this store's.
  func item(_ record: CKRecord, _ owner: String?) throws -> StoredItem? {
    guard let id = record.itemID, let kind = ItemKind(rawValue: record.recordType) else {
      return nil
    }
    var fields = record.plainFields
    if let asset = record["mediaAsset"] as? CKAsset {
      let name = try asset.fileURL.map { try media.adopt($0) }
      fields[media: "mediaAsset"] = name ?? MediaFolder.unavailable
    }
    return StoredItem(
      id: id, kind: kind, owner: owner, cloud: CloudCopy(record, fields: fields))
  }

  /// Fetches one record that a push named; the removal of a record is left to the next sync.
  public func syncRecord(_ recordID: CKRecord.ID) async throws {
    try await operations.run {
      let generation = state.withLock { $0.generation }
      guard account != nil, recordID.zoneID.isOurs else { return }
      let owner = recordID.zoneID.owner
      let database = container.database(with: owner == nil ? .private : .shared)
      do {
        let record = try await attempt { try await database.record(for: recordID) }
        try takeIn([record], owner, generation)
      } catch let error as CKError where error.code == .unknownItem {
        return
      }
    }
  }

  // MARK: Tokens

  private static func token(_ data: Data) -> CKServerChangeToken? {
    try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
  }

  private static func data(_ token: CKServerChangeToken) -> Data? {
    try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }
}

extension CloudCopy {
  init(_ record: CKRecord, fields: Fields) {
    self.init(
      fields: fields, tag: record.recordChangeTag, system: record.systemFields,
      share: record.share?.recordID.recordName)
  }
}

extension Tables {
  /// Notes that a zone has changes to fetch.
  fileprivate mutating func markDirty(_ key: String) {
    setZone(key, ZoneState(token: zones[key]?.token))
    if key.isEmpty { changeSettings { ($0.hasZone, $0.wasZoneRemoved) = (true, false) } }
  }

  fileprivate mutating func takeZoneLoss(
    _ key: String, _ reason: CKDatabase.DatabaseChange.Deletion.Reason
  ) {
    let owner = key.isEmpty ? nil : key
    let isReset = owner == nil && reason == .encryptedDataReset
    setZone(key, nil)
    for (name, share) in shares where share.owner == owner { setShare(name, nil) }
    if owner == nil {
      changeSettings {
        ($0.hasZone, $0.hasSubscriptions, $0.wasZoneRemoved) = (false, false, !isReset)
      }
    }
    let lost = items.values.filter { $0.owner == owner }.sorted { $0.id.precedes($1.id) }
    for var item in lost {
      guard isReset, !item.isPurged else {
        remove(item.id)
        continue
      }
      // The server lost its keys; this device has the items.
      item.mine = item.fields
      item.cloud = nil
      item.refusal = nil
      if item.dispute == nil { put(item, waits: .save) } else { replace(item) }
    }
  }
}
