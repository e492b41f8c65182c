#if PostgreSQL
  import CLibPQ

  /// A connection to a PostgreSQL server, which sends several statements in one round trip.
  ///
  /// Statements are prepared at their first use. After an error that loses the connection every
  /// later call fails.
  ///
  /// Isolation: not thread-safe.
  package final class PostgreSQLConnection {
    private var handle: OpaquePointer?
    /// The names of the prepared statements by their SQL.
    private var names: [String: String] = [:]
    /// The number of names that were given.
    private var nameCount = 0
    /// The steps that were sent and whose results have not been read.
    private var sent: [Step] = []
    private let patience: Duration
    /// Whether the server sent a warning since `run` began.
    private let warning = UnsafeMutablePointer<CInt>.allocate(capacity: 1)

    /// The number of exchanges with the server.
    package private(set) var roundTrips = 0

    /// Whether the last `run` got a warning, such as a commit that no standby has confirmed.
    package var hasWarning: Bool { warning.pointee != 0 }

    /// Connects to the server that `address`, a connection string of libpq, names.
    ///
    /// Of several hosts the first that takes writes is used, unless the address says otherwise;
    /// each gets at most 10 seconds.
    ///
    /// - Parameter patience: how long an exchange may take; then the connection is closed. The
    ///   server closes it, too, if a transaction waits that long for the next exchange: its locks
    ///   would stay when this process or the network stops without closing the connection. A
    ///   statement waits half as long for a lock, so that it does not outlive its connection.
    package init(_ address: String, patience: Duration) throws(PostgreSQLError) {
      self.patience = patience
      warning.initialize(to: 0)
      let parameters = [
        ("connect_timeout", "10"), ("target_session_attrs", "read-write"),
        ("application_name", "cloudsync"), ("dbname", address), ("client_encoding", "UTF8"),
      ]
      var messages: [Substring] = []
      for host in Self.hosts(of: address) {
        handle = (parameters + host).withCStrings { PQconnectdbParams($0, $1, 1) }
        if let handle, PQstatus(handle) == CONNECTION_OK {
          cloudsync_note_warnings(handle, warning)
          PQsetnonblocking(handle, 1)
          PQenterPipelineMode(handle)
          do throws(PostgreSQLError) {
            try setLimits(of: handle)
            return
          } catch { messages.append(Substring(error.description)) }
        } else {
          let message = handle.map { String(cString: PQerrorMessage($0)) } ?? "no memory"
          // Advice is on lines that begin with a space.
          messages += message.split(separator: "\n").filter { $0.first?.isWhitespace == false }
        }
        close()
      }
      throw PostgreSQLError(messages.joined(separator: "; "))
    }

    /// Sets the time limits of a new connection, unless its address has options of its own.
    ///
    /// Not as options of the connection, which a pool in between may not pass on.
    private func setLimits(of handle: OpaquePointer) throws(PostgreSQLError) {
      let options = PQoptions(handle).map { String(cString: $0) } ?? ""
      guard options.isEmpty else { return }
      let limit = max(1, Int(patience / .milliseconds(1)))
      _ = try run([
        PostgreSQLStatement(
          """
          SELECT set_config('idle_in_transaction_session_timeout', $1, false),
            set_config('lock_timeout', $2, false)
          """, [.text("\(limit)"), .text("\(max(1, limit / 2))")])
      ])
      roundTrips = 0
    }

    /// The parameters that select each of the hosts of an address; none for an address with one.
    ///
    /// libpq does not go on to the next host if one accepts the connection and closes it, as a
    /// proxy without a server does.
    private static func hosts(of address: String) -> [[(String, String)]] {
      guard let options = PQconninfoParse(address, nil) else { return [[]] }
      defer { PQconninfoFree(options) }
      var values: [String: [String]] = [:]
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val {
          values[String(cString: keyword)] = String(cString: value)
            .split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        option += 1
      }
      let lists = ["host", "hostaddr", "port"].compactMap { key in values[key].map { (key, $0) } }
      let count = lists.map(\.1.count).max() ?? 1
      // One port is that of all hosts; libpq tells what is wrong with other numbers.
      guard count > 1,
        lists.allSatisfy({ $0.1.count == count || ($0.0 == "port" && $0.1.count == 1) })
      else { return [[]] }
      return (0..<count).map { index in
        lists.map { key, list in (key, list.count == 1 ? list[0] : list[index]) }
      }
    }

    deinit {
      close()
      warning.deallocate()
    }

    /// Closes the connection; a transaction that runs is rolled back by the server.
    package func close() {
      if let handle { PQfinish(handle) }
      handle = nil
      sent = []
    }

    /// Whether the connection was closed or lost.
    package var isClosed: Bool { handle == nil }

    /// Whether a transaction was begun that has not ended, also one that failed.
    package var isInTransaction: Bool {
      handle.map { PQtransactionStatus($0) != PQTRANS_IDLE } ?? false
    }

    /// Whether results of sent statements have not been read.
    package var hasUnreadResults: Bool { !sent.isEmpty }

    /// Sends a statement without waiting for its result.
    ///
    /// The next `run` reads the result, and throws its error.
    package func send(_ statement: PostgreSQLStatement) throws(PostgreSQLError) {
      guard let handle else { throw PostgreSQLError("the connection is closed") }
      try send(statement, on: handle)
      guard PQflush(handle) >= 0 else { throw lost(handle) }
    }

    /// Runs statements in order in one round trip, and returns the rows of each.
    ///
    /// If one of them, or one that was sent before, fails, the later ones are not run. Without a
    /// transaction that was begun, all of them are one transaction.
    package func run(
      _ statements: [PostgreSQLStatement]
    ) throws(PostgreSQLError) -> [PostgreSQLRows] {
      guard let handle else { throw PostgreSQLError("the connection is closed") }
      roundTrips += 1
      warning.pointee = 0
      for statement in statements { try send(statement, on: handle) }
      guard PQpipelineSync(handle) == 1 else { throw lost(handle) }
      let deadline = ContinuousClock.now + patience
      var rows: [PostgreSQLRows] = []
      var failure: PostgreSQLError?
      let steps = sent
      sent = []
      for step in steps {
        let result = try next(handle, before: deadline)
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
          if case .preparation(let sql, let name) = step { names[sql] = name }
          let found = PostgreSQLRows(result)
          if case .execution = step { rows.append(found) }
        default:
          failure = failure ?? error(of: result)
          PQclear(result)
        }
        try expectEnd(handle, before: deadline)
      }
      let end = try next(handle, before: deadline)
      defer { PQclear(end) }
      guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw lost(handle) }
      if let failure {
        if failure.isConnectionLost { close() }
        throw failure
      }
      return Array(rows.suffix(statements.count))
    }

    /// Ends connections like this one that have waited in the middle of an exchange for longer than
    /// the patience.
    ///
    /// Their clients have stopped waiting. No time limit of PostgreSQL before version 17 ends them,
    /// so their locks would stay.
    package func endAbandoned() throws(PostgreSQLError) {
      _ = try run([
        PostgreSQLStatement(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND usename = current_user
            AND application_name = current_setting('application_name') AND xact_start IS NOT NULL
            AND state = 'active' AND wait_event IN ('ClientRead', 'ClientWrite')
            AND state_change < clock_timestamp() - $1 * interval '1 millisecond'
          """, [.integer(Int64(patience / .milliseconds(1)))])
      ])
    }

    /// Runs statements without parameters and without preparing them, for the layout.
    package func execute(_ sql: [String]) throws(PostgreSQLError) {
      _ = try run(sql.map { PostgreSQLStatement($0) })
    }

    /// Waits for notifications of channels that the connection listens to.
    ///
    /// - Parameter time: how long to wait for the first one.
    /// - Returns: The payloads; empty if none came in time.
    package func notifications(within time: Duration) throws(PostgreSQLError) -> [String] {
      guard let handle else { throw PostgreSQLError("the connection is closed") }
      var payloads: [String] = []
      let found = cloudsync_wait(PQsocket(handle), 0, CInt(clamping: Int(time / .milliseconds(1))))
      guard found <= 0 || PQconsumeInput(handle) == 1 else { throw lost(handle) }
      while let notification = PQnotifies(handle) {
        payloads.append(String(cString: notification.pointee.extra))
        PQfreemem(notification)
      }
      return payloads
    }

    /// What a result belongs to.
    private enum Step {
      case preparation(sql: String, name: String)
      case execution
    }

    private func send(
      _ statement: PostgreSQLStatement, on handle: OpaquePointer
    ) throws(PostgreSQLError) {
      let types = statement.values.map(\.type)
      let count = CInt(clamping: types.count)
      let known = names[statement.sql] ?? nameSent(for: statement.sql)
      let name = known ?? "s\(nameCount)"
      if known == nil {
        nameCount += 1
        guard PQsendPrepare(handle, name, statement.sql, count, types) == 1 else {
          throw lost(handle)
        }
        sent.append(.preparation(sql: statement.sql, name: name))
      }
      let isSent = statement.values.withBinary { values, lengths, formats in
        PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
      }
      guard isSent == 1 else { throw lost(handle) }
      sent.append(.execution)
    }

    private func nameSent(for sql: String) -> String? {
      for case .preparation(sql, let name) in sent { return name }
      return nil
    }

    /// The next result; waits for it until `deadline`.
    private func next(
      _ handle: OpaquePointer, before deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> OpaquePointer {
      try wait(handle, before: deadline)
      guard let result = PQgetResult(handle) else { throw lost(handle) }
      return result
    }

    private func expectEnd(
      _ handle: OpaquePointer, before deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) {
      try wait(handle, before: deadline)
      guard PQgetResult(handle) == nil else { throw lost(handle) }
    }

    private func wait(
      _ handle: OpaquePointer, before deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) {
      while true {
        let unsent = PQflush(handle)
        guard unsent >= 0 else { throw lost(handle) }
        if unsent == 0, PQisBusy(handle) == 0 { return }
        let left = (deadline - ContinuousClock.now) / .milliseconds(1)
        guard left > 0 else {
          // Cancelling would make an unfinished COMMIT look like one that succeeded.
          close()
          throw PostgreSQLError("the database did not answer in time")
        }
        let found = cloudsync_wait(PQsocket(handle), unsent, CInt(min(left, 1_000)) + 1)
        guard found <= 0 || PQconsumeInput(handle) == 1 else { throw lost(handle) }
      }
    }

    private func error(of result: OpaquePointer) -> PostgreSQLError {
      let message = cloudsync_message(result) ?? UnsafePointer(PQresultErrorMessage(result))
      return PostgreSQLError(
        state: cloudsync_state(result).map { String(cString: $0) },
        message.map { String(cString: $0) } ?? "unknown")
    }

    /// Closes the connection and returns the error.
    private func lost(_ handle: OpaquePointer) -> PostgreSQLError {
      let error = PostgreSQLError(String(cString: PQerrorMessage(handle)))
      close()
      return error
    }
  }

  extension [PostgreSQLValue] {
    /// Calls `body` with the values, their lengths and their formats, as libpq takes them.
    fileprivate func withBinary<Result>(
      _ body: ([UnsafePointer<CChar>?], [CInt], [CInt]) -> Result
    ) -> Result {
      var bytes: [UInt8] = [0]
      var places: [Int?] = []
      var lengths: [CInt] = []
      for value in self {
        let start = bytes.count
        places.append(value.isNull ? nil : start)
        value.write(to: &bytes)
        lengths.append(CInt(clamping: bytes.count - start))
        bytes.append(0)
      }
      return bytes.withUnsafeBytes { buffer in
        let start = buffer.bindMemory(to: CChar.self).baseAddress
        let values = places.map { place in place.flatMap { start?.advanced(by: $0) } }
        return body(values, lengths, Array<CInt>(repeating: 1, count: count))
      }
    }
  }

  extension [(String, String)] {
    /// Calls `body` with the keywords and the values as C strings that `NULL` ends.
    fileprivate func withCStrings<Result>(
      _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Result
    ) -> Result {
      var bytes: [CChar] = []
      var places: [(keyword: Int, value: Int)] = []
      for (keyword, value) in self {
        let start = bytes.count
        bytes += keyword.utf8CString
        places.append((start, bytes.count))
        bytes += value.utf8CString
      }
      return bytes.withUnsafeBufferPointer { buffer in
        body(
          places.map { buffer.baseAddress?.advanced(by: $0.keyword) } + [nil],
          places.map { buffer.baseAddress?.advanced(by: $0.value) } + [nil])
      }
    }
  }
#endif
