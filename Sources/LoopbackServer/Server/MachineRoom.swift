import CloudMachine
import CloudProtocol
import Records
import Synchronization

/// The machine and its storage behind the server's one lock.
///
/// Holding the lock while SQLite waits for another process is on purpose: a request is one
/// transaction, and no two of this server's transactions run at once. A query alone takes several,
/// one for each slice it reads, and other requests run in between.
final class MachineRoom: Sendable {
  private struct Contents {
    /// `nil` once the server is closed.
    var storage: (any CloudStorage)?
    var machine: CloudMachine
    var throttle = CloudThrottle()
    /// Where each database stood when this server last knew all of its changes.
    var known: [DatabaseID: UInt64] = [:]
    /// Which storage that was: another process may have replaced everything in the file.
    var knownIdentity: UInt64?
    /// What `SQLiteStorage.dataVersion` said then.
    var knownVersion: Int64?
  }

  /// What came of a request's first transaction.
  struct Outcome {
    var step: Step
    var pushes: [AddressedPush]
  }

  /// How far a request is after its first transaction.
  enum Step {
    /// It ended.
    case ended(Result<CloudReply, CloudError>)
    /// It is a query, whose records are to be read with `read(_:)`.
    case querying(QueryScan)
  }

  /// A push and the name of the account whose devices it is for.
  struct AddressedPush {
    var account: String
    var exceptDevice: String?
    var push: CloudPush
  }

  private let contents: Mutex<Contents>
  /// The limits once more, beside the lock: whoever decides whether to let a request in must not
  /// wait for another to be carried out.
  private let told: Mutex<ServerLimits>
  /// The user names of accounts, which never change in one storage; emptied under the other lock
  /// when the storage becomes another one.
  private let users = Mutex<[String: UserID]>([:])

  init(storage: sending any CloudStorage, limits: ServerLimits) {
    told = Mutex(limits)
    contents = Mutex(
      Contents(storage: storage, machine: CloudMachine(limits: limits.cloudLimits)))
  }

  /// Learns where every database of a file stands, so that older changes are not taken for news.
  func learnPositions() throws(CloudError) {
    try enter { contents, storage in _ = try MachineRoom.foreignPushes(&contents, storage) }
  }

  /// What was last set; to be had while a request is carried out.
  var limits: ServerLimits { told.withLock { $0 } }

  func setLimits(_ limits: ServerLimits) {
    told.withLock { $0 = limits }
    contents.withLock { $0.machine.limits = limits.cloudLimits }
  }

  /// Closes the storage; a second call does nothing.
  func close() {
    contents.withLock { contents in
      // A file that cannot be closed cleanly has nothing more to lose: every commit is synced.
      try? (contents.storage as? SQLiteStorage)?.close()
      contents.storage = nil
      users.withLock { $0 = [:] }
    }
  }

  /// Has a call answered, or begun if it is a query, for the account called `account`, which is
  /// created at its first use.
  func begin(
    _ call: CloudCall, account: String?, device: String, availability: Caller.Availability,
    now: Timestamp
  ) -> Outcome {
    do {
      return try enter { contents, storage in
        let user = try account.map { name in
          try storage.account(named: name)
            ?? contents.machine.createAccount(name, in: storage)
        }?.user
        let caller = Caller(user: user, device: device, availability: availability)
        var next = contents
        let (step, orders) = try storage.transaction {
          let foreign = try MachineRoom.foreignPushes(&next, storage)
          let step = try next.machine.begin(
            call, from: caller, now: now, in: storage, throttle: &next.throttle)
          guard case .answered(let answer) = step else { return (step, foreign) }
          for database in answer.changed {
            try MachineRoom.learn(database, &next, storage)
          }
          return (step, foreign + answer.pushes)
        }
        if next.knownIdentity != contents.knownIdentity { users.withLock { $0 = [:] } }
        contents = next
        return Outcome(step: Step(step), pushes: try MachineRoom.addressed(orders, storage))
      }
    } catch {
      return Outcome(step: .ended(.failure(error)), pushes: [])
    }
  }

  /// Reads the next slice of a query, in a transaction of its own.
  func read(_ scan: inout QueryScan) throws(CloudError) {
    try enter { _, storage in try storage.transaction { try scan.read(from: storage) } }
  }

  /// Runs an administrator's work on the database of `account`, or on the public one for `nil`.
  func administer(
    container: String, environment: CloudEnvironment, account: String?,
    _ work: (CloudMachine, DatabaseID, any CloudStorage) throws -> [PushOrder]
  ) throws(CloudError) -> [AddressedPush] {
    try enter { contents, storage in
      let database = try MachineRoom.database(
        container: container, environment: environment, account: account, storage)
      var next = contents
      let orders = try storage.transaction {
        let foreign = try MachineRoom.foreignPushes(&next, storage)
        let orders = try work(next.machine, database, storage)
        try MachineRoom.learn(database, &next, storage)
        // What was told to others about what they see of it is no news to them either.
        for order in orders where order.push.database == .shared {
          try MachineRoom.learn(
            DatabaseID(
              container: container, environment: environment, scope: .shared, owner: order.user),
            &next, storage)
        }
        return foreign + orders
      }
      contents = next
      return try MachineRoom.addressed(orders, storage)
    }
  }

  /// Runs `work`, which may replace everything stored, in one transaction.
  ///
  /// Nobody is told of what it brings, and nothing of it is news later.
  func replace(_ work: (any CloudStorage) throws -> Void) throws(CloudError) {
    try enter { contents, storage in
      var next = contents
      next.throttle = CloudThrottle()
      users.withLock { $0 = [:] }
      try storage.transaction {
        try work(storage)
        guard let file = storage as? SQLiteStorage else { return }
        next.known = [:]
        for row in try file.databases() { next.known[row.id] = row.sequence }
        next.knownIdentity = try file.identity()
        next.knownVersion = try file.dataVersion()
      }
      contents = next
    }
  }

  /// Reads what `body` asks for, all of it from one moment.
  func inspect<Value: Sendable>(
    _ body: (CloudMachine, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    try enter { contents, storage in
      try storage.transaction { try body(contents.machine, storage) }
    }
  }

  /// The user record name of `account`, which is made when there is none.
  ///
  /// Asked with every request from outside, so it is remembered.
  func user(of account: String) throws(CloudError) -> UserID {
    if let user = users.withLock({ $0[account] }) { return user }
    return try enter { contents, storage in
      let user =
        try storage.account(named: account)?.user
        ?? contents.machine.createAccount(account, in: storage).user
      users.withLock { users in
        if users.count >= MachineRoom.mostUsers { users = [:] }
        users[account] = user
      }
      return user
    }
  }

  /// How many accounts' user names are remembered.
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
      throw CloudError(.unknownItem, "the server knows no account called \(account)")
    }
    return DatabaseID(
      container: container, environment: environment, scope: .private, owner: row.user)
  }

  /// The pushes for what other processes changed in the file since the last look.
  func foreignPushes() throws(CloudError) -> [AddressedPush] {
    try enter { contents, storage in
      guard let file = storage as? SQLiteStorage,
        try file.dataVersion() != contents.knownVersion
      else { return [] }
      var next = contents
      let orders = try storage.transaction { try MachineRoom.foreignPushes(&next, storage) }
      contents = next
      return try MachineRoom.addressed(orders, storage)
    }
  }

  private static func foreignPushes(
    _ contents: inout Contents, _ storage: any CloudStorage
  ) throws -> [PushOrder] {
    guard let file = storage as? SQLiteStorage else { return [] }
    let version = try file.dataVersion()
    guard version != contents.knownVersion else { return [] }
    // At the first look nothing is news: devices ask for what they missed when they start.
    let isFirst = contents.knownVersion == nil
    let identity = try file.identity()
    if identity != contents.knownIdentity { contents.known = [:] }
    contents.knownIdentity = identity
    var pushes: [PushOrder] = []
    for row in try file.databases() {
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
    guard storage is SQLiteStorage else { return }
    contents.known[database] = try storage.database(database)?.sequence
  }

  /// Account names never change, so this needs no transaction.
  private static func addressed(
    _ orders: [PushOrder], _ storage: any CloudStorage
  ) throws -> [AddressedPush] {
    try orders.compactMap { order in
      try storage.account(order.user).map { account in
        AddressedPush(
          account: account.name, exceptDevice: order.exceptDevice, push: order.push)
      }
    }
  }

  /// Takes the lock, and turns what a storage throws into what a client can act on.
  private func enter<Value: Sendable>(
    _ body: (inout Contents, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    let result: Result<Value, CloudError> = contents.withLock { contents in
      guard let storage = contents.storage else {
        return .failure(CloudError(.networkFailure, "the loopback server is closed"))
      }
      do { return .success(try body(&contents, storage)) } catch {
        return .failure(MachineRoom.cloudError(error))
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

extension MachineRoom.Step {
  fileprivate init(_ step: CloudStep) {
    switch step {
    case .answered(let answer): self = .ended(answer.result)
    case .querying(let scan): self = .querying(scan)
    }
  }
}
