#if PostgreSQL
  public import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records

  /// Stores the cloud's rows in a PostgreSQL database, which several servers may use at once.
  ///
  /// A transaction that writes locks the rows of its databases before it reads. Rows that were read
  /// or foreseen are kept until the transaction ends; its changes are sent together with `COMMIT`.
  /// A commit is durable when it returns, as far as the server's `synchronous_commit` says.
  ///
  /// Isolation: not thread-safe, as `CloudStorage` allows.
  public final class PostgreSQLStorage: CloudStorage, RerunStorage {
    private let address: String
    private let patience: Duration
    private var connection: PostgreSQLConnection?
    /// The running transaction.
    private var running: Running?
    /// The rows that the running transaction has read or changed.
    private(set) var rows = PostgreSQLRowCache()
    /// The databases that the next transaction locks first: it runs again one that locked them
    /// after it had read from them.
    private var locksNext: Set<DatabaseID> = []
    /// Whether the next plan that claims to be complete is not trusted: the last one was not.
    private var distrustsPlans = false
    /// Whether the next transaction reads the records that it expects to insert, because the last
    /// one may have been wrong to assume that they are absent.
    private var readsNewRecords = false
    /// When the oldest receipts of users are removed.
    var receiptTurns = ReceiptTurns()
    /// The number of round trips of earlier connections.
    private var earlierRoundTrips = 0
    /// The number that `dataVersion()` returns, and the view of transactions that it stands for.
    private var version: Int64 = 0
    private var snapshot: String?

    /// The state of a transaction.
    private struct Running {
      var isBegun = false
      var mode = Mode.writing
      /// Changes that were committed by the server before the transaction began in the database.
      var pending: [StorageChange] = []
      /// The number of changes that were sent since the database was last waited for.
      var sentCount = 0
      /// The error of a nested transaction, which rolls back the whole.
      var fault: (any Error)?
      var hasChanges = false
      /// The databases that are locked.
      var locked: Set<DatabaseID> = []
      /// The databases from which rows were read without a lock.
      var read: Set<DatabaseID> = []
      /// Whether the transaction ended in the database with what was foreseen.
      var isOver = false

      var isReading: Bool { mode == .reading || mode == .exporting }
    }

    private enum Mode {
      case reading
      /// Everything is read, such as for an archive, whose writer may pause for long.
      case exporting
      case writing
      /// Everything is replaced, while no other transaction writes.
      case replacing

      /// The statements that begin a transaction.
      ///
      /// Every transaction that writes locks the same table, in a mode that excludes only one that
      /// replaces everything. The latter may pause for long: it reads an archive.
      var begin: [PostgreSQLStatement] {
        switch self {
        case .reading: [PostgreSQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
        case .exporting:
          [
            PostgreSQLStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            PostgreSQLStatement("SET LOCAL idle_in_transaction_session_timeout = 0"),
          ]
        case .writing:
          [
            PostgreSQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            PostgreSQLStatement("LOCK TABLE cloudsync.settings IN ROW SHARE MODE"),
          ]
        case .replacing:
          [
            PostgreSQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            PostgreSQLStatement("SET LOCAL idle_in_transaction_session_timeout = 0"),
            // Another server must not take it for abandoned while it waits for the archive.
            PostgreSQLStatement("SET LOCAL application_name = 'cloudsync import'"),
            PostgreSQLStatement("LOCK TABLE cloudsync.settings IN EXCLUSIVE MODE"),
          ]
        }
      }
    }

    /// Connects to a database, and creates the tables if it has none.
    ///
    /// - Parameters:
    ///   - address: a connection string of libpq, such as `postgresql://user@host/name`.
    ///   - identity: the identity of a new database; an existing one keeps its own.
    ///   - patience: how long the database may take for an answer.
    /// - Throws: `PostgreSQLStorageError` if the database can't be used.
    public convenience init(
      _ address: String, identity: UInt64 = .random(in: 0...(.max)),
      patience: Duration = .seconds(30)
    ) throws {
      try self.init(address, identity: identity, secret: .random(), patience: patience)
    }

    init(
      _ address: String, identity: UInt64, secret: StorageSecret, patience: Duration = .seconds(30)
    ) throws {
      self.address = address
      self.patience = patience
      do {
        let connection = try PostgreSQLConnection(address, patience: patience)
        try PostgreSQLLayout.prepare(connection, identity: identity, secret: secret)
        self.connection = connection
      } catch let error as PostgreSQLError {
        let advice =
          error.state == "42501"
          ? "; the user needs CREATE on the database at the first start, and owns the schema then"
          : ""
        throw PostgreSQLStorageError("the database can't be used: \(error)\(advice)")
      }
    }

    /// A storage in the same database, with a connection of its own that it opens when needed.
    init(like other: PostgreSQLStorage) {
      address = other.address
      patience = other.patience
    }

    /// Closes the connection.
    public func close() throws {
      connection?.close()
      connection = nil
    }

    /// Forgets what the last transaction has left for its next run.
    func endRuns() {
      locksNext = []
      readsNewRecords = false
      distrustsPlans = false
    }

    /// The number of round trips to the database so far.
    package var roundTrips: Int { earlierRoundTrips + (connection?.roundTrips ?? 0) }

    /// Called with the statements of each round trip before they are run, for tests.
    var watch: (([PostgreSQLStatement]) -> Void)?

    /// The number of reads that a running transaction made and that were not foreseen.
    package private(set) var misses = 0

    // MARK: Transactions

    /// Runs `body` as one transaction; a nested transaction is part of the outer one.
    public func transaction<Value>(_ body: () throws -> Value) throws -> Value {
      guard running == nil else {
        do { return try body() } catch {
          if running?.fault == nil { running?.fault = error }
          throw error
        }
      }
      running = Running()
      defer {
        running = nil
        rows = PostgreSQLRowCache()
      }
      do {
        if !locksNext.isEmpty {
          var plan = ReadPlan()
          plan.databases = locksNext.sorted()
          locksNext = []
          try foresee { plan }
        }
        let value = try body()
        if let fault = running?.fault { throw fault }
        try checkAssumption()
        try finish()
        readsNewRecords = false
        return value
      } catch {
        rollBack()
        readsNewRecords = (error as? PostgreSQLError)?.isConflict == true
        if (error as? PostgreSQLError)?.isLockTimeout == true { try? connection?.endAbandoned() }
        throw Self.translated(error)
      }
    }

    private func finish() throws {
      guard let ended = running, ended.isBegun || !ended.pending.isEmpty else { return }
      let writes = try takePending()
      // Freed while the database still works; the transaction reads nothing more.
      rows = PostgreSQLRowCache()
      let results: [PostgreSQLRows]
      do {
        results = try exchange(
          (running?.isBegun == true ? [] : ended.mode.begin) + writes + [
            PostgreSQLStatement("COMMIT")
          ])
      } catch var error as PostgreSQLError {
        error.isOutcomeUnknown = error.isConnectionLost && ended.hasChanges
        throw error
      }
      running?.isBegun = false
      guard results.last?.command == "COMMIT" else {
        throw PostgreSQLError(state: "25P02", "the transaction had failed and was rolled back")
      }
      if connection?.hasWarning == true, !ended.isReading {
        // The commit may be on this server alone and be lost with it; so may an earlier one whose
        // receipt this transaction has read.
        drop()
        var error = PostgreSQLError("the database did not confirm the commit on its standby")
        error.isOutcomeUnknown = true
        throw error
      }
    }

    private func rollBack() {
      // The first exchange may have begun the transaction and failed.
      guard let connection, connection.isInTransaction else { return }
      // If a statement that was sent has failed, the database skips everything up to the next
      // synchronization.
      if connection.hasUnreadResults { _ = try? connection.run([]) }
      if (try? connection.run([PostgreSQLStatement("ROLLBACK")])) == nil { drop() }
    }

    /// The number of new records in a zone from which they are assumed to be absent.
    ///
    /// Reading fewer costs less than the rare transaction that runs again because one exists.
    private static let fewestAssumed = 32

    /// The records that a plan reads, by zone; many new ones are assumed to be absent instead.
    func recordsToRead(by plan: ReadPlan) -> [ReadPlan.ZoneRecords] {
      var groups = plan.records
      for group in plan.newRecords {
        let place = groups.firstIndex { $0.zone == group.zone && $0.database == group.database }
        if !readsNewRecords, running != nil, group.names.count >= Self.fewestAssumed {
          rows.records.assumeAbsent(group)
        } else if let place {
          groups[place].names += group.names
        } else {
          groups.append(group)
        }
      }
      return groups
    }

    /// Makes the transaction run again if it depends on the absence of a record that it did not
    /// insert: only an insertion shows whether the record exists.
    private func checkAssumption() throws {
      guard rows.records.dependsOnAssumption else { return }
      throw PostgreSQLError(
        state: "40001", "records that were assumed to be absent were not inserted")
    }

    /// Sends the changes of a request; the database applies them while the caller continues.
    ///
    /// Changes before the first read are sent with the next read or at the end.
    public func commit(_ changes: [StorageChange]) throws {
      guard running != nil else { return try transaction { try commit(changes) } }
      if running?.isReading == true {
        throw PostgreSQLError(state: "40001", "a transaction that was to read changes something")
      }
      noteChange()
      var changes = changes[...]
      if let removal = changes.lastIndex(where: \.removesEverything) {
        changes = changes[removal...]
        try removeContents()
      }
      try removeRecords(of: changes)
      for start in stride(from: changes.startIndex, to: changes.endIndex, by: Self.mostPending) {
        try commit(part: Array(changes[start..<min(start + Self.mostPending, changes.endIndex)]))
      }
    }

    private func commit(part changes: [StorageChange]) throws {
      try lockTypes(in: changes)
      try lockAccounts(in: changes)
      try lockSubscriptions(in: changes)
      rows.apply(changes)
      if let transaction = running, transaction.isBegun, transaction.pending.isEmpty {
        try sendFiles(of: changes)
        try write(changes) { statement in
          watch?([statement])
          guard let connection else { throw PostgreSQLError("there is no connection") }
          try connection.send(statement)
        }
        running?.sentCount += changes.count
      } else {
        running?.pending += changes
      }
      if let running, running.pending.count + running.sentCount >= Self.mostPending {
        try awaitChanges()
      }
    }

    /// Notes that the running transaction changes something, so that a lost commit is unknown.
    func noteChange() { running?.hasChanges = true }

    /// The number of changes after which a transaction, such as an import, waits for the database.
    private static let mostPending = 5_000

    /// Waits for the changes so far, and forgets the rows that would fill the memory.
    private func awaitChanges() throws {
      try checkAssumption()
      _ = try fetch([])
      rows.records = PostgreSQLRecordCache()
      rows.links = [:]
      rows.receipts = [:]
    }

    /// The statements of the changes that were not sent yet.
    private func takePending() throws -> [PostgreSQLStatement] {
      guard let changes = running?.pending, !changes.isEmpty else { return [] }
      running?.pending = []
      try sendFiles(of: changes)
      var statements: [PostgreSQLStatement] = []
      try write(changes) { statements.append($0) }
      return statements
    }

    /// Notes that a transaction reads from a database whose row it may lock later.
    func noteRead(_ database: DatabaseID) {
      if locks, running?.locked.contains(database) == false { running?.read.insert(database) }
    }

    /// Notes that a transaction locks a database, and runs it again if it read from it before: what
    /// it read may have changed since.
    func noteLock(_ database: DatabaseID) throws {
      guard locks, running?.locked.insert(database).inserted == true,
        let running, running.read.contains(database)
      else { return }
      locksNext = running.locked
      throw PostgreSQLError(state: "40001", "a database was read before it was locked")
    }

    /// Keeps what was read until the running transaction ends.
    func keep(_ body: (inout PostgreSQLRowCache) throws -> Void) rethrows {
      if running != nil { try body(&rows) }
    }

    /// The value that the running transaction knows; else that of `read`, which is kept.
    func cached<Key: Hashable, Value>(
      _ cache: WritableKeyPath<PostgreSQLRowCache, [Key: Value]>, _ key: Key,
      _ read: () throws -> Value
    ) throws -> Value {
      if let known = rows[keyPath: cache][key] { return known }
      let value = try read()
      keep { $0[keyPath: cache][key] = value }
      return value
    }

    /// The row of a record that was read or foreseen, or its absence; `nil` if it is not known.
    func knownRecord(_ id: RecordID, in database: DatabaseID) -> RecordRow?? {
      rows.records.row(id.name, of: id.zone, in: database)
    }

    /// Notes that a change of a record is sent, and returns what it replaces.
    func noteSent(_ row: RecordRow, in database: DatabaseID) -> PostgreSQLRecordCache.Stored {
      running == nil ? .unknown : rows.records.noteSent(row, in: database)
    }

    /// Whether the running transaction has locked the row of a database.
    func isLocked(_ database: DatabaseID) -> Bool { running?.locked.contains(database) == true }

    /// Whether reads lock what a writing transaction must not lose.
    var locks: Bool { running.map { !$0.isReading } ?? false }

    /// Declares that the running transaction changes nothing, or everything.
    func chooseMode(for plan: ReadPlan) {
      guard running?.isBegun == false else { return }
      switch plan.access {
      case .writing: break
      case .reading: running?.mode = .reading
      case .exporting: running?.mode = .exporting
      case .replacing: running?.mode = .replacing
      }
    }

    // MARK: Statements

    /// Runs statements that read and were not foreseen, after all changes so far.
    func read(_ statements: [PostgreSQLStatement]) throws -> [PostgreSQLRows] {
      if running != nil { misses += 1 }
      return try fetch(statements)
    }

    /// Runs the statements of a plan; a complete one is a transaction in one round trip.
    func fetch(
      _ statements: [PostgreSQLStatement], isComplete: Bool
    ) throws -> [PostgreSQLRows] {
      defer { distrustsPlans = false }
      guard isComplete, !distrustsPlans, let transaction = running, !transaction.isBegun,
        transaction.mode == .reading
      else { return try fetch(statements) }
      let begin = transaction.mode.begin
      let rows = try exchange(begin + statements + [PostgreSQLStatement("COMMIT")])
      running?.isOver = true
      return Array(rows.dropFirst(begin.count).dropLast())
    }

    /// Runs statements that read, after all changes so far.
    func fetch(_ statements: [PostgreSQLStatement]) throws -> [PostgreSQLRows] {
      guard let transaction = running else {
        do { return try exchange(statements) } catch { throw Self.translated(error) }
      }
      if transaction.isOver {
        // What was read before belongs to another state of the database.
        distrustsPlans = true
        throw PostgreSQLError(state: "40001", "the transaction reads more than was foreseen")
      }
      var before = try takePending()
      if running?.isBegun == false { before = transaction.mode.begin + before }
      let rows = try exchange(before + statements)
      running?.isBegun = true
      running?.sentCount = 0
      return Array(rows.dropFirst(before.count))
    }

    /// Runs one statement that reads, after all changes so far.
    func fetch(_ sql: String, _ values: [PostgreSQLValue]) throws -> PostgreSQLRows {
      try fetch([PostgreSQLStatement(sql, values)])[0]
    }

    /// Runs one statement that reads and was not foreseen.
    func read(_ sql: String, _ values: [PostgreSQLValue]) throws -> PostgreSQLRows {
      try read([PostgreSQLStatement(sql, values)])[0]
    }

    /// Runs statements in the running transaction at once, without the pending changes.
    func runNow(_ statements: [PostgreSQLStatement]) throws -> [PostgreSQLRows] {
      var before: [PostgreSQLStatement] = []
      if let running, !running.isBegun { before = running.mode.begin }
      let rows = try exchange(before + statements)
      if running != nil { running?.isBegun = true }
      return Array(rows.dropFirst(before.count))
    }

    private func exchange(_ statements: [PostgreSQLStatement]) throws -> [PostgreSQLRows] {
      if connection?.isClosed != false {
        guard running?.isBegun != true else {
          throw PostgreSQLError("the connection to the database was lost")
        }
        earlierRoundTrips += connection?.roundTrips ?? 0
        let new = try PostgreSQLConnection(address, patience: patience)
        try PostgreSQLLayout.verify(new)
        connection = new
      }
      guard let connection else { throw PostgreSQLError("there is no connection") }
      watch?(statements)
      return try connection.run(statements)
    }

    private func drop() {
      connection?.close()
    }

    /// A number that changes when any transaction of the database server ends that wrote something.
    ///
    /// Outside of a transaction each call reads it; within one it stays the same.
    public func dataVersion() throws -> Int64? {
      guard running == nil else { return version }
      let snapshot = try read("SELECT pg_current_snapshot()::text", []).first { try $0.text(0) }
      if snapshot != self.snapshot {
        self.snapshot = snapshot
        version += 1
      }
      return version
    }

    /// The text of an error for clients; the library's messages contain the database's host.
    private static func publicText(of error: PostgreSQLError) -> String {
      error.state == nil ? "the database can't be reached" : "the database failed: \(error)"
    }

    /// The error for the server: one that may pass is a `TransactionConflict`.
    private static func translated(_ error: any Error) -> any Error {
      switch error {
      case let error as PostgreSQLError:
        if error.isOutcomeUnknown {
          return CloudError(
            .serviceUnavailable,
            "it is unknown whether the change was stored: \(Self.publicText(of: error))",
            retryAfter: 1)
        }
        let isPassing = error.isConflict || error.isConnectionLost
        // 53: the disk is full, or another resource is exhausted.
        let isFull = error.state?.hasPrefix("53") == true
        let isBusy = isPassing || error.isCancelled
        let answer = CloudError(
          isBusy || isFull ? .serviceUnavailable : .internalError,
          Self.publicText(of: error), retryAfter: isBusy ? 1 : isFull ? 30 : nil)
        return isPassing
          ? TransactionConflict(
            error: answer, reason: "\(error)",
            delay: error.isConnectionLost ? .milliseconds(10) : .zero) : answer
      case let error as ByteFormatError:
        return CloudError(.internalError, "the database is damaged: \(error.description)")
      default: return error
      }
    }
  }
#endif
