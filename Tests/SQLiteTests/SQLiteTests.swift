import Foundation
import Testing

@testable import SQLite

@Suite("The wrapper of SQLite")
struct SQLiteTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sqlite-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("a.db").path)
  }

  /// The SQLite error that `body` throws.
  private func error(_ body: () throws -> Void) -> SQLiteError? {
    do {
      try body()
      return nil
    } catch { return error as? SQLiteError }
  }

  @Test("Values are read back as they were bound, and never as another type")
  func boundValuesAreReadBack() throws {
    let connection = try Connection(path: ":memory:")
    let values: [SQLValue] = [
      .null, .integer(.min), .integer(.max), .text(""), .text("e\u{301}\u{0}🧭"), .blob([]),
      .blob([0, 1, 255]),
    ]
    for value in values {
      let back = try connection.first("SELECT ?", [value]) { row -> SQLValue in
        switch value {
        case .null: row.isNull(0) ? .null : .integer(0)
        case .integer: .integer(try row.integer(0))
        case .text: .text(try row.text(0))
        case .blob: .blob(try row.blob(0))
        }
      }
      #expect(back == value)
    }
    #expect(
      error { _ = try connection.first("SELECT 'a'") { try $0.integer(0) } }?.code == .mismatch)
    #expect(
      error { _ = try connection.first("SELECT CAST(x'ff' AS TEXT)") { try $0.text(0) } }?.code
        == .corrupt)
    #expect(connection.busyStatementCount == 0, "a throwing reader leaves nothing half read")
    try connection.close()
  }

  @Test("A statement is prepared once and reset after each use")
  func statementIsPreparedOnce() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    for number in 1...5 {
      try connection.run("INSERT INTO t (b) VALUES (?)", [.text("v\(number)")])
      #expect(connection.lastInsertedRow == Int64(number))
    }
    #expect(connection.statements.count == 1)
    #expect(
      try connection.rows("SELECT b FROM t ORDER BY a DESC LIMIT 2") { try $0.text(0) }
        == ["v5", "v4"])
    #expect(try connection.first("SELECT a FROM t WHERE b = ?", [.text("x")]) { _ in 1 } == nil)
    let statement = try connection.statement("SELECT a FROM t")
    #expect(try statement.step())
    #expect(statement.isBusy && connection.busyStatementCount == 1)
    statement.reset()
    #expect(!statement.isBusy && connection.busyStatementCount == 0)
    let bound = try connection.statement("SELECT ?")
    try bound.bind([.text("value")])
    bound.reset()
    #expect(try bound.step() && bound.row.isNull(0), "no value is kept")
    bound.reset()
    try connection.close()
    try connection.close()
    #expect(!connection.isOpen)
    #expect(error { try connection.run("SELECT 1") }?.code == .misuse)
    #expect(error { _ = try statement.step() }?.code == .misuse)
  }

  @Test("A transaction that throws is rolled back, and an inner one alone")
  func throwingTransactionIsRolledBack() throws {
    struct Stop: Error {}
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t (a INTEGER)")
    func add(_ number: Int64) throws {
      try connection.run("INSERT INTO t VALUES (?)", [.integer(number)])
    }
    try connection.transaction { try add(1) }
    #expect(throws: Stop.self) {
      try connection.transaction {
        try add(2)
        throw Stop()
      }
    }
    try connection.transaction {
      try add(3)
      _ = try? connection.transaction {
        try add(4)
        throw Stop()
      }
      try connection.transaction { try add(5) }
      #expect(connection.isInTransaction)
    }
    #expect(!connection.isInTransaction)
    #expect(try connection.rows("SELECT a FROM t") { try $0.integer(0) } == [1, 3, 5])
    try connection.close()
  }

  @Test("Errors describe the failure with the SQL but without its values")
  func errorsNameStatementWithoutValues() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t (a TEXT UNIQUE)")
    try connection.run("INSERT INTO t VALUES (?)", [.text("secret")])
    let duplicate = error { try connection.run("INSERT INTO t VALUES (?)", [.text("secret")]) }
    #expect(duplicate?.code.rawValue == 19, "a constraint")
    #expect(duplicate?.extendedCode.rawValue == 2067)
    #expect(duplicate?.sql == "INSERT INTO t VALUES (?)")
    #expect(duplicate?.description.contains("secret") == false)
    for (sql, code) in [
      ("SELEC", SQLiteError.Code.error), ("SELECT ?", .range), ("SELECT 1; SELECT 2", .misuse),
      ("", .misuse),
    ] { #expect(error { try connection.run(sql) }?.code == code, "\(sql)") }
    try connection.close()
  }

  @Test("A locked, invalid, missing or unsuitable database file gives its error")
  func unusableDatabaseFilesFail() throws {
    try withFile { path in
      #expect(error { _ = try Connection(path: path, mode: .readWrite) }?.code == .cannotOpen)
      #expect(error { _ = try Connection(path: path + "/no/a.db") }?.code == .cannotOpen)
      let first = try Connection(path: path)
      try first.useWriteAheadLog()
      try first.execute("CREATE TABLE t (a)")
      let second = try Connection(path: path, mode: .readWrite, busyMilliseconds: 0)
      let version = try second.first("PRAGMA data_version") { try $0.integer(0) }
      try first.transaction {
        let locked = error { try second.transaction {} }
        #expect(locked?.code == .busy)
        if let locked {
          #expect(SQLiteError.Code.busy ~= locked)
          #expect(!(SQLiteError.Code.corrupt ~= locked))
        }
        try first.execute("INSERT INTO t VALUES (1)")
      }
      #expect(try second.first("PRAGMA data_version") { try $0.integer(0) } != version)
      let reader = try Connection(path: path, mode: .readOnly)
      #expect(error { try reader.execute("DELETE FROM t") }?.code == .readOnly)
      for connection in [reader, second, first] { try connection.close() }
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))

      try Data("this is no database, however long it may be".utf8).write(
        to: URL(fileURLWithPath: path))
      let broken = try Connection(path: path)
      #expect(error { try broken.execute("SELECT * FROM t") }?.code == .notADatabase)
      try broken.close()
    }
  }
}
