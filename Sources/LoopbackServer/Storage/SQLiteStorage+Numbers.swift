import CloudMachine
import CloudProtocol
import Records
import SQLite

/// Long names are stored once in the file; rows refer to them by number.
extension SQLiteStorage {
  /// The number of a database; `nil` if it is not in the file.
  func number(of database: DatabaseID) throws -> Int64? {
    if let number = databaseNumbers[database] { return number }
    let number = try first(
      """
      SELECT id FROM databases
      WHERE container = ? AND environment = ? AND scope = ? AND owner = ?
      """, key(of: database)
    ) { try $0.integer(0) }
    if connection.isInTransaction { databaseNumbers[database] = number }
    return number
  }

  /// The number of a database, which is assigned if it has none.
  func makeNumber(of database: DatabaseID) throws -> Int64 {
    if let number = try number(of: database) { return number }
    try connection.run(
      "INSERT INTO databases (container, environment, scope, owner) VALUES (?, ?, ?, ?)",
      key(of: database))
    let number = connection.lastInsertedRow
    databaseNumbers[database] = number
    return number
  }

  /// The number of a zone; `nil` if it is not in the file.
  func number(of zone: ZoneID, in database: DatabaseID) throws -> Int64? {
    let key = InDatabase(zone, database)
    if let number = zoneNumbers[key] { return number }
    guard let databaseNumber = try number(of: database) else { return nil }
    let number = try first(
      "SELECT id FROM zones WHERE database = ? AND owner = ? AND name = ?",
      [.integer(databaseNumber), .text(zone.owner), .text(zone.name)]
    ) { try $0.integer(0) }
    if connection.isInTransaction { zoneNumbers[key] = number }
    return number
  }

  /// The number of a zone, which is assigned if it has none.
  func makeNumber(of zone: ZoneID, in database: DatabaseID) throws -> Int64 {
    if let number = try number(of: zone, in: database) { return number }
    let databaseNumber = try makeNumber(of: database)
    try connection.run(
      "INSERT INTO zones (database, owner, name) VALUES (?, ?, ?)",
      [.integer(databaseNumber), .text(zone.owner), .text(zone.name)])
    let number = connection.lastInsertedRow
    zoneNumbers[InDatabase(zone, database)] = number
    return number
  }

  /// The key columns of a database; the owner is empty if there is none.
  private func key(of database: DatabaseID) -> [SQLValue] {
    [
      .text(database.container), .text(database.environment.rawValue),
      .integer(Int64(database.scope.rawValue)), .text(database.owner?.rawValue ?? ""),
    ]
  }
}
