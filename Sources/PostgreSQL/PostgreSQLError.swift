#if PostgreSQL
  /// An error of PostgreSQL or of the connection to it, without values of a statement.
  package struct PostgreSQLError: Error, Hashable, Sendable {
    /// The five characters of SQLSTATE, such as `40001`; `nil` if the connection failed.
    package var state: String?
    /// The server's message, or the library's.
    package var message: String
    /// Whether it is unknown if a transaction whose `COMMIT` was sent is in the database.
    package var isOutcomeUnknown = false

    /// Creates an error.
    package init(state: String? = nil, _ message: String) {
      self.state = state
      self.message = message.split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    /// Whether the connection can't be used any more.
    package var isConnectionLost: Bool {
      guard let state else { return true }
      // 08: the connection; 57P01 to 57P03: the server stops or starts; 25P03: the transaction was
      // idle for too long; 25006: the server takes no writes any more.
      return state.hasPrefix("08") || state.hasPrefix("57P") || ["25P03", "25006"].contains(state)
    }

    /// Whether a time limit of the server, or an administrator, has ended the statement.
    package var isCancelled: Bool { state == "57014" || isLockTimeout }

    /// Whether a lock was not free in time.
    package var isLockTimeout: Bool { state == "55P03" }

    /// Whether the same transaction may succeed when it is run again: a conflict, a deadlock, or a
    /// row that another transaction has inserted.
    package var isConflict: Bool { ["40001", "40P01", "23505"].contains(state) }
  }

  extension PostgreSQLError: CustomStringConvertible {
    /// The message with the code.
    package var description: String { state.map { "\(message) (SQLSTATE \($0))" } ?? message }
  }
#endif
