public import Foundation
import Synchronization

extension SyncedStore {
  /// The zones that exist as far as is known, in the order of their names.
  public var zoneIDs: [CKRecordZone.ID] {
    state.withLock { state in
      state.table.settings.zones.filter { $0.exists || $0.share != nil }.map(\.id)
        .filter(state.table.accepts)
    }
    .sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
  }

  /// Deletes a zone of the account on the server, with its items here.
  ///
  /// - Throws: a `CKError`; ``SyncedStoreError`` if the store was not started.
  public func deleteZone(_ zone: CKRecordZone.ID) async throws {
    _ = try await database().deleteRecordZone(withID: zone)
    state.withLock { state in
      state.table.removeZone(zone)
      settle(&state)
    }
  }

  /// The share of a zone as last seen; `nil` if the zone is not shared.
  ///
  /// - Parameter zone: the zone; `nil` for the store's own.
  public func knownShare(of zone: CKRecordZone.ID? = nil) -> CKShare? {
    state.withLock { $0.table.zone(zone ?? zoneID).share }.flatMap { CKShare.unarchived($0) }
  }

  /// Shares a zone of the account with all its items, or changes its share.
  ///
  /// Before a zone is shared for the first time, everything that was saved is sent. Participants
  /// open a store with the zone's ID in the shared database.
  ///
  /// - Parameters:
  ///   - zone: the zone; `nil` for the store's own.
  ///   - configure: changes the share before it is saved: its title, participants and permissions.
  ///     It is called again when the share was changed meanwhile.
  /// - Returns: the share as the server has it, with its URL.
  /// - Throws: a `CKError`; ``SyncedStoreError`` if the store was not started.
  @discardableResult
  public func share(
    _ zone: CKRecordZone.ID? = nil, configure: (CKShare) throws -> Void = { _ in }
  ) async throws -> CKShare {
    let zone = zone ?? zoneID
    if knownShare(of: zone) == nil { try await sync() }
    let database = try database()
    if state.withLock({ !$0.table.zone(zone).exists }) {
      _ = try await database.save(CKRecordZone(zoneID: zone))
    }
    for _ in 0..<3 {
      let share = try await currentShare(of: zone, in: database) ?? CKShare(recordZoneID: zone)
      try configure(share)
      do {
        let saved = try await database.save(share) as? CKShare ?? share
        try keep(saved, of: zone)
        return saved
      } catch let error as CKError where error.code == .serverRecordChanged {
        continue
      }
    }
    throw CKError(.serverRecordChanged)
  }

  /// Ends the sharing of a zone; for a participant, leaves it.
  ///
  /// The items of a zone that was left are removed by the next sync.
  ///
  /// - Throws: a `CKError`; ``SyncedStoreError`` if the store was not started.
  public func endSharing(of zone: CKRecordZone.ID? = nil) async throws {
    let zone = zone ?? zoneID
    _ = try await database().deleteRecord(withID: Self.shareID(zone))
    try keep(nil, of: zone)
  }

  /// Accepts a share of a zone.
  ///
  /// - Returns: the zone's ID, for a store in the shared database.
  /// - Throws: a `CKError`.
  public static func accept(_ url: URL, in container: CKContainer) async throws -> CKRecordZone.ID {
    let metadata = try await container.shareMetadata(for: url)
    let share = try await container.accept(metadata)
    return share.recordID.zoneID
  }

  func database() throws -> CKDatabase {
    guard let database = state.withLock({ $0.current?.database }) else {
      throw SyncedStoreError.notConnected
    }
    return database
  }

  private func currentShare(
    of zone: CKRecordZone.ID, in database: CKDatabase
  ) async throws -> CKShare? {
    do {
      return try await database.record(for: Self.shareID(zone)) as? CKShare
    } catch let error as CKError where error.code == .unknownItem {
      return nil
    }
  }

  private func keep(_ share: CKShare?, of zone: CKRecordZone.ID) throws {
    try state.withLock { state in
      _ = try state.change { change in
        change.table.updateZone(zone) {
          $0.share = share?.allFields
          guard share != nil else { return }
          $0.exists = true
          $0.isAccessLost = nil
        }
      }
    }
  }

  static func shareID(_ zone: CKRecordZone.ID) -> CKRecord.ID {
    CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zone)
  }
}
