#if PostgreSQL
  public import CloudMachine
  import PostgreSQL
  import Records

  /// The state that servers on one database share besides the data.
  extension PostgreSQLStorage {
    /// Counts a request in one round trip, by the clock of the database.
    ///
    /// Each new window also removes some of those that have ended. The table is not logged, so no
    /// commit waits for the disk or a standby, and a crash of the database empties it.
    public func countRequest(of caller: String, window: Double) throws -> CountedRequest? {
      let length = Int64(max(0, min(window, 1e9)) * 1e6)
      let counted = try fetch(
        Self.counting, [.uuid(PostgreSQLLayout.key(of: Array(caller.utf8))), .integer(length)]
      ).first { (number: try $0.integer(0), end: try $0.integer(1), now: try $0.integer(2)) }
      guard let counted else {
        throw PostgreSQLError(state: "XX001", "a request was not counted")
      }
      if counted.number == 1 {
        _ = try fetch(Self.removalOfWindows, [.integer(counted.now)])
      }
      return CountedRequest(
        number: Int(counted.number), remaining: Double(counted.end - counted.now) / 1e6)
    }

    /// The statement that counts a request and returns its number, the window's end and the time.
    ///
    /// A request that waits for another one of its caller has the earlier time, and counts in the
    /// window that the other one began. A window that ends later than a new one would by its whole
    /// length was begun before the clock was set back, and is over.
    private static let counting = """
      INSERT INTO cloudsync.request_counts AS old (caller, ends, requests)
      VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2, 1)
      ON CONFLICT (caller) DO UPDATE SET
        requests = CASE WHEN abs(old.ends - excluded.ends) < $2 THEN old.requests + 1 ELSE 1 END,
        ends = CASE WHEN abs(old.ends - excluded.ends) < $2 THEN old.ends ELSE excluded.ends END
      RETURNING requests, ends, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
      """

    private static let removalOfWindows = """
      DELETE FROM cloudsync.request_counts WHERE caller = ANY(ARRAY(
        SELECT caller FROM cloudsync.request_counts WHERE ends < $1
        ORDER BY ends LIMIT 10 FOR UPDATE SKIP LOCKED))
      """

    /// The bytes of the one row for them.
    public func sharedState() throws -> [UInt8]? {
      try fetch("SELECT body FROM cloudsync.shared_state WHERE number = $1", [.integer(1)])
        .first { try $0.bytes(0) } ?? []
    }

    /// Changes the row under its lock; bytes that stay the same are not written.
    public func updateSharedState(_ body: (inout [UInt8]) throws -> Void) throws {
      try transaction {
        let stored =
          try fetch([
            PostgreSQLStatement(
              """
              INSERT INTO cloudsync.shared_state (number, body) VALUES ($1, '')
              ON CONFLICT DO NOTHING
              """, [.integer(1)]),
            PostgreSQLStatement(
              "SELECT body FROM cloudsync.shared_state WHERE number = $1 FOR UPDATE",
              [.integer(1)]),
          ])[1].first { try $0.bytes(0) } ?? []
        var bytes = stored
        try body(&bytes)
        guard bytes != stored else { return }
        // If the connection is lost at the commit, the transaction is not run again: it may have
        // used up a count.
        noteChange()
        _ = try fetch(
          "UPDATE cloudsync.shared_state SET body = $2 WHERE number = $1",
          [.integer(1), .bytes(bytes)])
      }
    }
  }
#endif
