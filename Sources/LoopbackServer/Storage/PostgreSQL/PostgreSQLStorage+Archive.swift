#if PostgreSQL
  public import CloudMachine
  public import CloudProtocol
  import PostgreSQL
  public import Records

  extension PostgreSQLStorage {
    // MARK: Schemas

    /// The row of a record type.
    public func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? {
      try cached(\.recordTypes, id) {
        try read([Self.recordTypes([id.name], of: id)])[0].first { try Self.recordType($0, of: id) }
      }
    }

    /// The statement that finds types of the container and environment of `group` by name.
    static func recordTypes(_ names: [String], of group: RecordTypeID) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT name, body FROM cloudsync.record_types
        WHERE container = $1 AND environment = $2 AND name = ANY($3)
        """, [.text(group.container), .text(group.environment.rawValue), .texts(names)])
    }

    static func recordType(
      _ row: PostgreSQLRows.Row, of group: RecordTypeID
    ) throws -> RecordTypeRow {
      try RecordTypeBody.open(
        try row.bytes(1),
        id: RecordTypeID(
          container: group.container, environment: group.environment, name: try row.text(0)))
    }

    /// All record types of a container's environment, by name.
    public func recordTypes(
      of container: String, in environment: CloudEnvironment
    ) throws -> [RecordTypeRow] {
      let group = RecordTypeID(allOf: container, in: environment)
      return try read(
        """
        SELECT name, body FROM cloudsync.record_types
        WHERE container = $1 AND environment = $2 AND name <> '' ORDER BY name
        """, [.text(container), .text(environment.rawValue)]
      ).map { try Self.recordType($0, of: group) }
    }

    /// The schema of a container's environment, which is stored under the empty name.
    public func schema(
      of container: String, in environment: CloudEnvironment
    ) throws -> SchemaRow? {
      let key = RecordTypeID(allOf: container, in: environment)
      return try cached(\.schemas, key) {
        try read([Self.recordTypes([""], of: key)])[0].first { try Self.schema($0, of: key) }
      }
    }

    static func schema(_ row: PostgreSQLRows.Row, of key: RecordTypeID) throws -> SchemaRow {
      try SchemaBody.open(try row.bytes(1), key.container, key.environment)
    }

    /// The index on types is part of the layout, so there is nothing to prepare.
    public func prepareRecords(
      ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
    ) throws -> Bool { true }

    /// The live records of one type in one zone, by name.
    public func records(
      ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
    ) throws -> [RecordRow] {
      let page = ReadPlan.TypePage(
        type: type, zone: zone, database: database, after: name, limit: limit)
      noteRead(database)
      if let known = rows.typePages[page] { return known }
      return try Self.records(of: page, try read([Self.page(page)])[0])
    }

    /// The statement that reads a page of the records of one type.
    static func page(_ page: ReadPlan.TypePage) -> PostgreSQLStatement {
      // No name is empty, so the empty string sorts before all names.
      PostgreSQLStatement(
        """
        SELECT name, changed_at, body FROM cloudsync.records
        WHERE database = $1 AND feed = $2 AND type = $3 AND is_live AND name > $4
        ORDER BY name LIMIT $5
        """,
        [
          .uuid(page.database.key), .uuid(page.zone.feed), .text(page.type),
          .text(page.name ?? ""), .integer(Int64(max(0, page.limit))),
        ])
    }

    static func records(of page: ReadPlan.TypePage, _ rows: PostgreSQLRows) throws -> [RecordRow] {
      try rows.map { row in
        let found = try record(row, in: page.zone)
        guard found.type == page.type, found.record != nil else {
          throw ByteFormatError(offset: 0, reason: "a record does not match its columns")
        }
        return found
      }
    }

    // MARK: Archives and inspection

    /// The names of all databases.
    public func databaseNames() throws -> [DatabaseID] {
      try read("SELECT container, environment, scope, owner FROM cloudsync.databases", [])
        .map { try Self.databaseID($0, from: 0) }
    }

    /// The names of all zones of a database.
    public func zoneNames(in database: DatabaseID) throws -> [ZoneID] {
      try read(
        "SELECT owner, name FROM cloudsync.zones WHERE database = $1", [.uuid(database.key)]
      ).map { ZoneID(name: try $0.text(1), owner: try $0.text(0)) }
    }

    /// Calls `body` with every record of a zone by name, which are read a thousand at a time.
    public func forEachRecord(
      of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
    ) throws {
      var last = ""
      while true {
        let page = try read(
          """
          SELECT name, changed_at, body FROM cloudsync.records
          WHERE database = $1 AND place = $2 AND name > $3 ORDER BY name LIMIT 1000
          """, [.uuid(database.key), .uuid(zone.place), .text(last)]
        ).map { try Self.record($0, in: zone) }
        for row in page { try body(row) }
        guard let end = page.last?.id.name, page.count == 1000 else { return }
        last = end
      }
    }

    /// All record types.
    public func recordTypes() throws -> [RecordTypeRow] {
      try read(
        """
        SELECT container, environment, name, body FROM cloudsync.record_types WHERE name <> ''
        """, []
      ).map { row in
        try RecordTypeBody.open(
          try row.bytes(3),
          id: RecordTypeID(
            container: row.text(0), environment: row.text(1), name: row.text(2)))
      }
    }

    /// All schemas.
    public func schemas() throws -> [SchemaRow] {
      try read(
        "SELECT container, body, environment FROM cloudsync.record_types WHERE name = ''", []
      ).map { row in
        try Self.schema(
          row, of: RecordTypeID(container: row.text(0), environment: row.text(2), name: ""))
      }
    }

    /// The checksums of all files.
    public func assetChecksums() throws -> [String] {
      try read("SELECT checksum FROM cloudsync.files", []).map { try $0.text(0) }
    }

    /// The keys of all receipts, oldest first.
    public func receiptKeys() throws -> [ReceiptKey] {
      try read(
        "SELECT user_name, device, request FROM cloudsync.receipts ORDER BY number", []
      ).map { row in
        ReceiptKey(
          user: UserID(try row.text(0)), device: try row.text(1), requestID: try row.text(2))
      }
    }

    /// The rows of a zone changed before `sequence`, newest first.
    public func latestRecordChanges(
      of zone: ZoneID, in database: DatabaseID, before sequence: UInt64, limit: Int
    ) throws -> [RecordRow] {
      try read(
        """
        SELECT name, changed_at, body FROM cloudsync.records
        WHERE database = $1 AND feed = $2 AND changed_at < $3 ORDER BY changed_at DESC LIMIT $4
        """,
        [
          .uuid(database.key), .uuid(zone.feed), .integer(stored(sequence)),
          .integer(Int64(max(0, limit))),
        ]
      ).map { try Self.record($0, in: zone) }
    }

    /// The number of a zone's live records, counted up to `limit`.
    ///
    /// In the order of an index, because the planner would search all tables for those of a large
    /// zone.
    public func recordCount(
      of zone: ZoneID, in database: DatabaseID, upTo limit: Int
    ) throws -> Int {
      try read(
        """
        SELECT count(*) FROM (
          SELECT 1 FROM cloudsync.records WHERE database = $1 AND feed = $2 AND is_live
          ORDER BY type, name LIMIT $3
        ) AS live
        """, [.uuid(database.key), .uuid(zone.feed), .integer(Int64(max(0, limit)))]
      ).first { Int(clamping: try $0.integer(0)) } ?? 0
    }
  }
#endif
