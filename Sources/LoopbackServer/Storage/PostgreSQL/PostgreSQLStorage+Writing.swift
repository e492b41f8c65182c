#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records

  extension PostgreSQLStorage {
    /// Passes the statements that apply changes in order to `send`; the records of a zone are
    /// written together.
    func write(
      _ changes: [StorageChange], _ send: (PostgreSQLStatement) throws -> Void
    ) throws {
      try withoutActuallyEscaping(send) { send in
        var list = WriteList(send: send)
        for change in changes {
          if case .putRecord(let row, let database) = change {
            try list.add(row, in: database, replacing: noteSent(row, in: database))
          } else {
            try list.endRecords()
            try list.name(change.namedDatabase)
            for statement in Self.statements(for: change) { try send(statement) }
            if let removal = removalOfReceipts(after: change) { try send(removal) }
            if change.mayFreeFiles { list.mayFreeFiles = true }
          }
        }
        try list.endRecords()
        if list.mayFreeFiles {
          for statement in Self.removalOfUnusedFiles { try send(statement) }
        }
      }
    }

    /// The removal of the oldest receipts of a user; `nil` if it is not their turn.
    private func removalOfReceipts(after change: StorageChange) -> PostgreSQLStatement? {
      guard case .putReceipt(let receipt, let keeping) = change,
        let most = receiptTurns.take(receipt, keeping: keeping)
      else { return nil }
      return PostgreSQLStatement(
        """
        DELETE FROM cloudsync.receipts WHERE user_name = $1 AND number <= (
          SELECT number FROM cloudsync.receipts WHERE user_name = $1
          ORDER BY number DESC LIMIT 1 OFFSET $2)
        """, [.text(receipt.key.user.rawValue), .integer(most)])
    }

    private static func statements(for change: StorageChange) -> [PostgreSQLStatement] {
      switch change {
      case .putRecord: []
      case .putDatabase(let row):
        [
          PostgreSQLStatement(
            "UPDATE cloudsync.databases SET sequence = $2, body = $3 WHERE id = $1",
            [.uuid(row.id.key), .integer(stored(row.sequence)), .bytes(DatabaseBody.close(row))])
        ]
      case .putZone(let row, let database): [put(row, in: database)]
      case .removeZone(let zone, let database):
        [
          PostgreSQLStatement(
            """
            UPDATE cloudsync.zones SET changed_at = 0, body = NULL
            WHERE database = $1 AND owner = $2 AND name = $3
            """, values(zone, database))
        ]
      case .removeRecords(let zone, let database): removeRecords(of: zone, in: database)
      case .removeTombstones(let zone, let database, let sequence):
        [
          PostgreSQLStatement(
            """
            DELETE FROM cloudsync.records
            WHERE database = $1 AND feed = $2 AND changed_at <= $3 AND NOT is_live
            """, [.uuid(database.key), .uuid(zone.feed), .integer(stored(sequence))])
        ]
      case .putSubscription(let subscription, let database): [put(subscription, in: database)]
      case .removeSubscription(let id, let database):
        [
          PostgreSQLStatement(
            "DELETE FROM cloudsync.subscriptions WHERE database = $1 AND name = $2",
            [.uuid(database.key), .text(id.rawValue)])
        ]
      case .putUpload(let row, _): put(row)
      case .removeUpload(let receipt): [removeUpload(receipt)]
      case .removeEverything(let identity, let secret):
        PostgreSQLLayout.putSettings(identity: identity, secret: secret)
      case .putAccount(let row): [put(row)]
      case .putReceipt(let receipt, let keeping): put(receipt, keeping: keeping)
      case .removeReceipts(let user):
        [
          PostgreSQLStatement(
            "DELETE FROM cloudsync.receipts WHERE user_name = $1", [.text(user.rawValue)])
        ]
      case .putRecordType(let row): [put(row)]
      case .putSchema(let row): [put(row)]
      }
    }

    /// Collects the changes of a commit and sends the statements that make them.
    private struct WriteList {
      let send: (PostgreSQLStatement) throws -> Void
      var mayFreeFiles = false
      private var databases: Set<DatabaseID> = []
      private var zones: Set<InDatabase<ZoneID>> = []
      private var records: RecordWrites?
      /// The maximum number of records in the next statement.
      ///
      /// It is small at first, so that the database starts early. Later statements are larger: the
      /// database needs about three times as long for a record as the server needs to encode it.
      private var size = 20
      private static let mostSize = 5_000

      init(send: @escaping (PostgreSQLStatement) throws -> Void) { self.send = send }

      /// Makes a row for a database that the next statements name.
      mutating func name(_ database: DatabaseID?) throws {
        guard let database, databases.insert(database).inserted else { return }
        try send(PostgreSQLStorage.naming(database))
      }

      private mutating func name(_ zone: ZoneID, in database: DatabaseID) throws {
        try name(database)
        guard zones.insert(InDatabase(zone, database)).inserted else { return }
        try send(PostgreSQLStorage.naming(zone, in: database))
      }

      mutating func add(
        _ row: RecordRow, in database: DatabaseID, replacing stored: PostgreSQLRecordCache.Stored
      ) throws {
        if records?.takes(row.id, in: database) != true {
          try endRecords()
          try name(row.id.zone, in: database)
          records = RecordWrites(zone: row.id.zone, database: database, most: size)
          size = min(3 * size, Self.mostSize)
        }
        records?.append(row, replacing: stored)
        if stored.mayHoldFiles { mayFreeFiles = true }
      }

      mutating func endRecords() throws {
        for statement in records?.statements ?? [] { try send(statement) }
        records = nil
      }
    }

    /// The parameters `$1` to `$3` of statements on a zone.
    static func values(_ zone: ZoneID, _ database: DatabaseID) -> [PostgreSQLValue] {
      [.uuid(database.key), .text(zone.owner), .text(zone.name)]
    }

    /// Makes a row for a zone that other rows name.
    private static func naming(_ zone: ZoneID, in database: DatabaseID) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        INSERT INTO cloudsync.zones (database, owner, name) VALUES ($1, $2, $3)
        ON CONFLICT DO NOTHING
        """, values(zone, database))
    }

    private static func put(_ row: AccountRow) -> PostgreSQLStatement {
      insertion(
        of: row,
        """

        ON CONFLICT (name) DO UPDATE SET user_name = excluded.user_name, body = excluded.body
        """)
    }

    /// Adds the row of an account, which fails if there is one.
    static func insertion(of row: AccountRow, _ rest: String = "") -> PostgreSQLStatement {
      PostgreSQLStatement(
        "INSERT INTO cloudsync.accounts (name, user_name, body) VALUES ($1, $2, $3)" + rest,
        [.text(row.name), .text(row.user.rawValue), .bytes(AccountBody.close(row))])
    }

    private static func put(_ row: ZoneRow, in database: DatabaseID) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        INSERT INTO cloudsync.zones (database, owner, name, changed_at, body)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (database, owner, name)
        DO UPDATE SET changed_at = excluded.changed_at, body = excluded.body
        """,
        values(row.id, database) + [
          .integer(stored(row.changedAt)), .bytes(ZoneBody.close(row)),
        ])
    }

    private static func put(
      _ subscription: Subscription, in database: DatabaseID
    ) -> PostgreSQLStatement {
      let name = subscription.id.rawValue
      return PostgreSQLStatement(
        """
        INSERT INTO cloudsync.subscriptions (database, name, body) VALUES ($1, $2, $3)
        ON CONFLICT (database, name) DO UPDATE SET body = excluded.body
        """,
        [
          .uuid(database.key), .text(name),
          .bytes(
            SubscriptionBody.close(subscription, context: ChecksummedBytes.context(name))),
        ])
    }

    private static func put(_ receipt: Receipt, keeping: Int) -> [PostgreSQLStatement] {
      [
        PostgreSQLStatement(
          """
          INSERT INTO cloudsync.receipts (user_name, device, request, sender, body)
          VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_name, device, request)
          DO UPDATE SET number = excluded.number, body = excluded.body
          """,
          [
            .text(receipt.key.user.rawValue), .text(receipt.key.device),
            .text(receipt.key.requestID), .uuid(receipt.key.sender),
            .bytes(ReceiptBody.close(receipt)),
          ]),
        PostgreSQLStatement(
          """
          DELETE FROM cloudsync.receipts WHERE sender = $1 AND number <= (
            SELECT number FROM cloudsync.receipts WHERE sender = $1
            ORDER BY number DESC LIMIT 1 OFFSET $2)
          """, [.uuid(receipt.key.sender), .integer(Int64(max(0, keeping)))]),
      ]
    }

    private static func put(_ row: RecordTypeRow) -> PostgreSQLStatement {
      putType(row.id, RecordTypeBody.close(row))
    }

    private static func put(_ row: SchemaRow) -> PostgreSQLStatement {
      putType(row.key, SchemaBody.close(row))
    }

    private static func putType(_ id: RecordTypeID, _ body: [UInt8]) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        INSERT INTO cloudsync.record_types (container, environment, name, body)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (container, environment, name) DO UPDATE SET body = excluded.body
        """,
        [.text(id.container), .text(id.environment.rawValue), .text(id.name), .bytes(body)])
    }

    private static func removeRecords(
      of zone: ZoneID, in database: DatabaseID
    ) -> [PostgreSQLStatement] {
      [
        PostgreSQLStatement(
          "DELETE FROM cloudsync.records WHERE database = $1 AND place = $2",
          [.uuid(database.key), .uuid(zone.place)]),
        PostgreSQLStatement(
          """
          DELETE FROM cloudsync.links
          WHERE database = $1 AND holder_owner = $2 AND holder_zone = $3
          """, values(zone, database)),
        PostgreSQLStatement(
          """
          WITH gone AS (
            DELETE FROM cloudsync.file_uses WHERE database = $1 AND owner = $2 AND zone = $3
            RETURNING checksum)
          INSERT INTO cloudsync.file_candidates SELECT DISTINCT checksum FROM gone
          ON CONFLICT DO NOTHING
          """, values(zone, database)),
      ]
    }
  }

  extension StorageChange {
    /// The database whose row must exist before the change is applied; `nil` if there is none.
    fileprivate var namedDatabase: DatabaseID? {
      switch self {
      case .putDatabase(let row): row.id
      case .putZone(_, let database), .putSubscription(_, let database): database
      default: nil
      }
    }

    /// Whether the change replaces all that is stored.
    var removesEverything: Bool {
      if case .removeEverything = self { true } else { false }
    }

    /// Whether a file may have no use after the change.
    fileprivate var mayFreeFiles: Bool {
      switch self {
      case .removeRecords, .putUpload, .removeUpload: true
      default: false
      }
    }
  }

  /// The records of one zone that are written together, each once.
  private struct RecordWrites {
    private let zone: ZoneID
    private let database: DatabaseID
    private var names: Set<String> = []
    /// The rows of records that have none yet, and of the others.
    private var new = Columns()
    private var changed = Columns()
    /// The names of records whose stored links are removed.
    private var linked: [String] = []
    /// The names of records whose stored uses of files are removed.
    private var holdingFiles: [String] = []
    private var links: [(holder: String, target: RecordID, kind: RecordLink.Kind)] = []
    private var uses: [(holder: String, checksum: String)] = []

    /// The values of rows by column.
    private struct Columns {
      var names: [String] = []
      var changes: [Int64] = []
      var live: [Bool] = []
      var types: [String] = []
      var bodies: [[UInt8]] = []

      mutating func append(_ row: RecordRow) {
        names.append(row.id.name)
        changes.append(stored(row.changedAt))
        live.append(row.record != nil)
        types.append(row.type)
        bodies.append(RecordBody.close(row))
      }
    }

    /// The maximum number of records.
    private let most: Int

    init(zone: ZoneID, database: DatabaseID, most: Int) {
      self.zone = zone
      self.database = database
      self.most = most
    }

    /// Whether a record can be written together with these.
    func takes(_ id: RecordID, in database: DatabaseID) -> Bool {
      names.count < most && zone == id.zone && self.database == database
        && !names.contains(id.name)
    }

    mutating func append(_ row: RecordRow, replacing stored: PostgreSQLRecordCache.Stored) {
      names.insert(row.id.name)
      if stored.isAbsent { new.append(row) } else { changed.append(row) }
      if stored.mayLink { linked.append(row.id.name) }
      if stored.mayHoldFiles { holdingFiles.append(row.id.name) }
      guard let record = row.record else { return }
      for link in record.links { links.append((row.id.name, link.target, link.kind)) }
      for checksum in record.assetChecksums { uses.append((row.id.name, checksum)) }
    }

    private func insertion(of columns: Columns, _ rest: String = "") -> [PostgreSQLStatement] {
      if columns.names.isEmpty { return [] }
      return [
        PostgreSQLStatement(
          """
          INSERT INTO cloudsync.records
            (database, place, name, feed, changed_at, is_live, type, body)
          SELECT $1, $2, name, $3, changed_at, is_live, type, body
          FROM unnest($4::text[], $5::bigint[], $6::boolean[], $7::text[], $8::bytea[])
            AS new (name, changed_at, is_live, type, body)
          """ + rest,
          [
            .uuid(database.key), .uuid(zone.place), .uuid(zone.feed), .texts(columns.names),
            .integers(columns.changes), .bools(columns.live), .texts(columns.types),
            .byteArrays(columns.bodies),
          ])
      ]
    }

    var statements: [PostgreSQLStatement] {
      let zoneValues = PostgreSQLStorage.values(zone, database)
      var statements =
        insertion(of: new)
        + insertion(
          of: changed,
          """

          ON CONFLICT (database, place, name) DO UPDATE SET
            changed_at = excluded.changed_at, is_live = excluded.is_live, type = excluded.type,
            body = excluded.body
          """)
      if !linked.isEmpty {
        statements.append(
          PostgreSQLStatement(
            """
            DELETE FROM cloudsync.links
            WHERE database = $1 AND holder_owner = $2 AND holder_zone = $3 AND holder = ANY($4)
            """, zoneValues + [.texts(linked)]))
      }
      if !links.isEmpty {
        statements.append(
          PostgreSQLStatement(
            """
            INSERT INTO cloudsync.links
              (database, owner, zone, target, holder_owner, holder_zone, holder, kind)
            SELECT $1, owner, zone, target, $2, $3, holder, kind
            FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
              AS new (owner, zone, target, holder, kind)
            ON CONFLICT DO NOTHING
            """,
            zoneValues + [
              .texts(links.map(\.target.zone.owner)), .texts(links.map(\.target.zone.name)),
              .texts(links.map(\.target.name)), .texts(links.map(\.holder)),
              .integers(links.map { Int64($0.kind.rawValue) }),
            ]))
      }
      return statements + fileUses(zoneValues)
    }

    /// New uses are noted before old ones go, so that a file in both never seems unused.
    private func fileUses(_ zoneValues: [PostgreSQLValue]) -> [PostgreSQLStatement] {
      let values = zoneValues + [.texts(uses.map(\.holder)), .texts(uses.map(\.checksum))]
      var statements: [PostgreSQLStatement] = []
      if !uses.isEmpty {
        statements.append(
          PostgreSQLStatement(
            """
            INSERT INTO cloudsync.file_uses (database, owner, zone, holder, checksum)
            SELECT $1, $2, $3, holder, checksum FROM unnest($4::text[], $5::text[])
              AS new (holder, checksum)
            ON CONFLICT DO NOTHING
            """, values))
      }
      guard !holdingFiles.isEmpty else { return statements }
      statements.append(
        PostgreSQLStatement(
          """
          WITH gone AS (
            DELETE FROM cloudsync.file_uses AS old
            WHERE database = $1 AND owner = $2 AND zone = $3 AND holder = ANY($6)
              AND NOT EXISTS (
                SELECT 1 FROM unnest($4::text[], $5::text[]) AS new (holder, checksum)
                WHERE new.holder = old.holder AND new.checksum = old.checksum)
            RETURNING checksum)
          INSERT INTO cloudsync.file_candidates SELECT DISTINCT checksum FROM gone
          ON CONFLICT DO NOTHING
          """, values + [.texts(holdingFiles)]))
      return statements
    }
  }
#endif
