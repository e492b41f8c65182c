/// How a server's storages were used since it was opened, and are used now.
package struct StorageUse: Hashable, Sendable {
  /// The number of transactions.
  package private(set) var transactions = 0
  /// The time that they took, without waiting for a storage.
  package private(set) var time = Duration.zero
  /// How often a transaction ran again after a conflict with another server.
  package private(set) var conflicts = 0
  /// The number of storages, such as connections to a database.
  package var connections = 1
  /// The number of storages that a transaction uses.
  package var connectionsInUse = 0
  /// The number of transactions that wait for a storage.
  package var transactionsWaiting = 0

  /// The reason for the latest failure of the database, for the operator of the server.
  package var lastFailure: String?

  /// Creates the use of a new server.
  init() {}

  /// Adds a transaction.
  mutating func note(_ time: Duration, conflicts: Int) {
    transactions += 1
    self.time += time
    self.conflicts += conflicts
  }
}
