#if PostgreSQL
  import CloudMachine
  public import Foundation
  import PostgreSQL
  import Records

  /// The tables of the server in a PostgreSQL database, in a schema of their own.
  ///
  /// The database's key comes first in every primary key, so that rows could be distributed by it.
  /// Names are compared by their bytes. The rows' bodies are those of the SQLite file, each with a
  /// checksum.
  enum PostgreSQLLayout {
    /// The version of the layout.
    static let version: Int64 = 1

    /// Verifies the layout, or creates it in an empty schema.
    ///
    /// - Throws: `CloudError` if the schema belongs to another program or a newer version.
    static func prepare(
      _ connection: PostgreSQLConnection, identity: UInt64, secret: StorageSecret
    ) throws {
      let encoding = try connection.run([
        PostgreSQLStatement(
          """
          SELECT pg_encoding_to_char(encoding)::text FROM pg_database
          WHERE datname = current_database()
          """
        )
      ])[0].first { try $0.text(0) }
      guard encoding == "UTF8" else {
        throw PostgreSQLStorageError(
          "the database has the encoding \(encoding ?? "unknown"); create one with UTF8"
        )
      }
      if let found = try found(connection) {
        try verify(found)
      } else {
        try create(connection, identity: identity, secret: secret)
      }
    }

    /// Verifies the layout again on a new connection: since the first one, a newer server may have
    /// changed it.
    static func verify(_ connection: PostgreSQLConnection) throws {
      let rows = try connection.run([PostgreSQLStatement("SELECT version FROM cloudsync.layout")])
      try verify(rows[0].first { try $0.integer(0) } ?? 0)
    }

    private static func verify(_ found: Int64) throws {
      switch found {
      case version: return
      case 0:
        throw PostgreSQLStorageError(
          "the schema 'cloudsync' of the database belongs to another program; use another database")
      default:
        throw PostgreSQLStorageError(
          "the database was written by a newer version (its layout is \(found), this one knows "
            + "\(version)); update, or use another database")
      }
    }

    /// The version in the database: `nil` without a schema, 0 for one that is not a server's.
    private static func found(_ connection: PostgreSQLConnection) throws -> Int64? {
      let (schema, table) =
        try connection.run([
          PostgreSQLStatement(
            """
            SELECT to_regnamespace('cloudsync') IS NOT NULL,
              to_regclass('cloudsync.layout') IS NOT NULL
            """)
        ])[0].first { (try $0.bool(0), try $0.bool(1)) } ?? (false, false)
      guard table else { return schema ? 0 : nil }
      do {
        return try connection.run([PostgreSQLStatement("SELECT version FROM cloudsync.layout")])[0]
          .first { try $0.integer(0) } ?? 0
      } catch let error as PostgreSQLError
        where error.state == "42703" || error.state == "XX001"
      {
        // The table has no such column, or one of another type.
        return 0
      }
    }

    private static func create(
      _ connection: PostgreSQLConnection, identity: UInt64, secret: StorageSecret
    ) throws {
      do {
        try connection.execute(["BEGIN"] + tables)
        _ = try connection.run(
          [
            PostgreSQLStatement(
              "INSERT INTO cloudsync.layout (version) VALUES ($1)", [.integer(version)])
          ] + putSettings(identity: identity, secret: secret) + [PostgreSQLStatement("COMMIT")])
      } catch let error {
        guard !connection.isClosed else { throw error }
        try? connection.execute(["ROLLBACK"])
        // Another process may have created the tables at the same time.
        guard try found(connection) == version else { throw error }
      }
    }

    /// The statements that store the identity and the secret.
    static func putSettings(identity: UInt64, secret: StorageSecret) -> [PostgreSQLStatement] {
      [
        ("identity", SettingsBody.close(identity)), ("secret", SettingsBody.close(secret)),
      ].map { name, body in
        PostgreSQLStatement(
          """
          INSERT INTO cloudsync.settings (name, body) VALUES ($1, $2)
          ON CONFLICT (name) DO UPDATE SET body = excluded.body
          """, [.text(name), .bytes(body)])
      }
    }

    /// All tables but `layout`, `settings` and `shared_state`.
    static let contents = [
      "accounts", "databases", "zones", "records", "links", "subscriptions", "receipts",
      "record_types", "uploads", "file_uses", "file_chunks", "files", "file_candidates",
      "request_counts",
    ]

    /// The key of a name in a column of type `uuid`: 128 bits of a hash of its bytes.
    static func key(of bytes: [UInt8]) -> [UInt8] { Array(SHA256.digest(of: bytes).prefix(16)) }

    /// The statements that make the tables.
    ///
    /// `place` and `feed` both name the zone of a record: if the indexes on the name and on
    /// `changed_at` began with the same columns, the second would be taken for lookups by name,
    /// which then read the whole zone. For the same reason `sender` names the user and device of a
    /// receipt. The large bodies of receipts and files are stored as they are: compressing them
    /// costs more than writing them.
    private static let tables = [
      "CREATE SCHEMA cloudsync",
      "CREATE TABLE cloudsync.layout (version bigint PRIMARY KEY)",
      "CREATE TABLE cloudsync.settings (name text PRIMARY KEY, body bytea NOT NULL)",
      """
      CREATE TABLE cloudsync.accounts (
        name text COLLATE "C" PRIMARY KEY, user_name text COLLATE "C" NOT NULL UNIQUE,
        body bytea NOT NULL)
      """,
      """
      CREATE TABLE cloudsync.databases (
        id uuid PRIMARY KEY, container text COLLATE "C" NOT NULL,
        environment text COLLATE "C" NOT NULL, scope bigint NOT NULL,
        owner text COLLATE "C" NOT NULL, sequence bigint NOT NULL DEFAULT 0, body bytea)
      """,
      """
      CREATE INDEX databases_by_name ON cloudsync.databases (container, environment, scope, owner)
      """,
      "CREATE INDEX databases_by_owner ON cloudsync.databases (owner)",
      """
      CREATE TABLE cloudsync.zones (
        database uuid, owner text COLLATE "C", name text COLLATE "C",
        changed_at bigint NOT NULL DEFAULT 0, body bytea, PRIMARY KEY (database, owner, name))
      """,
      "CREATE INDEX zones_by_change ON cloudsync.zones (database, changed_at)",
      """
      CREATE TABLE cloudsync.records (
        database uuid, place uuid, name text COLLATE "C", feed uuid NOT NULL,
        changed_at bigint NOT NULL, is_live boolean NOT NULL, type text COLLATE "C" NOT NULL,
        body bytea NOT NULL, PRIMARY KEY (database, place, name))
      """,
      "CREATE INDEX records_by_change ON cloudsync.records (database, feed, changed_at)",
      """
      CREATE INDEX records_by_type ON cloudsync.records (database, feed, type, name) WHERE is_live
      """,
      """
      CREATE TABLE cloudsync.links (
        database uuid, owner text COLLATE "C", zone text COLLATE "C", target text COLLATE "C",
        holder_owner text COLLATE "C", holder_zone text COLLATE "C", holder text COLLATE "C",
        kind bigint,
        PRIMARY KEY (database, owner, zone, target, holder_owner, holder_zone, holder, kind))
      """,
      """
      CREATE INDEX links_by_holder ON cloudsync.links (database, holder_owner, holder_zone, holder)
      """,
      """
      CREATE TABLE cloudsync.subscriptions (
        database uuid, name text COLLATE "C", body bytea NOT NULL, PRIMARY KEY (database, name))
      """,
      """
      CREATE TABLE cloudsync.receipts (
        user_name text COLLATE "C", device text COLLATE "C", request text COLLATE "C",
        sender uuid NOT NULL, number bigint GENERATED BY DEFAULT AS IDENTITY, body bytea NOT NULL,
        PRIMARY KEY (user_name, device, request))
      """,
      "ALTER TABLE cloudsync.receipts ALTER COLUMN body SET STORAGE EXTERNAL",
      "CREATE INDEX receipts_by_age ON cloudsync.receipts (sender, number)",
      """
      CREATE TABLE cloudsync.record_types (
        container text COLLATE "C", environment text COLLATE "C", name text COLLATE "C",
        body bytea NOT NULL, PRIMARY KEY (container, environment, name))
      """,
      """
      CREATE TABLE cloudsync.uploads (
        receipt text COLLATE "C" PRIMARY KEY, checksum text COLLATE "C" NOT NULL,
        time bigint NOT NULL, body bytea NOT NULL)
      """,
      "CREATE INDEX uploads_by_time ON cloudsync.uploads (time, receipt)",
      "CREATE INDEX uploads_by_checksum ON cloudsync.uploads (checksum)",
      """
      CREATE TABLE cloudsync.file_uses (
        database uuid, owner text COLLATE "C", zone text COLLATE "C", holder text COLLATE "C",
        checksum text COLLATE "C", PRIMARY KEY (database, owner, zone, holder, checksum))
      """,
      "CREATE INDEX file_uses_by_checksum ON cloudsync.file_uses (checksum)",
      "CREATE TABLE cloudsync.files (checksum text COLLATE \"C\" PRIMARY KEY)",
      """
      CREATE TABLE cloudsync.file_chunks (
        checksum text COLLATE "C", number bigint, body bytea NOT NULL,
        PRIMARY KEY (checksum, number))
      """,
      "ALTER TABLE cloudsync.file_chunks ALTER COLUMN body SET STORAGE EXTERNAL",
      "CREATE TABLE cloudsync.file_candidates (checksum text COLLATE \"C\" PRIMARY KEY)",
      """
      CREATE UNLOGGED TABLE cloudsync.request_counts (
        caller uuid PRIMARY KEY, ends bigint NOT NULL, requests bigint NOT NULL)
      """,
      "CREATE INDEX request_counts_by_end ON cloudsync.request_counts (ends)",
      "CREATE TABLE cloudsync.shared_state (number bigint PRIMARY KEY, body bytea NOT NULL)",
    ]
  }

  /// A database that cannot be used; it is left unchanged.
  public struct PostgreSQLStorageError: Error, Hashable, Sendable, LocalizedError,
    CustomStringConvertible
  {
    /// What failed and how to fix it.
    public var message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var errorDescription: String? { message }

    /// The message.
    public var description: String { message }
  }

  extension DatabaseID {
    /// The key of the database in all tables: 128 bits of a hash of its name.
    var key: [UInt8] {
      var writer = ByteWriter(capacity: 64)
      writer.write(container)
      writer.write(environment.rawValue)
      writer.write(scope.rawValue)
      writer.write(owner?.rawValue ?? "")
      return PostgreSQLLayout.key(of: writer.bytes)
    }
  }

  extension ReceiptKey {
    /// The key of the user and device: 128 bits of a hash of their names.
    var sender: [UInt8] {
      var writer = ByteWriter(capacity: 64)
      writer.write(user.rawValue)
      writer.write(device)
      return PostgreSQLLayout.key(of: writer.bytes)
    }
  }

  extension ZoneID {
    /// The key of the zone within its database, in the index on names: 128 bits of a hash.
    var place: [UInt8] { PostgreSQLLayout.key(of: nameBytes) }

    /// The key of the zone within its database, in the indexes on changes and types.
    var feed: [UInt8] { Array(SHA256.digest(of: nameBytes).suffix(16)) }

    private var nameBytes: [UInt8] {
      var writer = ByteWriter(capacity: 64)
      writer.write(owner)
      writer.write(name)
      return writer.bytes
    }
  }
#endif
