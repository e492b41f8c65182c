import CloudMachine
import Records

/// The changes that a server knows of, by database: those of its own requests, and those of other
/// servers for which it has sent pushes.
struct KnownPositions {
  /// The number of the latest known change.
  private var latest: [DatabaseID: UInt64] = [:]
  /// The identity of the storage: another process may have replaced the contents.
  private var identity: UInt64?
  /// The storage's `dataVersion()` up to which all databases were checked; `nil` before the first
  /// check, and if only this server can change the data.
  private(set) var version: Int64?

  /// The number of the latest known change of a database.
  func position(of database: DatabaseID) -> UInt64 { latest[database] ?? 0 }

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

  /// Notes that the changes of a database are known up to `sequence`, or further if a request of
  /// this server has noted more in the meantime.
  mutating func learn(_ database: DatabaseID, through sequence: UInt64) {
    latest[database] = max(position(of: database), sequence)
  }

  /// Takes back what a failed check has noted; changes of own requests may be checked once more.
  mutating func takeBack(to earlier: KnownPositions) {
    guard identity == earlier.identity else { return }
    latest.merge(earlier.latest) { min($0, $1) }
  }

  /// Notes the changes of a request of this server before their commit.
  ///
  /// If others came before them, both are checked later.
  mutating func learn(_ changed: [ChangedDatabase]) {
    guard version != nil else { return }
    for one in changed where position(of: one.id) >= one.earlierSequence {
      latest[one.id] = max(position(of: one.id), one.sequence)
    }
  }

  /// Takes back what was noted of a request whose commit failed, or whose outcome is unknown.
  ///
  /// A check may have noted later changes of others in the meantime, and left out the request's
  /// own; they are checked once more.
  mutating func forget(_ changed: [ChangedDatabase]) {
    for one in changed where position(of: one.id) >= one.sequence {
      latest[one.id] = one.earlierSequence
    }
  }
}
