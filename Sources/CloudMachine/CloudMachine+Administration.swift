import CloudProtocol
package import Records

/// What happens to zones from outside: the settings, a server's housekeeping, a test's faults.
///
/// All of these throw a `CloudError` when there is no such zone or account, and what the
/// storage throws; nothing was changed then.
extension CloudMachine {
  /// Deletes `zone` as an app would, and tells every device.
  package func deleteZone(
    _ zone: ZoneID, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> [PushOrder] {
    try remove(zone, for: .deleted, in: database, now: now, storage: storage)
  }

  /// Deletes `zone` as the user does in the settings.
  ///
  /// Source: cloudkit-surface 2.8.
  package func purgeZone(
    _ zone: ZoneID, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> [PushOrder] {
    try remove(zone, for: .purged, in: database, now: now, storage: storage)
  }

  /// Deletes `zone` as a reset of end-to-end encrypted data does.
  ///
  /// Source: cloudkit-surface 2.8.
  package func resetEncryptedData(
    _ zone: ZoneID, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> [PushOrder] {
    try remove(zone, for: .encryptedDataReset, in: database, now: now, storage: storage)
  }

  /// Makes every token handed out so far for `zone`, or for the database feed when `nil`, end in
  /// `changeTokenExpired`.
  ///
  /// Nobody is told; devices find out when they next ask.
  package func expireTokens(
    of zone: ZoneID?, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> [PushOrder] {
    try change(zone, in: database, now: now, storage: storage) { row, books, _ in
      let sequence = books[0].nextSequence()
      if var row {
        row.trimmedThrough = sequence
        books[0].put(row)
      } else {
        books[0].trimmed(through: sequence)
      }
    }
  }

  /// Forgets the deletions in `zone`, or the deleted zones of the database when `nil`.
  ///
  /// Tokens that have not seen everything up to the latest of them expire.
  package func trimTombstones(
    of zone: ZoneID?, in database: DatabaseID, now: Timestamp, storage: any CloudStorage
  ) throws -> [PushOrder] {
    try change(zone, in: database, now: now, storage: storage) { row, books, _ in
      if var row {
        row.trimmedThrough = max(row.trimmedThrough, row.changedAt)
        books[0].put(row)
        books[0].append(
          .removeTombstones(of: row.id, in: database, through: books[0].database.sequence))
        return
      }
      for gone in try storage.zones(in: database) where gone.deletion != nil {
        books[0].append(.removeZone(gone.id, in: database))
        books[0].trimmed(through: gone.changedAt)
      }
    }
  }

  private func remove(
    _ zone: ZoneID, for reason: ZoneDeletionReason, in database: DatabaseID, now: Timestamp,
    storage: any CloudStorage
  ) throws -> [PushOrder] {
    guard zone.name != ZoneID.defaultName else {
      throw CloudError(.invalidArguments, "the default zone can't be deleted")
    }
    return try change(zone, in: database, now: now, storage: storage) { row, books, context in
      if let row { try books.remove(row, in: database, reason: reason, context) }
    }
  }

  /// One transaction on `database`, whose ledger is the first, with the live row of `zone` when
  /// one is named.
  private func change(
    _ zone: ZoneID?, in database: DatabaseID, now: Timestamp, storage: any CloudStorage,
    _ body: (ZoneRow?, inout Books, RequestContext) throws -> Void
  ) throws -> [PushOrder] {
    try storage.transaction {
      let context = RequestContext(
        storage: storage, limits: limits, plantedBugs: plantedBugs, database: database,
        account: try database.owner.flatMap { try storage.account($0) }, device: nil, now: now)
      var books = Books()
      _ = try books.open(database, context)
      let row = try zone.map { try context.zone(context.spelled($0)).get() }
      try body(row, &books, context)
      let pushes = try pushes(for: &books, context)
      try books.commit(to: storage)
      return pushes
    }
  }
}
