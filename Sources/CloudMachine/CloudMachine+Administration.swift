import CloudProtocol
package import Records

/// Administration of zones: the user's settings, server maintenance and injected faults.
///
/// Each method works in the transaction of `storage` that its caller runs. All throw a `CloudError`
/// for an unknown zone or account, and storage errors; then nothing was changed.
extension CloudMachine {
  /// Deletes `zone` as an app would, as the user does in the settings, or as a reset of end-to-end
  /// encrypted data does, and sends a push to every device.
  ///
  /// Rules: CS-141, CS-147 and CS-172.
  package func removeZone(
    _ zone: ZoneID, for reason: ZoneDeletionReason, in database: DatabaseID, now: Timestamp,
    storage: any CloudStorage
  ) throws -> AdministrativeOutcome {
    guard zone.name != ZoneID.defaultName else {
      throw CloudError(.invalidArguments, "the default zone can't be deleted")
    }
    return try change(zone, in: database, now: now, storage: storage) { row, transaction, context in
      if let row { try transaction.remove(row, in: database, reason: reason, context) }
    }
  }

  /// Expires every token issued so far for `zone`, or for the database feed when `nil`: using one
  /// fails with `changeTokenExpired`.
  ///
  /// No pushes are sent; devices notice at their next fetch.
  package func expireTokens(
    of zone: ZoneID?, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> AdministrativeOutcome {
    try change(zone, in: database, now: now, storage: storage) { row, transaction, _ in
      let sequence = transaction[0].nextSequence()
      if var row {
        row.trimmedThrough = sequence
        transaction[0].put(row)
      } else {
        transaction[0].trimmed(through: sequence)
      }
    }
  }

  /// Forgets the deletions in `zone`, or the deleted zones of the database when `nil`.
  ///
  /// Tokens older than the latest forgotten deletion expire.
  package func trimTombstones(
    of zone: ZoneID?, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> AdministrativeOutcome {
    try change(zone, in: database, now: now, storage: storage) { row, transaction, _ in
      if var row {
        row.trimmedThrough = max(row.trimmedThrough, row.changedAt)
        transaction[0].put(row)
        transaction[0].append(
          .removeTombstones(of: row.id, in: database, through: transaction[0].database.sequence))
        return
      }
      for gone in try storage.zones(in: database) where gone.deletion != nil {
        transaction[0].append(.removeZone(gone.id, in: database))
        transaction[0].trimmed(through: gone.changedAt)
      }
    }
  }

  /// Commits the changes that `body` makes to `database`, whose change set is the first.
  ///
  /// - Parameter body: Receives the live row of `zone` if it is given.
  private func change(
    _ zone: ZoneID?, in database: DatabaseID, now: Timestamp, storage: any CloudStorage,
    _ body: (ZoneRow?, inout WriteTransaction, RequestContext) throws -> Void
  ) throws -> AdministrativeOutcome {
    let context = try RequestContext(storage, limits, database, now: now)
    var transaction = WriteTransaction()
    _ = try transaction.open(database, context)
    do {
      let row = try zone.map { try context.zone(context.spelled($0)) }
      try body(row, &transaction, context)
    } catch let refusal as Refusal { throw refusal.error }
    let pushes = try pushes(for: &transaction, context)
    try transaction.commit(to: storage)
    return AdministrativeOutcome(pushes, transaction)
  }
}
