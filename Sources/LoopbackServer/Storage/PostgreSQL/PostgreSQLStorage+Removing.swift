#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records

  /// Removals of many rows, a part at a time: the time of one exchange is limited.
  extension PostgreSQLStorage {
    /// The number of rows that one statement removes.
    private static let part = 100_000

    /// Removes all rows.
    func removeContents() throws {
      for table in PostgreSQLLayout.contents {
        let removal = PostgreSQLStatement(
          """
          DELETE FROM cloudsync.\(table)
          WHERE ctid = ANY(ARRAY(SELECT ctid FROM cloudsync.\(table) LIMIT \(Self.part)))
          """)
        while try fetch([removal])[0].command == "DELETE \(Self.part)" {}
      }
    }

    /// Removes most records of large zones that lose all records, in the order of their names; the
    /// statements of the changes remove the others.
    func removeRecords(of changes: some Sequence<StorageChange>) throws {
      for case .removeRecords(let zone, let database) in changes {
        var last = ""
        var removals: [PostgreSQLStatement] = []
        while let name = try fetch(
          removals + [Self.nameAfterPart(from: last, in: zone, of: database)]
        ).last?.first({ try $0.text(0) }) {
          removals = Self.removals(from: last, through: name, in: zone, of: database)
          last = name
        }
      }
    }

    /// Finds the last name of the next part of a zone's records; no row if fewer are left.
    private static func nameAfterPart(
      from name: String, in zone: ZoneID, of database: DatabaseID
    ) -> PostgreSQLStatement {
      PostgreSQLStatement(
        """
        SELECT name FROM cloudsync.records WHERE database = $1 AND place = $2 AND name > $3
        ORDER BY name LIMIT 1 OFFSET \(part - 1)
        """, [.uuid(database.key), .uuid(zone.place), .text(name)])
    }

    /// The statements that remove the records of a range of names, with their links and uses.
    private static func removals(
      from first: String, through last: String, in zone: ZoneID, of database: DatabaseID
    ) -> [PostgreSQLStatement] {
      let values = values(zone, database) + [.text(first), .text(last)]
      return [
        PostgreSQLStatement(
          """
          DELETE FROM cloudsync.records
          WHERE database = $1 AND place = $2 AND name > $3 AND name <= $4
          """, [.uuid(database.key), .uuid(zone.place), .text(first), .text(last)]),
        PostgreSQLStatement(
          """
          DELETE FROM cloudsync.links WHERE database = $1 AND holder_owner = $2
            AND holder_zone = $3 AND holder > $4 AND holder <= $5
          """, values),
        PostgreSQLStatement(
          """
          WITH gone AS (
            DELETE FROM cloudsync.file_uses WHERE database = $1 AND owner = $2 AND zone = $3
              AND holder > $4 AND holder <= $5
            RETURNING checksum)
          INSERT INTO cloudsync.file_candidates SELECT DISTINCT checksum FROM gone
          ON CONFLICT DO NOTHING
          """, values),
      ]
    }
  }
#endif
