import CloudProtocol
import Records

extension CloudMachine {
  /// The pushes for all changes after `sequence` in `database`.
  ///
  /// Used by a server whose storage was changed by another process, which cannot reach this
  /// server's devices. The pushes are in the order of the subscriptions' names; no device is
  /// excluded.
  /// - Parameter sequence: the latest change the server knew of.
  package func pushes(
    forChangesAfter sequence: UInt64, in database: DatabaseID, storage: any CloudStorage
  ) throws -> [OutgoingPush] {
    let context = RequestContext(
      storage: storage, limits: limits, database: database,
      account: try database.owner.flatMap { try storage.account($0) }, device: nil,
      now: Timestamp(secondsSinceReferenceDate: 0))
    let zones = try storage.zoneChanges(in: database, after: sequence, limit: .max)
    let events = try zones.map { zone in
      ChangeSet.ZoneEvent(
        zone: zone.id,
        types: zone.deletion == nil
          ? try types(of: zone.id, after: sequence, context) : [])
    }
    return try pushes(for: events, context)
  }

  /// The types of the zone's records changed after `sequence`, each once, in order.
  private func types(
    of zone: ZoneID, after sequence: UInt64, _ context: RequestContext
  ) throws -> [String] {
    var types: Set<String> = []
    var position = sequence
    while true {
      let rows = try context.storage.recordChanges(
        of: zone, in: context.database, after: position, limit: 500)
      for row in rows { types.insert(row.type) }
      guard let last = rows.last, rows.count == 500 else { return types.sorted() }
      position = last.changedAt
    }
  }
}
