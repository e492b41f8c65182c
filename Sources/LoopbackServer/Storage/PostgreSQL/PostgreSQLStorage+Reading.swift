#if PostgreSQL
  public import CloudMachine
  import CloudProtocol
  import PostgreSQL
  public import Records

  extension PostgreSQLStorage {
    /// The identity in the settings.
    public func identity() throws -> UInt64 { try settings().identity }

    /// The secret in the settings.
    public func secret() throws -> StorageSecret { try settings().secret }

    private func settings() throws -> (identity: UInt64, secret: StorageSecret) {
      if let settings = rows.settings { return settings }
      let settings = try Self.settings(try read(Self.settingsStatement, []))
      keep { $0.settings = settings }
      return settings
    }

    static let settingsStatement = "SELECT name, body FROM cloudsync.settings"

    static func settings(
      _ rows: PostgreSQLRows
    ) throws -> (identity: UInt64, secret: StorageSecret) {
      var bodies: [String: [UInt8]] = [:]
      for (name, body) in try rows.map({ (try $0.text(0), try $0.bytes(1)) }) {
        bodies[name] = body
      }
      guard let identity = bodies["identity"], let secret = bodies["secret"] else {
        throw ByteFormatError(offset: 0, reason: "it has no identity or secret")
      }
      return (try SettingsBody.identity(identity), try SettingsBody.secret(secret))
    }

    // MARK: Accounts

    /// The account with a name.
    public func account(named name: String) throws -> AccountRow? {
      try cached(\.accountsByName, Array(name.utf8)) {
        try accounts("WHERE name = $1", [.text(name)]).first
      }
    }

    /// The account of a user.
    public func account(_ user: UserID) throws -> AccountRow? {
      try cached(\.accountsByUser, user) {
        try accounts("WHERE user_name = $1", [.text(user.rawValue)]).first
      }
    }

    /// All accounts, by name.
    public func accounts() throws -> [AccountRow] { try accounts("ORDER BY name", []) }

    private func accounts(_ rest: String, _ values: [PostgreSQLValue]) throws -> [AccountRow] {
      try read("SELECT name, user_name, body FROM cloudsync.accounts " + rest, values)
        .map(Self.account)
    }

    static func account(_ row: PostgreSQLRows.Row) throws -> AccountRow {
      try AccountBody.open(try row.bytes(2), name: try row.text(0), user: UserID(try row.text(1)))
    }

    // MARK: Databases and zones

    /// The rows of all databases, in the order of `DatabaseID`.
    public func databases() throws -> [DatabaseRow] {
      try read(
        """
        SELECT body, container, environment, scope, owner FROM cloudsync.databases
        WHERE body IS NOT NULL ORDER BY container, environment, scope, owner
        """, []
      ).map { try DatabaseBody.open(try $0.bytes(0), id: try Self.databaseID($0, from: 1)) }
    }

    /// The rows of the public databases and of those of accounts, in one round trip.
    public func databases(ofAccounts names: [String]) throws -> [DatabaseRow] {
      try fetch(
        """
        SELECT body, container, environment, scope, owner FROM cloudsync.databases
        WHERE body IS NOT NULL AND owner = ANY(ARRAY(
          SELECT '' UNION ALL
          SELECT found.user_name FROM unnest($1::text[]) AS wanted (name) CROSS JOIN LATERAL (
            SELECT user_name FROM cloudsync.accounts
            WHERE name = wanted.name COLLATE "C" OFFSET 0) AS found))
        """, [.texts(names)]
      ).map { try DatabaseBody.open(try $0.bytes(0), id: try Self.databaseID($0, from: 1)) }
    }

    /// The row of a database, which a writing transaction locks.
    public func database(_ id: DatabaseID) throws -> DatabaseRow? {
      try cached(\.databases, id) {
        try noteLock(id)
        return try read(lockOrRead(id)).last.flatMap { try Self.database(id, $0) }
      }
    }

    /// The statements that return the body of a database's row, locked in a writing transaction.
    func lockOrRead(_ id: DatabaseID) -> [PostgreSQLStatement] {
      let select = "SELECT body FROM cloudsync.databases WHERE id = $1"
      guard locks else { return [PostgreSQLStatement(select, [.uuid(id.key)])] }
      return [
        Self.naming(id, ifOwned: true),
        PostgreSQLStatement(select + " FOR UPDATE", [.uuid(id.key)]),
      ]
    }

    static func database(_ id: DatabaseID, _ rows: PostgreSQLRows) throws -> DatabaseRow? {
      try rows.first { row in
        row.isNull(0) ? nil : try DatabaseBody.open(try row.bytes(0), id: id)
      } ?? nil
    }

    /// Makes a row for a database that other rows name.
    ///
    /// - Parameter isOwned: makes none for an owner without an account, whom a request can invent.
    static func naming(_ id: DatabaseID, ifOwned isOwned: Bool = false) -> PostgreSQLStatement {
      let condition =
        " WHERE $5 = '' OR EXISTS (SELECT FROM cloudsync.accounts WHERE user_name = $5)"
      return PostgreSQLStatement(
        """
        INSERT INTO cloudsync.databases (id, container, environment, scope, owner)
        SELECT $1::uuid, $2::text, $3::text, $4::bigint, $5::text\(isOwned ? condition : "")
        ON CONFLICT DO NOTHING
        """,
        [
          .uuid(id.key), .text(id.container), .text(id.environment.rawValue),
          .integer(Int64(id.scope.rawValue)), .text(id.owner?.rawValue ?? ""),
        ])
    }

    static func databaseID(_ row: PostgreSQLRows.Row, from column: Int32) throws -> DatabaseID {
      try DatabaseID(
        container: row.text(column), environment: row.text(column + 1),
        scope: row.integer(column + 2), owner: row.text(column + 3))
    }

    /// The row of a zone.
    public func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
      noteRead(database)
      return try cached(\.zones, InDatabase(zone, database)) {
        try zones(
          in: database, "AND owner = $2 AND name = $3", [.text(zone.owner), .text(zone.name)]
        ).first
      }
    }

    /// All zones, by name.
    public func zones(in database: DatabaseID) throws -> [ZoneRow] {
      noteRead(database)
      let found = try zones(in: database, "ORDER BY owner, name", [])
      // A list of zones asks for each of them, and for the default zone, which may have no row.
      keep { cache in
        for row in found where cache.zones[InDatabase(row.id, database)] == nil {
          cache.zones[InDatabase(row.id, database)] = row
        }
        let first = InDatabase(ZoneID.default, database)
        if cache.zones[first] == nil { cache.zones[first] = .some(nil) }
      }
      return found
    }

    /// The zones that changed after `sequence`.
    public func zoneChanges(
      in database: DatabaseID, after sequence: UInt64, limit: Int
    ) throws -> [ZoneRow] {
      noteRead(database)
      let page = ReadPlan.Page(zone: nil, database: database, after: sequence, limit: limit)
      if let known = rows.zonePages[page] { return known }
      return try read([Self.page(page)])[0].map(Self.zone)
    }

    /// The statement that reads a page of a feed.
    static func page(_ page: ReadPlan.Page) -> PostgreSQLStatement {
      let values: [PostgreSQLValue] = [
        .integer(stored(page.sequence)), .integer(Int64(max(0, page.limit))),
      ]
      guard let zone = page.zone else {
        return PostgreSQLStatement(
          """
          SELECT owner, name, changed_at, body FROM cloudsync.zones
          WHERE database = $1 AND body IS NOT NULL AND changed_at > $2
          ORDER BY changed_at, owner, name LIMIT $3
          """, [.uuid(page.database.key)] + values)
      }
      return PostgreSQLStatement(
        """
        SELECT name, changed_at, body FROM cloudsync.records
        WHERE database = $1 AND feed = $2 AND changed_at > $3 ORDER BY changed_at, name LIMIT $4
        """, [.uuid(page.database.key), .uuid(zone.feed)] + values)
    }

    private func zones(
      in database: DatabaseID, _ rest: String, _ values: [PostgreSQLValue]
    ) throws -> [ZoneRow] {
      try read(
        """
        SELECT owner, name, changed_at, body FROM cloudsync.zones
        WHERE database = $1 AND body IS NOT NULL \(rest)
        """, [.uuid(database.key)] + values
      ).map(Self.zone)
    }

    static func zone(_ row: PostgreSQLRows.Row) throws -> ZoneRow {
      try ZoneBody.open(
        try row.bytes(3), id: ZoneID(name: try row.text(1), owner: try row.text(0)),
        changedAt: try counted(try row.integer(2)))
    }

    // MARK: Records

    /// The row of a record, or its tombstone.
    public func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
      noteRead(database)
      if let known = knownRecord(id, in: database) { return known }
      let row = try read([Self.lookup([id.name], in: id.zone, of: database)])[0]
        .first { try Self.record($0, in: id.zone) }
      keep {
        $0.records.note(row.map { [$0] } ?? [], of: [id.name], in: id.zone, of: database)
      }
      return row
    }

    /// The statement that finds records of a zone by name.
    ///
    /// `OFFSET 0` keeps the planner from a join that reads the whole zone.
    static func lookup(
      _ names: [String], in zone: ZoneID, of database: DatabaseID
    ) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT found.name, found.changed_at, found.body
        FROM unnest($3::text[]) AS wanted (name) CROSS JOIN LATERAL (
          SELECT name, changed_at, body FROM cloudsync.records
          WHERE database = $1 AND place = $2 AND name = wanted.name COLLATE "C" OFFSET 0) AS found
        """, [.uuid(database.key), .uuid(zone.place), .texts(names)])
    }

    static func record(_ row: PostgreSQLRows.Row, in zone: ZoneID) throws -> RecordRow {
      try RecordBody.open(
        try row.bytes(2), id: RecordID(name: try row.text(0), zone: zone),
        changedAt: try counted(try row.integer(1)))
    }

    /// The records of a zone that changed after `sequence`.
    public func recordChanges(
      of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
    ) throws -> [RecordRow] {
      noteRead(database)
      let page = ReadPlan.Page(zone: zone, database: database, after: sequence, limit: limit)
      if let known = rows.recordRows(of: page) { return known }
      return try read([Self.page(page)])[0].map { try Self.record($0, in: zone) }
    }

    /// The references to a record.
    public func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
      noteRead(database)
      return try cached(\.links, InDatabase(target, database)) {
        try read([Self.links(to: [target.name], in: target.zone, of: database)])[0]
          .map { try Self.link($0).link }
      }
    }

    /// The statement that finds the references to records of a zone.
    static func links(
      to names: [String], in zone: ZoneID, of database: DatabaseID
    ) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT found.* FROM unnest($4::text[]) AS wanted (target) CROSS JOIN LATERAL (
          SELECT target, holder_owner, holder_zone, holder, kind FROM cloudsync.links
          WHERE database = $1 AND owner = $2 AND zone = $3
            AND target = wanted.target COLLATE "C" OFFSET 0) AS found
        ORDER BY target, holder_owner, holder_zone, holder, kind
        """, [.uuid(database.key), .text(zone.owner), .text(zone.name), .texts(names)])
    }

    static func link(_ row: PostgreSQLRows.Row) throws -> (target: String, link: RecordLink) {
      guard let kind = UInt8(exactly: try row.integer(4)).flatMap(RecordLink.Kind.init(rawValue:))
      else { throw ByteFormatError(offset: 0, reason: "the kind of a link is unknown") }
      let zone = ZoneID(name: try row.text(2), owner: try row.text(1))
      return (
        try row.text(0),
        RecordLink(holder: RecordID(name: try row.text(3), zone: zone), kind: kind)
      )
    }

    // MARK: Subscriptions and receipts

    /// The subscription with a name.
    public func subscription(
      _ id: SubscriptionID, in database: DatabaseID
    ) throws -> Subscription? {
      try subscriptions(in: database).first { $0.id == id }
    }

    /// All subscriptions, by name.
    public func subscriptions(in database: DatabaseID) throws -> [Subscription] {
      noteRead(database)
      return try cached(\.subscriptions, database) {
        try read([Self.subscriptions(in: database)])[0].map(Self.subscription)
      }
    }

    static func subscriptions(in database: DatabaseID) -> PostgreSQLStatement {
      PostgreSQLStatement(
        "SELECT name, body FROM cloudsync.subscriptions WHERE database = $1 ORDER BY name",
        [.uuid(database.key)])
    }

    static func subscription(_ row: PostgreSQLRows.Row) throws -> Subscription {
      try SubscriptionBody.open(
        try row.bytes(1), context: ChecksummedBytes.context(try row.text(0)))
    }

    /// The databases like this one that hold subscriptions, by owner.
    public func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
      var group = database
      group.owner = nil
      return try cached(\.homes, group) {
        try read([Self.homes(of: group)])[0].map { try Self.home($0, like: group) }
      }
    }

    static func homes(of group: DatabaseID) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT owner FROM cloudsync.databases
        WHERE container = $1 AND environment = $2 AND scope = $3
          AND EXISTS (SELECT 1 FROM cloudsync.subscriptions WHERE database = databases.id)
        ORDER BY owner
        """,
        [
          .text(group.container), .text(group.environment.rawValue),
          .integer(Int64(group.scope.rawValue)),
        ])
    }

    static func home(_ row: PostgreSQLRows.Row, like group: DatabaseID) throws -> DatabaseID {
      let owner = try row.text(0)
      var home = group
      home.owner = owner.isEmpty ? nil : UserID(owner)
      return home
    }

    /// The receipt of a request; see `receiptStatement(_:)`.
    public func receipt(_ key: ReceiptKey) throws -> Receipt? {
      if let known = rows.receipts[key] { return known }
      let found = try read([receiptStatement(key)])[0].first { try Self.receipt($0, key) }
      // An export reads all of them.
      if locks { keep { $0.receipts[key] = .some(found) } }
      return found
    }

    /// Reads the receipt of a request, and locks it in a writing transaction.
    ///
    /// A receipt that is found ends its request. The lock makes that transaction one that writes,
    /// so that its commit waits for the standby as that of the first request should have.
    func receiptStatement(_ key: ReceiptKey) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT body FROM cloudsync.receipts
        WHERE user_name = $1 AND device = $2 AND request = $3\(locks ? " FOR UPDATE" : "")
        """, [.text(key.user.rawValue), .text(key.device), .text(key.requestID)])
    }

    static func receipt(_ row: PostgreSQLRows.Row, _ key: ReceiptKey) throws -> Receipt {
      try ReceiptBody.open(try row.bytes(0), key: key)
    }
  }
#endif
