import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  /// Applies one change inside the running transaction.
  func apply(_ change: StorageChange) throws {
    switch change {
    case .putAccount(let row):
      try connection.run(
        "INSERT OR REPLACE INTO accounts (name, user, body) VALUES (?, ?, ?)",
        [.text(row.name), .text(row.user.rawValue), .blob(AccountBody.close(row))])
    case .putDatabase(let row): try put(row)
    case .putZone(let row, let database): try put(row, in: database)
    case .removeZone(let zone, let database): try remove(zone, in: database)
    case .putRecord(let row, let database): try put(row, in: database)
    case .removeRecords(let zone, let database):
      guard let number = try number(of: zone, in: database) else { return }
      mayHaveFreedSpace = true
      try deleteRecords("DELETE FROM records WHERE zone = ?", [.integer(number)])
      try connection.run("DELETE FROM links WHERE holder_zone = ?", [.integer(number)])
      try connection.run("DELETE FROM file_uses WHERE zone = ?", [.integer(number)])
      try removeIndexes(zone: number)
    case .removeTombstones(let zone, let database, let sequence):
      guard let number = try number(of: zone, in: database) else { return }
      try deleteRecords(
        "DELETE FROM records WHERE zone = ? AND changed_at <= ? AND is_live = 0",
        [.integer(number), .integer(stored(sequence))])
    case .putSubscription(let subscription, let database):
      let number = try makeNumber(of: database)
      let name = subscription.id.rawValue
      let context = SQLiteStorage.subscriptionContext(name, number)
      try connection.run(
        "INSERT OR REPLACE INTO subscriptions (database, name, body) VALUES (?, ?, ?)",
        [
          .integer(number), .text(name),
          .blob(SubscriptionBody.close(subscription, context: context)),
        ])
    case .removeSubscription(let id, let database):
      guard let number = try number(of: database) else { return }
      try connection.run(
        "DELETE FROM subscriptions WHERE database = ? AND name = ?",
        [.integer(number), .text(id.rawValue)])
    case .putReceipt(let receipt, let keeping): try put(receipt, keeping: keeping)
    case .removeReceipts(let user):
      try connection.run("DELETE FROM receipts WHERE user = ?", [.text(user.rawValue)])
    case .putRecordType(let row): try put(row)
    case .putSchema(let row): try put(row)
    case .putUpload(let row, let content): try put(row, content)
    case .removeUpload(let receipt):
      mayHaveFreedSpace = true
      try connection.run("DELETE FROM uploads WHERE receipt = ?", [.text(receipt)])
    case .removeEverything(let identity, let secret):
      wasEmptied = true
      try removeEverything()
      try ServerFile.replace(identity: identity, secret: secret, connection)
    }
  }

  private func put(_ row: DatabaseRow) throws {
    try connection.run(
      "UPDATE databases SET body = ? WHERE id = ?",
      [.blob(DatabaseBody.close(row)), .integer(try makeNumber(of: row.id))])
  }

  private func put(_ row: ZoneRow, in database: DatabaseID) throws {
    try connection.run(
      "UPDATE zones SET changed_at = ?, body = ? WHERE id = ?",
      [
        .integer(stored(row.changedAt)), .blob(ZoneBody.close(row)),
        .integer(try makeNumber(of: row.id, in: database)),
      ])
  }

  /// Clears the row of a zone but keeps its number, which records and links may refer to.
  private func remove(_ zone: ZoneID, in database: DatabaseID) throws {
    guard let number = try number(of: zone, in: database) else { return }
    try connection.run(
      "UPDATE zones SET changed_at = 0, body = NULL WHERE id = ?", [.integer(number)])
  }

  private func put(_ row: RecordRow, in database: DatabaseID) throws {
    let zone = try makeNumber(of: row.id.zone, in: database)
    let indexes = try indexRows()[zone] ?? []
    let old = indexes.isEmpty ? nil : try record(row.id, in: database)?.record
    let known = try update(row, zone: zone)
    let isKnown = known != nil
    let number = try known ?? insert(row, zone: zone)
    if !indexes.isEmpty {
      try updateEntries(in: indexes, zone: zone, from: old, to: row, number: number)
    }
    // A new record has no file uses to replace.
    try putFileUses(of: row, zone: zone, isNew: !isKnown)
    if isKnown {
      try connection.run(
        "DELETE FROM links WHERE holder_zone = ? AND holder = ?",
        [.integer(zone), .text(row.id.name)])
    }
    for link in row.record?.links ?? [] {
      try connection.run(
        """
        INSERT OR IGNORE INTO links (target_zone, target, holder_zone, holder, kind)
        VALUES (?, ?, ?, ?, ?)
        """,
        [
          .integer(try makeNumber(of: link.target.zone, in: database)), .text(link.target.name),
          .integer(zone), .text(row.id.name), .integer(Int64(link.kind.rawValue)),
        ])
    }
  }

  /// Updates the row of a record and returns its number; `nil` when there is none.
  private func update(_ row: RecordRow, zone: Int64) throws -> Int64? {
    for number in try candidates(zone: zone, name: row.id.name) {
      try connection.run(
        """
        UPDATE records SET changed_at = ?, is_live = ?, type = ?, body = ?
        WHERE number = ? AND zone = ? AND name = ?
        """,
        [
          .integer(stored(row.changedAt)), .integer(row.record == nil ? 0 : 1), .text(row.type),
          .blob(RecordBody.close(row)), .integer(number), .integer(zone), .text(row.id.name),
        ])
      if connection.changeCount > 0 { return number }
    }
    return nil
  }

  /// Inserts the row of a record and returns its number.
  private func insert(_ row: RecordRow, zone: Int64) throws -> Int64 {
    try connection.run(
      "INSERT INTO records (zone, name, changed_at, is_live, type, body) VALUES (?, ?, ?, ?, ?, ?)",
      [
        .integer(zone), .text(row.id.name), .integer(stored(row.changedAt)),
        .integer(row.record == nil ? 0 : 1), .text(row.type), .blob(RecordBody.close(row)),
      ])
    learnInserted(zone: zone, name: row.id.name)
    return connection.lastInsertedRow
  }

  private func put(_ receipt: Receipt, keeping: Int) throws {
    let owner: [SQLValue] = [.text(receipt.key.user.rawValue), .text(receipt.key.device)]
    try connection.run(
      "INSERT OR REPLACE INTO receipts (user, device, request, body) VALUES (?, ?, ?, ?)",
      owner + [.text(receipt.key.requestID), .blob(ReceiptBody.close(receipt))])
    try connection.run(
      """
      DELETE FROM receipts WHERE user = ?1 AND device = ?2 AND number <= (
        SELECT number FROM receipts WHERE user = ?1 AND device = ?2
        ORDER BY number DESC LIMIT 1 OFFSET ?3)
      """, owner + [.integer(Int64(max(0, keeping)))])
    guard let most = receiptTurns.take(receipt, keeping: keeping) else { return }
    try connection.run(
      """
      DELETE FROM receipts WHERE user = ?1 AND number <= (
        SELECT number FROM receipts WHERE user = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)
      """, [owner[0], .integer(most)])
  }
}
