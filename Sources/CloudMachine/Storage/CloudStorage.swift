public import CloudProtocol
public import Records

/// The storage of a server: narrow, synchronous and transactional.
///
/// The server contains all rules; a storage stores rows and finds them again. Pass a storage of
/// your own to `LoopbackServer.init(storage:)`, which owns it from then on.
///
/// - One request is one ``transaction(_:)``. The server first reads, and then calls ``commit(_:)``
///   with all changes of the request, and again with its receipt; administrative actions may read
///   again after a commit, and must see its changes.
/// - The server makes one call at a time, so a storage need not be thread-safe.
/// - No method of a request returns all records at once, so data need not fit in memory. Only
///   archives use ``ArchiveStorage``.
/// - Zones are identified with `ZoneID.currentOwner` as their owner, except in the shared databases
///   of participants. Names are compared by their bytes.
/// - If a method throws, the request fails and its transaction is rolled back. A `CloudError` is
///   passed to the client; any other error becomes `internalError`.
/// - A storage that shares its data with other processes returns a number from ``dataVersion()``,
///   and throws ``TransactionConflict`` when a transaction was rolled back and may succeed when it
///   is run again. One whose data are far away reads at ``foresee(_:)`` what a request needs.
///   ``SharedStateStorage`` is for what such servers share besides the data.
///
/// ``MemoryStorage`` is the simplest complete storage. A storage can forward to one, for example to
/// count calls or to let commits fail. `StorageConformance` of the product `CloudSyncTesting`
/// checks these rules with any storage.
public protocol CloudStorage: SchemaStorage, AssetStorage, ArchiveStorage, SharedStateStorage {
  /// Runs `body` so that no other process can change anything between its first read and its
  /// commit; if it throws, its commits are rolled back.
  ///
  /// A transaction inside another one is part of the outer one: if it throws, the outer one is
  /// rolled back too, and throws even if its body does not.
  func transaction<Value>(_ body: () throws -> Value) throws -> Value

  /// Tells what the running transaction is about to read; the default does nothing.
  ///
  /// - Parameter plan: called only by a storage that can make use of it.
  func foresee(_ plan: () -> ReadPlan) throws

  /// A number that changes when another process changes the stored data; `nil` if only this server
  /// can change it, which is the default.
  ///
  /// With a number the server looks for changes by other processes, and sends pushes for them.
  func dataVersion() throws -> Int64?

  /// Releases the files and connections of the storage; the server makes no call after this one.
  ///
  /// The default does nothing.
  func close() throws

  /// A random number chosen when the storage was created; it binds tokens to the storage.
  func identity() throws -> UInt64

  /// A random key chosen when the storage was created. It is never disclosed; share URLs are
  /// derived from it.
  func secret() throws -> StorageSecret

  /// The account called `name`.
  func account(named name: String) throws -> AccountRow?

  /// The account with the user name `user`.
  func account(_ user: UserID) throws -> AccountRow?

  /// All accounts, by name.
  func accounts() throws -> [AccountRow]

  /// The rows of all databases in which data was ever stored, in the order of `DatabaseID`.
  ///
  /// They include the databases for a user's subscriptions to a public or shared database.
  func databases() throws -> [DatabaseRow]

  /// The rows of the public databases, and of the databases that belong to certain accounts.
  ///
  /// A server with a ``dataVersion()`` looks at them for changes by other processes. The default
  /// looks at every database.
  /// - Parameter names: the names of the accounts; those that do not exist are ignored.
  func databases(ofAccounts names: [String]) throws -> [DatabaseRow]

  /// The database `id`; `nil` if data was never stored in it.
  func database(_ id: DatabaseID) throws -> DatabaseRow?

  /// The zone called `zone`, including a deleted zone whose deletion is remembered.
  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow?

  /// All zones, including deleted ones, by name.
  func zones(in database: DatabaseID) throws -> [ZoneRow]

  /// The zones with `changedAt` above `sequence`, oldest first, at most `limit`.
  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow]

  /// The record `id`, or its tombstone.
  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow?

  /// The zone's records with `changedAt` above `sequence`, oldest first, at most `limit`.
  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow]

  /// The live records that refer to `target`, by name.
  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink]

  /// The subscription called `id`.
  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription?

  /// All subscriptions, by name.
  func subscriptions(in database: DatabaseID) throws -> [Subscription]

  /// The databases of the same container, environment and scope as `database` that hold
  /// subscriptions, by owner.
  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID]

  /// The receipt of a request; `nil` if there is none.
  func receipt(_ key: ReceiptKey) throws -> Receipt?

  /// Applies all of `changes`, in order, or none.
  func commit(_ changes: [StorageChange]) throws
}

extension CloudStorage {
  /// Does nothing.
  public func foresee(_ plan: () -> ReadPlan) throws {}

  /// Only this server can change the data.
  public func dataVersion() throws -> Int64? { nil }

  /// Looks at every database.
  public func databases(ofAccounts names: [String]) throws -> [DatabaseRow] {
    let users = Set(try names.compactMap { try account(named: $0)?.user })
    return try databases().filter { row in row.id.owner.map(users.contains) ?? true }
  }

  /// Does nothing.
  public func close() throws {}
}

/// Thrown by a storage when a transaction was rolled back because of a conflict with another one or
/// a lost connection, and may succeed when it is run again.
///
/// The server runs a request again a few times, and then fails with ``error``.
public struct TransactionConflict: Error {
  /// The error for the client.
  public var error: CloudError
  /// Details for the operator of the server, such as the database's host; `nil` if there are none.
  public var reason: String?

  /// How long to wait before the second run of the transaction; each later wait is twice as long.
  public var delay: Duration

  /// Creates a conflict.
  public init(error: CloudError, reason: String? = nil, delay: Duration = .zero) {
    self.error = error
    self.reason = reason
    self.delay = delay
  }
}
