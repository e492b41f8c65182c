#if PostgreSQL
  import CloudMachine
  public import Records

  extension LoopbackServer {
    /// Opens the server in a PostgreSQL database, or creates its tables in a database without them.
    ///
    /// Several servers, on one machine or on many, may use the database at once; see
    /// `watchForForeignChanges(every:)`. An acknowledged change is committed in the database.
    ///
    /// - Parameters:
    ///   - address: a connection string of libpq, such as `postgresql://user@host/name`.
    ///   - connections: the number of transactions that may run at once, at least 1; one more
    ///     connection waits for the changes of other servers, and one tells them of changes.
    ///   - clock: the clock for the dates of records; by default the system's clock.
    ///   - delayClock: the clock for delayed requests and for `watchForForeignChanges`.
    ///   - limits: the server's limits.
    ///   - taskExecutor: the executor of the tasks that the server starts; `nil` for the default
    ///     executor.
    /// - Throws: `PostgreSQLStorageError` if the database can't be reached, belongs to another
    ///   program or was written by a newer version; it is left unchanged.
    public convenience init(
      postgreSQL address: String, connections: Int = 8,
      clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
      delayClock: any Clock<Duration> = ContinuousClock(), limits: ServerLimits = ServerLimits(),
      taskExecutor: (any TaskExecutor)? = nil
    ) throws {
      try self.init(
        postgreSQL: address, connections: connections, notifies: true, clock: clock,
        delayClock: delayClock, limits: limits, taskExecutor: taskExecutor)
    }

    /// Opens the server in a PostgreSQL database.
    ///
    /// - Parameters:
    ///   - identity: the number of a new database, which binds change tokens to it.
    ///   - notifies: whether servers tell each other of changes; else they notice them at the next
    ///     check.
    ///   - patience: how long the database may take for an answer, and a request wait for a
    ///     connection.
    package convenience init(
      postgreSQL address: String, identity: UInt64? = nil, connections: Int = 8, notifies: Bool,
      patience: Duration = .seconds(30),
      clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
      delayClock: any Clock<Duration> = ContinuousClock(), limits: ServerLimits = ServerLimits(),
      taskExecutor: (any TaskExecutor)? = nil
    ) throws {
      let first = try PostgreSQLStorage(
        address, identity: identity ?? .random(in: 0...(.max)), patience: patience)
      var storages: [any CloudStorage] = [first]
      for _ in 1..<max(1, connections) { storages.append(PostgreSQLStorage(like: first)) }
      try self.init(
        storages: StoragePool(storages, patience: patience),
        notifier: notifies ? PostgreSQLNotifier(address) : nil, clock: clock,
        delayClock: delayClock,
        limits: limits, taskExecutor: taskExecutor)
    }
  }
#endif
