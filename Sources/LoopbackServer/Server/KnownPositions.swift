import CloudMachine
import Records

/// The changes that a server knows of, by database: those of its own requests, and those of other
/// servers for which it has sent pushes.
struct KnownPositions {
  /// The positions after the latest known changes.
  private var latest: [DatabaseID: DatabasePosition] = [:]
  /// The identity of the storage: another process may have replaced the contents.
  private(set) var identity: UInt64?
  /// The storage's `dataVersion()` up to which all databases were checked; `nil` before the first
  /// check, and if only this server can change the data.
  private(set) var version: Int64?

  /// The position after the latest known change of a database.
  func position(of database: DatabaseID) -> DatabasePosition { latest[database] ?? .start }

  /// Begins a check of databases in the storage with this identity.
  ///
  /// - Returns: Whether it is another storage than at the last check.
  mutating func beginCheck(of identity: UInt64) -> Bool {
    defer { self.identity = identity }
    guard let known = self.identity, known != identity else { return false }
    latest = [:]
    return true
  }

  /// Ends a check of all databases.
  mutating func endCheck(at version: Int64) { self.version = version }

  /// Notes that the changes of a database are known up to `row`, or further if a request of this
  /// server has noted more in the meantime.
  mutating func learn(_ row: DatabaseRow) {
    let known = position(of: row.id)
    if known < DatabasePosition(row) { latest[row.id] = DatabasePosition(row) }
  }

  /// Takes back what a failed check has noted; changes of own requests may be checked once more.
  ///
  /// - Parameters:
  ///   - earlier: the positions that the check replaced.
  ///   - identity: the identity of the storage before the check.
  ///   - version: the version before a check that may have ended; `nil` if it has not.
  mutating func takeBack(
    to earlier: [DatabaseID: DatabasePosition], in identity: UInt64?,
    checkedAt version: Int64? = nil
  ) {
    if let version { self.version = version }
    guard self.identity == identity else { return }
    latest.merge(earlier) { min($0, $1) }
  }

  /// Notes the changes of a request of this server before their commit.
  ///
  /// If others came before them, both are checked later.
  mutating func learn(_ changed: [ChangedDatabase]) {
    guard version != nil else { return }
    for one in changed where position(of: one.id) >= one.earlier {
      latest[one.id] = max(position(of: one.id), one.position)
    }
  }

  /// Takes back what was noted of a request whose commit failed, or whose outcome is unknown.
  ///
  /// A check may have noted later changes of others in the meantime, and left out the request's
  /// own; they are checked once more.
  mutating func forget(_ changed: [ChangedDatabase]) {
    for one in changed where position(of: one.id) >= one.position {
      latest[one.id] = one.earlier
    }
  }
}

/// The accounts whose devices a server sends pushes to, with changes by other processes.
struct WatchedAccounts {
  /// The accounts that had a device at the last check of all databases, or have since.
  private(set) var names: Set<String> = []

  /// Adds an account whose first device came.
  mutating func insert(_ name: String) { names.insert(name) }

  /// Ends a check for the devices of `accounts`, which began when `earlier` were watched.
  ///
  /// An account whose first device came during the check remains.
  mutating func endCheck(of accounts: [String], since earlier: Set<String>) {
    names = Set(accounts).union(names.subtracting(earlier))
  }
}
