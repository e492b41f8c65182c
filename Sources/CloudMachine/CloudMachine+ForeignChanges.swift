import CloudProtocol
package import Records

extension CloudMachine {
  /// The pushes for all changes after `sequence` in `database`.
  ///
  /// Used by a server whose storage was changed by another process, which cannot reach this
  /// server's devices. The pushes are in the order of the subscriptions' names; no device is
  /// excluded. A shared database holds no records, so its subscriptions to a record type fire for
  /// every change of a zone.
  /// - Parameter sequence: the latest change the server knew of.
  package func pushes(
    forChangesAfter sequence: UInt64, in database: DatabaseID, storage: any CloudStorage
  ) throws -> [OutgoingPush] {
    let context = try RequestContext(storage, limits, database)
    // Without subscriptions the records need not be read.
    if database.scope == .public { return [] }
    if try storage.subscriptions(in: database).isEmpty { return [] }
    let zones = try storage.zoneChanges(in: database, after: sequence, limit: .max)
    let events = try zones.map { zone in
      ChangeSet.ZoneEvent(
        zone: zone.id,
        types: zone.deletion == nil
          ? try storage.types(of: zone.id, in: database, after: sequence) : [],
        mayChangeOthers: database.scope == .shared && zone.deletion == nil)
    }
    return try pushes(for: events, context)
  }
}

extension CloudStorage {
  /// The types of the zone's records changed after `sequence`, each once, in order.
  fileprivate func types(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64
  ) throws -> [String] {
    var types: Set<String> = []
    try forEachPage(of: zone, in: database, after: sequence) { types.formUnion($0.map(\.type)) }
    return types.sorted()
  }

  /// Calls `body` with all changes of a zone after `sequence`, oldest first, a page at a time.
  package func forEachPage(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64 = 0,
    _ body: ([RecordRow]) throws -> Void
  ) throws {
    var position = sequence
    while true {
      let page = try recordChanges(of: zone, in: database, after: position, limit: 500)
      try body(page)
      guard let last = page.last, page.count == 500 else { return }
      position = last.changedAt
    }
  }
}
