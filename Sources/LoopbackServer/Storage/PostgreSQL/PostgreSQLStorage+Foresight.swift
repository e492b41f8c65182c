#if PostgreSQL
  public import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records

  extension PostgreSQLStorage {
    /// Reads in one round trip what a transaction is going to read, and locks its databases.
    public func foresee(_ plan: () -> ReadPlan) throws {
      let plan = plan()
      chooseMode(for: plan)
      let records = recordsToRead(by: plan)
      var list = Reads()
      try list.addDatabases(plan, rows, self)
      list.addAccounts(plan, rows, self)
      list.addZones(plan, rows)
      list.addRecords(records, plan.links, rows)
      list.addSubscriptions(plan, rows)
      list.addTypes(plan, rows)
      guard !list.statements.isEmpty else { return }
      let found = try fetch(list.statements, isComplete: plan.isComplete)
      try keep { rows in
        for (keeper, found) in zip(list.keepers, found) { try keeper(found, &rows) }
      }
    }

    /// Statements, and what keeps the rows of each.
    private struct Reads {
      typealias Keeper = (PostgreSQLRows, inout PostgreSQLRowCache) throws -> Void

      var statements: [PostgreSQLStatement] = []
      var keepers: [Keeper] = []

      mutating func add(_ statement: PostgreSQLStatement, _ keeper: @escaping Keeper) {
        statements.append(statement)
        keepers.append(keeper)
      }

      /// The rows of the databases first, which a writing transaction locks.
      mutating func addDatabases(
        _ plan: ReadPlan, _ rows: PostgreSQLRowCache, _ storage: PostgreSQLStorage
      ) throws {
        for id in plan.databases where rows.databases[id] == nil {
          try storage.noteLock(id)
          let all = storage.lockOrRead(id)
          for statement in all.dropLast() { add(statement) { _, _ in } }
          for statement in all.suffix(1) {
            add(statement) { found, rows in
              rows.databases[id] = .some(try PostgreSQLStorage.database(id, found))
            }
          }
        }
      }

      mutating func addAccounts(
        _ plan: ReadPlan, _ rows: PostgreSQLRowCache, _ storage: PostgreSQLStorage
      ) {
        if plan.includesIdentity, rows.settings == nil {
          add(PostgreSQLStatement(PostgreSQLStorage.settingsStatement)) { found, rows in
            rows.settings = try PostgreSQLStorage.settings(found)
          }
        }
        let names = plan.accounts.filter { rows.accountsByName[Array($0.utf8)] == nil }
        let users = plan.users.filter { rows.accountsByUser[$0] == nil }
        if !names.isEmpty || !users.isEmpty {
          add(
            PostgreSQLStatement(
              """
              SELECT name, user_name, body FROM cloudsync.accounts
              WHERE name = ANY($1) OR user_name = ANY($2)
              """, [.texts(names), .texts(users.map(\.rawValue))])
          ) { found, rows in
            for name in names { rows.accountsByName[Array(name.utf8)] = .some(nil) }
            for user in users { rows.accountsByUser[user] = .some(nil) }
            for account in try found.map(PostgreSQLStorage.account) {
              rows.accountsByName[Array(account.name.utf8)] = account
              rows.accountsByUser[account.user] = account
            }
          }
        }
        if let key = plan.receipt, rows.receipts[key] == nil {
          add(storage.receiptStatement(key)) { found, rows in
            rows.receipts[key] = .some(try found.first { try PostgreSQLStorage.receipt($0, key) })
          }
        }
        let uploads = plan.uploads.filter { rows.uploads[$0] == nil }
        if !uploads.isEmpty {
          add(storage.uploads(uploads)) { found, rows in
            for receipt in uploads { rows.uploads[receipt] = .some(nil) }
            for upload in try found.map(PostgreSQLStorage.upload) {
              rows.uploads[upload.receipt] = upload
            }
          }
        }
      }

      mutating func addZones(_ plan: ReadPlan, _ rows: PostgreSQLRowCache) {
        for (database, zones) in plan.zones {
          let zones = zones.filter { rows.zones[.init($0, database)] == nil }
          guard !zones.isEmpty else { continue }
          add(
            PostgreSQLStatement(
              """
              SELECT found.owner, found.name, found.changed_at, found.body
              FROM unnest($2::text[], $3::text[]) AS wanted (owner, name) CROSS JOIN LATERAL (
                SELECT owner, name, changed_at, body FROM cloudsync.zones
                WHERE database = $1 AND body IS NOT NULL AND owner = wanted.owner COLLATE "C"
                  AND name = wanted.name COLLATE "C" OFFSET 0) AS found
              """,
              [.uuid(database.key), .texts(zones.map(\.owner)), .texts(zones.map(\.name))])
          ) { found, rows in
            for zone in zones { rows.zones[.init(zone, database)] = .some(nil) }
            for row in try found.map(PostgreSQLStorage.zone) {
              rows.zones[.init(row.id, database)] = row
            }
          }
        }
        if let page = plan.typePage {
          add(PostgreSQLStorage.page(page)) { found, rows in
            rows.typePages[page] = try PostgreSQLStorage.records(of: page, found)
          }
        }
        guard let page = plan.page else { return }
        add(PostgreSQLStorage.page(page)) { found, rows in
          if let zone = page.zone {
            rows.recordPages[page] = try found.map { try PostgreSQLStorage.record($0, in: zone) }
          } else {
            rows.zonePages[page] = try found.map(PostgreSQLStorage.zone)
          }
        }
      }

      mutating func addRecords(
        _ records: [ReadPlan.ZoneRecords], _ links: [ReadPlan.ZoneRecords],
        _ rows: PostgreSQLRowCache
      ) {
        for group in records {
          let names = rows.records.unknown(group)
          guard !names.isEmpty else { continue }
          add(PostgreSQLStorage.lookup(names, in: group.zone, of: group.database)) { found, rows in
            let records = try found.map { try PostgreSQLStorage.record($0, in: group.zone) }
            rows.records.note(records, of: names, in: group.zone, of: group.database)
          }
        }
        for group in links {
          let ids = group.names.map { RecordID(name: $0, zone: group.zone) }
            .filter { rows.links[.init($0, group.database)] == nil }
          guard !ids.isEmpty else { continue }
          add(PostgreSQLStorage.links(to: ids.map(\.name), in: group.zone, of: group.database)) {
            found, rows in
            for id in ids { rows.links[.init(id, group.database)] = [] }
            for (target, link) in try found.map(PostgreSQLStorage.link) {
              let id = RecordID(name: target, zone: group.zone)
              rows.links[.init(id, group.database), default: []].append(link)
            }
          }
        }
      }

      mutating func addSubscriptions(_ plan: ReadPlan, _ rows: PostgreSQLRowCache) {
        for database in plan.subscriptions where rows.subscriptions[database] == nil {
          add(PostgreSQLStorage.subscriptions(in: database)) { found, rows in
            rows.subscriptions[database] = try found.map(PostgreSQLStorage.subscription)
          }
        }
        guard var group = plan.subscriptionHomes else { return }
        group.owner = nil
        add(PostgreSQLStorage.homes(of: group)) { [group] found, rows in
          rows.homes[group] = try found.map { try PostgreSQLStorage.home($0, like: group) }
        }
      }

      mutating func addTypes(_ plan: ReadPlan, _ rows: PostgreSQLRowCache) {
        let types = plan.recordTypes.filter { rows.recordTypes[$0] == nil }
        let groups = Dictionary(grouping: types) {
          RecordTypeID(allOf: $0.container, in: $0.environment)
        }
        for (group, types) in groups {
          add(PostgreSQLStorage.recordTypes(types.map(\.name) + [""], of: group)) { found, rows in
            for type in types { rows.recordTypes[type] = .some(nil) }
            rows.schemas[group] = .some(nil)
            for row in found.rows {
              if try row.text(0).isEmpty {
                rows.schemas[group] = try PostgreSQLStorage.schema(row, of: group)
              } else {
                let type = try PostgreSQLStorage.recordType(row, of: group)
                rows.recordTypes[type.id] = type
              }
            }
          }
        }
      }
    }
  }
#endif
