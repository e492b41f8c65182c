#if PostgreSQL
  import CloudMachine
  import PostgreSQL
  import Records

  /// Locks of rows that no database's row protects.
  extension PostgreSQLStorage {
    /// Locks record types that are about to change, which all accounts share.
    ///
    /// - Throws: A conflict, if one is not as it was read.
    func lockTypes(in changes: [StorageChange]) throws {
      for case .putRecordType(let row) in changes {
        guard let known = rows.recordTypes[row.id] else { continue }
        let id: [PostgreSQLValue] = [
          .text(row.id.container), .text(row.id.environment.rawValue), .text(row.id.name),
        ]
        let stored = try runNow([
          PostgreSQLStatement(
            """
            INSERT INTO cloudsync.record_types (container, environment, name, body)
            VALUES ($1, $2, $3, '') ON CONFLICT DO NOTHING
            """, id),
          PostgreSQLStatement(
            """
            SELECT body FROM cloudsync.record_types
            WHERE container = $1 AND environment = $2 AND name = $3 FOR UPDATE
            """, id),
        ])[1].first { try $0.bytes(0) }
        guard stored == known.map(RecordTypeBody.close) ?? [] else {
          throw PostgreSQLError(state: "40001", "a record type was changed by another server")
        }
      }
    }

    /// Locks accounts that are about to change, or inserts them.
    ///
    /// - Throws: A conflict, if one is not as it was read.
    func lockAccounts(in changes: [StorageChange]) throws {
      for case .putAccount(let row) in changes {
        let name = Array(row.name.utf8)
        guard let known = rows.accountsByName[name] ?? rows.accountsByUser[row.user] else {
          continue
        }
        guard let known else {
          _ = try fetch([Self.insertion(of: row)])
          continue
        }
        let stored = try fetch(
          "SELECT body FROM cloudsync.accounts WHERE name = $1 FOR UPDATE", [.text(row.name)]
        ).first { try $0.bytes(0) }
        guard stored == AccountBody.close(known) else {
          throw PostgreSQLError(state: "40001", "an account was changed by another server")
        }
      }
    }

    /// Locks subscriptions of other users that a change fired and removes.
    ///
    /// - Throws: A conflict, if one is not as it was read: its user has saved it again since.
    func lockSubscriptions(in changes: [StorageChange]) throws {
      for case .removeSubscription(let id, let database) in changes where !isLocked(database) {
        guard let known = rows.subscriptions[database]?.first(where: { $0.id == id }) else {
          continue
        }
        let stored = try fetch(
          """
          SELECT name, body FROM cloudsync.subscriptions WHERE database = $1 AND name = $2
          FOR UPDATE
          """, [.uuid(database.key), .text(id.rawValue)]
        ).first(Self.subscription)
        guard stored == known else {
          throw PostgreSQLError(state: "40001", "a subscription was changed by its user")
        }
      }
    }
  }
#endif
