import CloudMachine
import CloudProtocol
import Records
import Synchronization

/// Runs the cloud machine on its storage, one transaction at a time under the server's lock.
///
/// A request is one transaction, which this type runs, including the creation of its account and
/// the check for changes by other processes. No two of this server's transactions run at once; the
/// lock is held even while SQLite waits for another process. Only a query takes several
/// transactions, one for each slice it reads, with other requests in between. Storage errors are
/// converted to `CloudError`.
final class MachineExecutor: Sendable {
  private struct Contents {
    /// `nil` once the server is closed.
    var storage: (any CloudStorage)?
    var machine: CloudMachine
    var throttle = CloudThrottle()
    /// The sequence number of each database up to which this server has seen all changes.
    var known: [DatabaseID: UInt64] = [:]
    /// The identity of the storage at that time: another process may have replaced the file's
    /// contents.
    var knownIdentity: UInt64?
    /// The storage's `dataVersion()` at that time; `nil` if only this server can change the data.
    var knownVersion: Int64?
  }

  /// The outcome of a request's first transaction.
  struct Outcome {
    var step: Step
    var pushes: [AddressedPush]
  }

  /// The state of a request after its first transaction.
  enum Step {
    /// The request has ended.
    case ended(Result<CloudReply, CloudError>)
    /// The request is a query; read its records with `read(_:)`.
    case querying(QueryScan)
  }

  /// A push and the name of the account whose devices it is for.
  struct AddressedPush {
    var account: String
    var exceptDevice: String?
    var push: CloudPush
  }

  private let contents: Mutex<Contents>
  /// A copy of the limits with a separate lock: admission must not wait for a running request.
  private let publishedLimits: Mutex<ServerLimits>
  /// A cache of the accounts' user record names, which never change within a storage; emptied under
  /// the main lock when the storage is replaced.
  private let users = Mutex<[String: UserID]>([:])
  /// The number of transactions, and the time that they took, waits for the lock excluded.
  private let used = Mutex<(count: Int, time: Duration)>((0, .zero))

  var storageUse: (count: Int, time: Duration) { used.withLock { $0 } }

  init(storage: sending any CloudStorage, limits: ServerLimits) {
    publishedLimits = Mutex(limits)
    contents = Mutex(
      Contents(storage: storage, machine: CloudMachine(limits: limits.cloudLimits)))
  }

  /// Reads the sequence number of every database that other processes can change, so that no pushes
  /// are sent for older changes.
  func learnPositions() throws(CloudError) {
    try enter { contents, storage in _ = try MachineExecutor.foreignPushes(&contents, storage) }
  }

  /// The current limits; available while a request runs.
  var limits: ServerLimits { publishedLimits.withLock { $0 } }

  func setLimits(_ limits: ServerLimits) {
    publishedLimits.withLock { $0 = limits }
    contents.withLock { $0.machine.limits = limits.cloudLimits }
  }

  /// Closes the storage; a second call does nothing.
  func close() {
    contents.withLock { contents in
      // A file that cannot be closed cleanly has nothing more to lose: every commit is synced.
      try? contents.storage?.close()
      contents.storage = nil
      users.withLock { $0 = [:] }
    }
  }

  /// Answers a call, or starts it if it is a query, for `account`, which is created at its first
  /// use.
  func begin(
    _ call: CloudCall, account: String?, device: String, availability: Caller.Availability,
    now: Timestamp
  ) -> Outcome {
    do {
      return try enter { contents, storage in
        var next = contents
        let (step, orders) = try storage.transaction {
          let user = try account.map { name in
            try storage.account(named: name) ?? next.machine.createAccount(name, in: storage)
          }?.user
          let caller = Caller(user: user, device: device, availability: availability)
          let foreign = try MachineExecutor.foreignPushes(&next, storage)
          let step = try next.machine.begin(
            call, from: caller, now: now, in: storage, throttle: &next.throttle)
          guard case .answered(let answer) = step else { return (step, foreign) }
          for database in answer.changed {
            try MachineExecutor.learn(database, &next, storage)
          }
          return (step, foreign + answer.pushes)
        }
        if next.knownIdentity != contents.knownIdentity { users.withLock { $0 = [:] } }
        contents = next
        return Outcome(step: Step(step), pushes: try MachineExecutor.addressed(orders, storage))
      }
    } catch {
      return Outcome(step: .ended(.failure(error)), pushes: [])
    }
  }

  /// Reads the next slice of a query, in a separate transaction.
  func read(_ scan: inout QueryScan) throws(CloudError) {
    try enter { _, storage in try storage.transaction { try scan.read(from: storage) } }
  }

  /// Runs an administrative action on the database of `account`, or on the public one for `nil`.
  func administer(
    container: String, environment: CloudEnvironment, account: String?,
    _ work: (CloudMachine, DatabaseID, any CloudStorage) throws -> [OutgoingPush]
  ) throws(CloudError) -> [AddressedPush] {
    try enter { contents, storage in
      let database = try MachineExecutor.database(
        container: container, environment: environment, account: account, storage)
      var next = contents
      let orders = try storage.transaction {
        let foreign = try MachineExecutor.foreignPushes(&next, storage)
        let orders = try work(next.machine, database, storage)
        try MachineExecutor.learn(database, &next, storage)
        // The participants' shared databases changed too; their pushes were sent already.
        for order in orders where order.push.database == .shared {
          try MachineExecutor.learn(
            DatabaseID(
              container: container, environment: environment, scope: .shared, owner: order.user),
            &next, storage)
        }
        return foreign + orders
      }
      contents = next
      return try MachineExecutor.addressed(orders, storage)
    }
  }

  /// Runs `work`, which may replace everything stored, in one transaction.
  ///
  /// No pushes are sent for the new contents, now or later.
  func replace(_ work: (any CloudStorage) throws -> Void) throws(CloudError) {
    try enter { contents, storage in
      var next = contents
      next.throttle = CloudThrottle()
      users.withLock { $0 = [:] }
      try storage.transaction {
        try work(storage)
        guard let version = try storage.dataVersion() else { return }
        next.known = [:]
        for row in try storage.databases() { next.known[row.id] = row.sequence }
        next.knownIdentity = try storage.identity()
        next.knownVersion = version
      }
      contents = next
    }
  }

  /// Runs `body` in one read transaction.
  func inspect<Value: Sendable>(
    _ body: (CloudMachine, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    try enter { contents, storage in
      try storage.transaction { try body(contents.machine, storage) }
    }
  }

  /// The user record name of `account`, which is created if it does not exist.
  ///
  /// Cached, because every request over HTTP needs it.
  func user(of account: String) throws(CloudError) -> UserID {
    if let user = users.withLock({ $0[account] }) { return user }
    return try enter { contents, storage in
      let user =
        try storage.account(named: account)?.user
        ?? storage.transaction { try contents.machine.createAccount(account, in: storage) }.user
      users.withLock { users in
        if users.count >= MachineExecutor.mostUsers { users = [:] }
        users[account] = user
      }
      return user
    }
  }

  /// The maximum size of the cache of user record names.
  private static let mostUsers = 10_000

  /// The database of `account`, which must exist, or the public one for `nil`.
  static func database(
    container: String, environment: CloudEnvironment, account: String?,
    _ storage: any CloudStorage
  ) throws -> DatabaseID {
    guard let account else {
      return DatabaseID(
        container: container, environment: environment, scope: .public, owner: nil)
    }
    guard let row = try storage.account(named: account) else {
      throw CloudError(.unknownItem, "the server has no account called \(account)")
    }
    return DatabaseID(
      container: container, environment: environment, scope: .private, owner: row.user)
  }

  /// The pushes for changes by other processes since the last check.
  func foreignPushes() throws(CloudError) -> [AddressedPush] {
    try enter { contents, storage in
      guard try storage.dataVersion() != contents.knownVersion else { return [] }
      var next = contents
      let orders = try storage.transaction { try MachineExecutor.foreignPushes(&next, storage) }
      contents = next
      return try MachineExecutor.addressed(orders, storage)
    }
  }

  private static func foreignPushes(
    _ contents: inout Contents, _ storage: any CloudStorage
  ) throws -> [OutgoingPush] {
    guard let version = try storage.dataVersion(), version != contents.knownVersion else {
      return []
    }
    // The first check sends no pushes: devices fetch missed changes when they start.
    let isFirst = contents.knownVersion == nil
    let identity = try storage.identity()
    if identity != contents.knownIdentity { contents.known = [:] }
    contents.knownIdentity = identity
    var pushes: [OutgoingPush] = []
    for row in try storage.databases() {
      let known = contents.known.updateValue(row.sequence, forKey: row.id) ?? 0
      guard !isFirst, row.sequence > known else { continue }
      pushes += try contents.machine.pushes(
        forChangesAfter: known, in: row.id, storage: storage)
      pushes += try contents.machine.queryPushes(
        forChangesAfter: known, in: row.id, storage: storage)
    }
    contents.knownVersion = version
    return pushes
  }

  private static func learn(
    _ database: DatabaseID, _ contents: inout Contents, _ storage: any CloudStorage
  ) throws {
    guard contents.knownVersion != nil else { return }
    contents.known[database] = try storage.database(database)?.sequence
  }

  /// Adds the account names, which never change, so no transaction is needed.
  private static func addressed(
    _ orders: [OutgoingPush], _ storage: any CloudStorage
  ) throws -> [AddressedPush] {
    try orders.compactMap { order in
      try storage.account(order.user).map { account in
        AddressedPush(
          account: account.name, exceptDevice: order.exceptDevice, push: order.push)
      }
    }
  }

  /// Takes the lock, and converts storage errors to `CloudError`.
  private func enter<Value: Sendable>(
    _ body: (inout Contents, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    let result: Result<Value, CloudError> = contents.withLock { contents in
      guard let storage = contents.storage else {
        return .failure(CloudError(.networkFailure, "the loopback server is closed"))
      }
      let clock = ContinuousClock()
      let start = clock.now
      defer {
        let time = clock.now - start
        used.withLock { $0 = ($0.count + 1, $0.time + time) }
      }
      do { return .success(try body(&contents, storage)) } catch {
        return .failure(MachineExecutor.cloudError(error))
      }
    }
    return try result.get()
  }

  private static func cloudError(_ error: any Error) -> CloudError {
    if let error = error as? CloudError { return error }
    guard let error = error as? ServerFileError else {
      return CloudError(.internalError, "the server failed: \(error)")
    }
    switch error.code {
    case .busy: return CloudError(.serviceUnavailable, error.message, retryAfter: 1)
    case .full, .readOnly, .failed:
      return CloudError(.serviceUnavailable, error.message, retryAfter: 30)
    case .cannotOpen, .notADatabase, .foreign, .newer, .damaged:
      return CloudError(.internalError, error.message)
    }
  }
}

extension MachineExecutor.Step {
  fileprivate init(_ step: CloudStep) {
    switch step {
    case .answered(let answer): self = .ended(answer.result)
    case .querying(let scan): self = .querying(scan)
    }
  }
}
