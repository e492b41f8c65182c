public import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Fetching: which zones changed, then each of them page by page.
///
/// `recordZoneChanges` with a token for each zone, and not `CKSyncEngine`: the design drives its
/// own passes, sends batches of its own size with a save policy of its own, and keeps the tokens
/// itself; the engine would take all of that over.
extension AnnotationStore {
  /// Fetches what is new in a database.
  func fetch(_ scope: CKDatabase.Scope, _ generation: Int) async throws {
    try await fetchZoneList(scope, generation)
    let owners = state.withLock { state in
      state.tables.zones.filter { $0.value.isDirty && $0.key.isEmpty == (scope == .private) }
        .keys.sorted()
    }
    for key in owners {
      try await fetchZone(key.isEmpty ? nil : key, scope, generation)
    }
  }

  private func fetchZoneList(_ scope: CKDatabase.Scope, _ generation: Int) async throws {
    let database = container.database(with: scope)
    let key = scope == .private ? "private" : "shared"
    var token = state.withLock { $0.tables.settings.databaseTokens[key] }.flatMap(Self.token)
    var isWhole = token == nil
    var listed: Set<String> = []
    var isMore = true
    while isMore {
      let page: ZoneListPage
      do {
        let since = token
        page = try await attempt { ZoneListPage(try await database.databaseChanges(since: since)) }
      } catch let error as CKError where error.code == .changeTokenExpired && token != nil {
        (token, isWhole, listed) = (nil, true, [])
        continue
      }
      token = page.token
      isMore = page.isMore
      listed.formUnion(page.changed)
      let (whole, seen) = (isWhole && !isMore, listed)
      try transaction(in: generation) { tables in
        for owner in page.changed { markDirty(owner, &tables) }
        for (owner, reason) in page.gone { zoneIsGone(owner, reason, &tables) }
        if whole { dropUnlisted(scope, seen, &tables) }
        tables.changeSettings { $0.databaseTokens[key] = Self.data(page.token) }
      }
    }
  }

  /// One page of a database's feed, reduced to this store's zones; the own one is `""`.
  private struct ZoneListPage {
    var changed: [String]
    var gone: [(String, CKDatabase.DatabaseChange.Deletion.Reason)]
    var token: CKServerChangeToken
    var isMore: Bool

    init(
      _ page: (
        modifications: [CKDatabase.DatabaseChange.Modification],
        deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
        moreComing: Bool
      )
    ) {
      changed = page.modifications.map(\.zoneID).filter { $0.zoneName == AnnotationZone.name }
        .map { $0.owner ?? "" }
      gone = page.deletions.filter { $0.zoneID.zoneName == AnnotationZone.name }
        .map { ($0.zoneID.owner ?? "", $0.reason) }
      token = page.changeToken
      isMore = page.moreComing
    }
  }

  private func markDirty(_ key: String, _ tables: inout Tables) {
    var zone = tables.zones[key] ?? ZoneState()
    zone.isDirty = true
    tables.setZone(key, zone)
    if key.isEmpty {
      tables.changeSettings {
        $0.hasZone = true
        $0.wasZoneRemoved = false
      }
    }
  }

  /// A list from the beginning names every zone there is: those it does not name are gone.
  private func dropUnlisted(
    _ scope: CKDatabase.Scope, _ listed: Set<String>, _ tables: inout Tables
  ) {
    for key in tables.zones.keys.sorted()
    where key.isEmpty == (scope == .private) && !listed.contains(key) {
      // Nothing says that a person wanted the own zone gone, so it is made again.
      zoneIsGone(key, key.isEmpty ? .encryptedDataReset : .deleted, &tables)
    }
  }

  /// Follows the loss of a zone.
  func zoneIsGone(
    _ key: String, _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ tables: inout Tables
  ) {
    let owner = key.isEmpty ? nil : key
    tables.setZone(key, nil)
    let inZone = tables.items.values.filter { $0.owner == owner }.map(\.id)
      .sorted { $0.uuidString < $1.uuidString }
    for (name, share) in tables.shares where share.owner == owner { tables.setShare(name, nil) }
    if owner == nil {
      tables.changeSettings {
        $0.hasZone = false
        $0.hasSubscriptions = false
        $0.wasZoneRemoved = reason != .encryptedDataReset
      }
    }
    for id in inZone {
      guard var item = tables.items[id], owner == nil, reason == .encryptedDataReset,
        !item.isPurged
      else {
        tables.remove(id)
        continue
      }
      // The cloud lost its keys, not the person their annotations: this device has them.
      item.mine = item.fields
      item.cloud = nil
      item.refusal = nil
      if item.dispute == nil { tables.put(item, waits: .save) } else { tables.replace(item) }
    }
  }

  // MARK: One zone

  private func fetchZone(
    _ owner: String?, _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws {
    let database = container.database(with: scope)
    let key = owner ?? ""
    var token = state.withLock { $0.tables.zones[key]?.token }.flatMap(Self.token)
    // A feed read from its beginning tells by silence what is gone.
    var sweep = token == nil ? knownRecords(owner) : nil
    var isMore = true
    while isMore {
      let since = token
      do {
        let page = try await attempt {
          try await database.recordZoneChanges(
            inZoneWith: AnnotationZone.zoneID(owner), since: since)
        }
        var failure: (any Error)?
        var records: [CKRecord] = []
        for result in page.modificationResultsByID.values {
          switch result {
          case .success(let modification): records.append(modification.record)
          case .failure(let error): failure = error
          }
        }
        // The token must not pass a record that did not come.
        if let failure { throw failure }
        token = page.changeToken
        isMore = page.moreComing
        sweep?.subtract(records.compactMap(\.itemID))
        let zone = ZoneState(
          token: sweep == nil || !isMore ? Self.data(page.changeToken) : nil, isDirty: isMore)
        let gone = isMore ? [] : (sweep ?? []).sorted { $0.uuidString < $1.uuidString }
        try takeIn(
          records, removed: page.deletions.map(\.recordID), unlisted: gone, owner, zone, generation)
      } catch let error as CKError where error.code == .changeTokenExpired && since != nil {
        (token, isMore, sweep) = (nil, true, knownRecords(owner))
      } catch let error as CKError
        where error.code == .zoneNotFound || error.code == .userDeletedZone
      {
        return try await noteMissing(error, owner, scope, generation)
      }
    }
  }

  /// The items of a zone that the cloud had when this device last heard; `nil` when there are none.
  private func knownRecords(_ owner: String?) -> Set<UUID>? {
    let known = state.withLock { state in
      Set(state.tables.items.values.filter { $0.owner == owner && $0.cloud != nil }.map(\.id))
    }
    return known.isEmpty ? nil : known
  }

  /// Follows the loss of a zone that a fetch found missing.
  ///
  /// The error does not say whether the zone was removed on purpose; the list of zones does.
  /// An own zone that it does not name was lost, and is made again.
  private func noteMissing(
    _ error: CKError, _ owner: String?, _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws {
    if owner == nil, error.code == .zoneNotFound {
      try await fetchZoneList(scope, generation)
      if state.withLock({ $0.tables.zones[""] == nil }) { return }
    }
    try transaction(in: generation) { tables in
      let isLost = owner == nil && error.code == .zoneNotFound
      zoneIsGone(owner ?? "", isLost ? .encryptedDataReset : .purged, &tables)
    }
    if owner == nil { throw PassError.zoneLost }
  }

  /// Takes in one page: all of it and the token, or nothing.
  private func takeIn(
    _ records: [CKRecord], removed: [CKRecord.ID], unlisted: [UUID], _ owner: String?,
    _ zone: ZoneState, _ generation: Int
  ) throws {
    let news = try records.compactMap { try arrival($0) }
      .sorted { $0.id.uuidString < $1.id.uuidString }
    // Parents first, so that nothing is held that need not be.
    let order = TopologicalOrder(news, id: \.id, parent: \.parent)
    let shares = records.compactMap { $0 as? CKShare }.map { ShareState($0, owner: owner) }
    let date = moment()
    let (downloads, conflicts) = try transaction(in: generation) { tables in
      let rules = MergeRules(strategy: tables.settings.strategy, now: date)
      var results = order.ordered.map {
        tables.take($0.copy, $0.id, $0.kind, owner: owner, rules)
      }
      for recordID in removed {
        tables.setShare(ShareState.key(recordID.recordName, owner: owner), nil)
        guard let id = UUID(uuidString: recordID.recordName) else { continue }
        results.append(tables.takeRemoval(id, owner: owner, rules))
      }
      for id in unlisted { results.append(tables.takeRemoval(id, owner: owner, rules)) }
      for share in shares { tables.setShare(share.key, share) }
      tables.setZone(owner ?? "", zone)
      return (results.count(where: \.isNews), results.count(where: \.isConflict))
    }
    state.withLock { state in
      state.metrics.downloadCount += downloads
      state.metrics.conflictCount += conflicts
    }
  }

  /// A record as an item, its file moved into the store.
  struct Arrival {
    var id: UUID
    var kind: ItemKind
    var parent: UUID?
    var copy: CloudCopy
  }

  /// A record as an item; `nil` when it is none of this store's.
  func arrival(_ record: CKRecord) throws -> Arrival? {
    guard let id = record.itemID, let kind = ItemKind(rawValue: record.recordType) else {
      return nil
    }
    var fields = record.plainFields
    if let asset = record["mediaAsset"] as? CKAsset {
      let name = try asset.fileURL.map { try media.adopt($0) }
      fields["mediaAsset"] = .media(name ?? MediaFolder.unavailable)
    }
    let copy = CloudCopy(
      fields: fields, tag: record.recordChangeTag, system: record.systemFields,
      share: record.share?.recordID.recordName)
    return Arrival(
      id: id, kind: kind, parent: kind.parentField.flatMap { fields.link($0) }, copy: copy)
  }

  /// Fetches one record that a push named; a record that is gone is left to the next sync.
  public func syncRecord(_ recordID: CKRecord.ID) async throws {
    try await turns.pass {
      let generation = state.withLock { $0.generation }
      guard account != nil, recordID.zoneID.zoneName == AnnotationZone.name else { return }
      let owner = recordID.zoneID.owner
      let database = container.database(with: owner == nil ? .private : .shared)
      let record: CKRecord
      do {
        record = try await attempt { try await database.record(for: recordID) }
      } catch let error as CKError where error.code == .unknownItem {
        return
      }
      guard let arrival = try arrival(record) else { return }
      let date = moment()
      let result = try transaction(in: generation) { tables in
        tables.take(
          arrival.copy, arrival.id, arrival.kind, owner: owner,
          MergeRules(strategy: tables.settings.strategy, now: date))
      }
      state.withLock { state in
        if result.isNews { state.metrics.downloadCount += 1 }
        if result.isConflict { state.metrics.conflictCount += 1 }
      }
    }
  }

  // MARK: Tokens

  static func token(_ data: Data) -> CKServerChangeToken? {
    try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
  }

  static func data(_ token: CKServerChangeToken) -> Data? {
    try? NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
  }
}
