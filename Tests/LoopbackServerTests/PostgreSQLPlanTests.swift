#if PostgreSQL
  import CloudMachine
  import CloudSyncTesting
  import PostgreSQL
  import Records
  import Synchronization
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  /// The planner must never read a whole table, or a whole zone, for a request.
  @Suite("PostgreSQL: plans")
  struct PostgreSQLPlanTests {
    /// The content of the tables.
    enum Tables: String, CaseIterable {
      case empty = "empty"
      case grown = "grown and not analysed"
      case skewed = "one large zone and many small ones, analysed"
    }

    @Test(
      "Every statement uses its index, whatever is in the tables", .serialized,
      arguments: Tables.allCases)
    func statementsUseTheirIndexes(_ tables: Tables) throws {
      let database = try TemporaryDatabase()
      try PostgreSQLStorage(database.address).close()
      let statements = try Self.statements.get()
      #expect(statements.count > 60)
      let connection = try PostgreSQLConnection(database.address, patience: .seconds(60))
      try connection.execute(["SET plan_cache_mode = force_generic_plan"] + Self.fill(tables))
      var used: Set<String> = []
      var whole = 0
      for statement in statements {
        if Self.readsAll(statement.sql) {
          whole += 1
          continue
        }
        let indexes = Self.indexes(of: statement.sql).union([
          "all of file_candidates", "all of shared_state",
        ])
        for plan in try Self.plans(of: statement, connection) {
          for scan in plan.scans where !indexes.contains(scan) {
            Issue.record(
              "\(tables.rawValue), \(plan.mode): \(scan) in\n\(statement.sql)\n\(plan.text)")
          }
          used.formUnion(plan.scans)
        }
      }
      #expect(whole < 30)
      #expect(used.isSuperset(of: ["records_pkey", "records_by_change", "records_by_type"]))
    }

    // MARK: Statements

    /// All statements of the storage, each once, with the values of its last use.
    private static let statements = Result<[PostgreSQLStatement], any Error> {
      let database = try TemporaryDatabase()
      let found = Collection()
      let suite = StorageConformance("PostgreSQL", lifetime: .shared) {
        { identity in
          let storage = try PostgreSQLStorage(database.address, identity: identity)
          storage.watch = { statements in found.add(statements) }
          return storage
        }
      }
      // The checks expect new data, so some of them fail here.
      for check in suite.checks { try? suite.run(check) }
      let storage = try PostgreSQLStorage(database.address)
      storage.watch = { statements in found.add(statements) }
      _ = try storage.countRequest(of: "alice", window: 1)
      _ = try storage.sharedState()
      try storage.updateSharedState { $0 = [1] }
      return found.statements.filter { !["BEGIN", "LOCK", "COMMIT", "ROLLBACK"].contains($0.kind) }
    }

    private final class Collection: Sendable {
      private let found = Mutex<[String: PostgreSQLStatement]>([:])

      func add(_ statements: [PostgreSQLStatement]) {
        found.withLock { found in for statement in statements { found[statement.sql] = statement } }
      }

      var statements: [PostgreSQLStatement] {
        found.withLock { $0.values.sorted { $0.sql < $1.sql } }
      }
    }

    /// The indexes that a statement with parameters may use.
    private static func indexes(of sql: String) -> Set<String> {
      if let rule = rules.first(where: { sql.contains($0.part) }) { return rule.indexes }
      return Set(sql.matches(of: /cloudsync\.(\w+)/).map { "\($0.output.1)_pkey" })
    }

    /// The indexes of statements that do not look rows up by their primary key; the first that
    /// contains a part counts.
    private static let rules: [(part: String, indexes: Set<String>)] = [
      ("WHERE ends < $1", ["request_counts_by_end", "request_counts_pkey"]),
      ("feed = $2 AND type", ["records_by_type"]),
      ("feed = $2 AND is_live", ["records_by_type"]),
      ("feed = $2", ["records_by_change"]),
      ("changed_at > $2", ["zones_by_change", "zones_pkey"]),
      ("body IS NOT NULL ORDER BY owner, name", ["zones_by_change", "zones_pkey"]),
      ("SELECT owner, name FROM cloudsync.zones", ["zones_by_change", "zones_pkey"]),
      ("receipts WHERE user_name = $1 AND number <= (", ["receipts_pkey"]),
      ("AND number <= (", ["receipts_by_age"]),
      ("AND request = $3", ["receipts_pkey"]),
      ("holder_zone = $3", ["links_by_holder"]),
      ("time <= $1", ["uploads_by_time"]),
      (
        "cloudsync.file_candidates)",
        ["files_pkey"]
      ),
      (
        "cloudsync.file_candidates AS old",
        ["files_pkey", "file_uses_by_checksum", "uploads_by_checksum", "file_chunks_pkey"]
      ),
      ("database = databases.id", ["databases_by_name", "subscriptions_pkey"]),
      ("SELECT '' UNION ALL", ["databases_by_owner", "accounts_pkey"]),
      ("user_name = ", ["accounts_pkey", "accounts_user_name_key"]),
    ]

    /// Statements of archives, of a reset and of the start, which read whole tables.
    private static func readsAll(_ sql: String) -> Bool {
      !sql.contains("$") && !sql.contains("FROM cloudsync.file_candidates")
    }

    // MARK: Tables

    private static func fill(_ tables: Tables) -> [String] {
      let alice = StorageSample.alice.key.hex
      let truncation = PostgreSQLLayout.contents.map { "TRUNCATE cloudsync.\($0)" }
      let big = """
        INSERT INTO cloudsync.records
        SELECT '\(alice)', '\(StorageSample.zoneA.place.hex)', 'n' || number,
          '\(StorageSample.zoneA.feed.hex)', number, true, 'T', '\\x00'
        FROM generate_series(1, 50000) AS number
        """
      let small = """
        INSERT INTO cloudsync.records
        SELECT md5('' || number % 4000)::uuid, md5('z')::uuid, 'n' || number, md5('Z')::uuid, number,
          true, 'T', '\\x00' FROM generate_series(1, 150000) AS number
        """
      let kept = PostgreSQLLayout.contents.map {
        "ALTER TABLE cloudsync.\($0) SET (autovacuum_enabled = false)"
      }
      switch tables {
      case .empty: return kept + truncation
      case .grown: return kept + truncation + [small, big] + others
      case .skewed: return kept + truncation + [small, big] + others + ["ANALYZE"]
      }
    }

    /// Rows of the other tables; a fifth of those that name a database are alice's.
    private static var others: [String] {
      let alice = StorageSample.alice.key.hex
      return [
        """
        INSERT INTO cloudsync.links
        SELECT CASE WHEN number % 5 = 0 THEN '\(alice)'::uuid ELSE md5('' || number % 900)::uuid END,
          '', 'A', 'n' || number % 5000, '', 'A', 'm' || number, 0
        FROM generate_series(1, 100000) AS number
        """,
        """
        INSERT INTO cloudsync.databases
        SELECT md5('' || number)::uuid, 'c' || number % 40, 'development', number % 3 + 1, '_u' || number, 1, '\\x00'
        FROM generate_series(1, 20000) AS number
        """,
        """
        INSERT INTO cloudsync.accounts
        SELECT 'u' || number, '_u' || number, '\\x00' FROM generate_series(1, 20000) AS number
        """,
        """
        INSERT INTO cloudsync.zones
        SELECT md5('' || number % 5000)::uuid, '', 'Z' || number, number, '\\x00'
        FROM generate_series(1, 20000) AS number
        """,
        """
        INSERT INTO cloudsync.subscriptions
        SELECT md5('' || number % 5000)::uuid, 's' || number, '\\x00'
        FROM generate_series(1, 20000) AS number
        """,
        """
        INSERT INTO cloudsync.receipts (user_name, device, request, sender, body)
        SELECT '_u' || number % 500, 'phone', 'r' || number, md5('' || number % 500)::uuid, '\\x00'
        FROM generate_series(1, 30000) AS number
        """,
        """
        INSERT INTO cloudsync.record_types
        SELECT 'c' || number % 2000, 'development', 'T' || number, '\\x00'
        FROM generate_series(1, 20000) AS number
        """,
        """
        INSERT INTO cloudsync.uploads
        SELECT 'r' || number, 'c' || number, number, '\\x00'
        FROM generate_series(1, 20000) AS number
        """,
        """
        INSERT INTO cloudsync.file_uses
        SELECT CASE WHEN number % 5 = 0 THEN '\(alice)'::uuid ELSE md5('' || number % 900)::uuid END,
          '', 'A', 'n' || number, 'c' || number
        FROM generate_series(1, 100000) AS number
        """,
        """
        INSERT INTO cloudsync.request_counts
        SELECT md5('' || number)::uuid, number, 1 FROM generate_series(1, 20000) AS number
        """,
        "INSERT INTO cloudsync.files SELECT 'c' || number FROM generate_series(1, 20000) AS number",
        """
        INSERT INTO cloudsync.file_chunks
        SELECT 'c' || number, 0, '\\x00' FROM generate_series(1, 20000) AS number
        """,
      ]
    }

    // MARK: Plans

    private struct Plan {
      let mode: String
      let text: String
      /// The indexes that are used, and the tables that are read without one.
      let scans: Set<String>
    }

    /// The plans for the values, for longer lists, and for any values.
    private static func plans(
      of statement: PostgreSQLStatement, _ connection: PostgreSQLConnection
    ) throws -> [Plan] {
      let long = statement.values.map(\.longer)
      let types = statement.values.map(\.typeName).joined(separator: ", ")
      let nulls = statement.values.map { _ in "NULL" }.joined(separator: ", ")
      try connection.execute([
        "PREPARE guarded\(types.isEmpty ? "" : "(\(types))") AS \(statement.sql)"
      ])
      let explain = "EXPLAIN (COSTS OFF) "
      let texts = try [
        ("with values", PostgreSQLStatement(explain + statement.sql, statement.values)),
        ("with 400 values", PostgreSQLStatement(explain + statement.sql, long)),
        (
          "with any values",
          PostgreSQLStatement(explain + "EXECUTE guarded\(nulls.isEmpty ? "" : "(\(nulls))")")
        ),
      ].map { mode, statement in
        (mode, try connection.run([statement])[0].map { try $0.text(0) })
      }
      try connection.execute(["DEALLOCATE guarded"])
      return texts.map { mode, lines in
        Plan(mode: mode, text: lines.joined(separator: "\n"), scans: scans(in: lines))
      }
    }

    private static func scans(in lines: [String]) -> Set<String> {
      var scans: Set<String> = []
      for line in lines {
        let words = line.split(separator: " ")
        if let place = words.firstIndex(of: "using"), line.contains("Scan") {
          scans.insert(String(words[place + 1]))
        } else if line.contains("Bitmap Index Scan on"), let name = words.last {
          scans.insert(String(name))
        } else if line.contains("Seq Scan on"), let place = words.firstIndex(of: "on") {
          scans.insert("all of " + words[place + 1])
        }
      }
      return scans
    }
  }

  extension PostgreSQLStatement {
    /// The first word.
    fileprivate var kind: Substring { sql.prefix { $0.isLetter } }
  }

  extension [UInt8] {
    fileprivate var hex: String {
      map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
  }

  extension PostgreSQLValue {
    /// The name of the value's type.
    fileprivate var typeName: String {
      switch self {
      case .null, .bytes: "bytea"
      case .integer: "bigint"
      case .bool: "boolean"
      case .text: "text"
      case .uuid: "uuid"
      case .integers: "bigint[]"
      case .bools: "boolean[]"
      case .texts: "text[]"
      case .byteArrays: "bytea[]"
      }
    }

    /// A list of names with 400 more; any other value as it is.
    fileprivate var longer: PostgreSQLValue {
      guard case .texts(let names) = self else { return self }
      return .texts(names + (0..<400).map { "n\($0)" })
    }
  }
#endif
