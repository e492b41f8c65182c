import CSQLite

extension Connection {
  /// Runs `body` in an immediate transaction, which holds the write lock from its start; in a file
  /// that may not be written, the transaction only reads.
  ///
  /// When `body` or the commit throws, the transaction is rolled back and the error is rethrown. A
  /// nested transaction rolls back only the changes of `body`.
  ///
  /// - Parameter isDeferred: whether the transaction takes the write lock with its first change.
  package func transaction<Value>(
    isDeferred: Bool = false, _ body: () throws -> Value
  ) throws -> Value {
    let isNested = isInTransaction
    let begin = isDeferred || isReadOnly ? "BEGIN" : "BEGIN IMMEDIATE"
    try execute(isNested ? "SAVEPOINT nested" : begin)
    do {
      let value = try body()
      try execute(isNested ? "RELEASE nested" : "COMMIT")
      return value
    } catch {
      // After a full disk or an I/O error SQLite may have rolled back automatically.
      if isInTransaction {
        try? execute(isNested ? "ROLLBACK TO nested; RELEASE nested" : "ROLLBACK")
      }
      throw error
    }
  }

  /// Switches the file to write-ahead logging with every commit synced to the disk.
  ///
  /// The switch itself does not honor the busy timeout when several processes try it at once,
  /// so it is tried again, at most `attempts` times, 10 ms apart.
  package func useWriteAheadLog(attempts: Int = 1_000) throws {
    try execute("PRAGMA synchronous = FULL")
    // On Apple's platforms a synchronization leaves bytes in the drive's cache without these.
    try execute("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
    var left = attempts
    while true {
      left -= 1
      do {
        // The row comes before the commit that writes the mode into the file: only a statement
        // read to its end says whether that worked.
        let mode = try rows("PRAGMA journal_mode = WAL") { try $0.text(0) }.first ?? ""
        guard mode == "wal" || mode == "memory" else {
          throw SQLiteError(.error, "\(path) cannot use a write-ahead log; its mode is \(mode)")
        }
        return
      } catch SQLiteError.Code.busy where left > 0 {
        sqlite3_sleep(10)
      }
    }
  }

  /// Checkpoints the write-ahead log into the file and synchronizes it; the next commit restarts
  /// the log.
  ///
  /// Does not wait: pages that other connections are reading or writing remain in the log.
  package func foldLog() throws {
    _ = try rows("PRAGMA wal_checkpoint(PASSIVE)") { _ in true }
  }
}
