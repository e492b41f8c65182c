import CloudMachine
import CloudProtocol
import Foundation
import Records
import Synchronization

/// Runs the machine on the server's storages.
///
/// A request is one transaction, which this type runs, including the creation of its account and
/// the check for changes by other processes. Transactions run one at a time, even while SQLite
/// waits for another process; on a database that several servers share, as many as there are
/// connections. Only a query takes several transactions, one for each slice it reads, with other
/// requests in between. Storage errors are converted to `CloudError`.
final class MachineExecutor: Sendable {
  private struct State {
    var machine: CloudMachine
    var throttle = CloudThrottle()
    var positions = KnownPositions()
    var watched = WatchedAccounts()
    /// A cache of the accounts' user record names, which never change within a storage.
    ///
    /// By the bytes of the names, as storages compare them.
    var users: [[UInt8]: UserID] = [:]
    /// The storage's secret when it was last read; `nil` before that, and after `close()`.
    var secret: StorageSecret?
    var use = StorageUse()
  }

  /// The outcome of a request's first transaction.
  struct Outcome {
    /// The answer; or a query, whose records `read(_:)` reads.
    var step: CloudStep
    /// The pushes for the devices of accounts, which replace those of the answer.
    var pushes: [AddressedPush] = []

    init(_ step: CloudStep, _ pushes: [AddressedPush] = []) {
      self.step = step
      self.pushes = pushes
    }

    /// The outcome of a request that failed.
    init(_ error: CloudError) { step = .answered(CloudAnswer(result: .failure(error))) }
  }

  /// A push and the name of the account whose devices it is for.
  struct AddressedPush {
    var account: String
    var exceptDevice: String?
    var push: CloudPush
  }

  let storages: StoragePool
  /// Whether the storages fail now.
  let health = StorageHealth()
  private let notifier: (any ChangeNotifier)?
  private let state: Mutex<State>
  /// The limits with which the server was started.
  let firstLimits: ServerLimits
  /// A copy of the limits with a separate lock: admission must not wait for a running request.
  private let publishedLimits: Mutex<ServerLimits>

  /// How the storages were used so far, and are used now.
  var storageUse: StorageUse {
    var use = state.withLock { $0.use }
    (use.connectionsInUse, use.transactionsWaiting) = storages.load
    use.connections = storages.size
    return use
  }

  init(
    storages: StoragePool, notifier: (any ChangeNotifier)? = nil, limits: ServerLimits
  ) {
    self.storages = storages
    self.notifier = notifier
    firstLimits = limits
    publishedLimits = Mutex(limits)
    state = Mutex(State(machine: CloudMachine(limits: CloudLimits(limits))))
    state.withLock { state in
      state.machine.assetReader = { [weak self] (checksum, range) throws(CloudError) in
        try self?.assetContent(checksum, in: range) ?? []
      }
    }
  }

  /// The bytes of a range of a stored file; none if it was removed in the meantime.
  private func assetContent(
    _ checksum: String, in range: Range<Int>
  ) throws(CloudError) -> [UInt8] {
    try enter(runs: MachineExecutor.mostRuns) { _, storage in
      try storage.assetContent(checksum, in: range)
    } ?? []
  }

  /// Reads the sequence number of every database that other processes can change, so that no pushes
  /// are sent for older changes; removes expired uploads.
  func learnPositions(now: Timestamp) throws(CloudError) {
    try enter(runs: MachineExecutor.mostRuns) { machine, storage in
      if let version = try storage.dataVersion() {
        var earlier: [DatabaseID: DatabasePosition] = [:]
        _ = try self.foreignPushes(
          in: storage.databases(), of: storage.identity(), machine, storage, replacing: &earlier)
        self.state.withLock { $0.positions.endCheck(at: version) }
      }
      // Without them the server works, too, such as on a file that may not be written.
      try? machine.forgetOldUploads(now: now, in: storage)
    }
  }

  /// The current limits; available while a request runs.
  var limits: ServerLimits { publishedLimits.withLock { $0 } }

  func setLimits(_ limits: ServerLimits) {
    publishedLimits.withLock { $0 = limits }
    state.withLock { $0.machine.limits = CloudLimits(limits) }
  }

  /// Closes the storage; a second call does nothing.
  func close() {
    notifier?.close()
    storages.close()
    state.withLock { state in
      state.users = [:]
      state.secret = nil
    }
  }

  /// Answers a call, or starts it if it is a query, for `account`, which is created at its first
  /// use.
  ///
  /// - Parameters:
  ///   - choseRequestID: Whether the device chose the ID of the request.
  ///   - onReply: Called with the reply while a database elsewhere makes the change.
  func begin(
    _ call: CloudCall, account: String?, device: String, availability: AccountAvailability,
    choseRequestID: Bool = true, now: Timestamp, onReply: (@Sendable (CloudReply) -> Void)? = nil
  ) async -> Outcome {
    let onReply = storages.isShared ? onReply : nil
    do throws(CloudError) {
      // The row of the database that most of an account's requests lock.
      let lock = call.database == .public ? "" : account
      return try await storages.run(lock: lock) { () throws(CloudError) in
        try self.answer(
          call, account: account,
          caller: Caller(
            user: nil, device: device, availability: availability, choseRequestID: choseRequestID),
          now: now, onReply: onReply)
      }
    } catch {
      return Outcome(error)
    }
  }

  /// - Parameter unknown: the caller, still without the user of the account.
  private func answer(
    _ call: CloudCall, account: String?, caller unknown: Caller, now: Timestamp,
    onReply: ((CloudReply) -> Void)?
  ) throws(CloudError) -> Outcome {
    let device = unknown.device
    // A request that runs again counts once.
    var throttling: CloudError??
    return try enter(runs: MachineExecutor.mostRuns) {
      // Another server may have removed the account.
      if let account { self.state.withLock { $0.users[Array(account.utf8)] = nil } }
    } body: { machine, storage in
      if throttling == nil {
        throttling = try machine.refusal(ofAccount: account, device: device, countedIn: storage)
      }
      if case .some(.some(let refusal)) = throttling {
        return Outcome(refusal)
      }
      let known = account.flatMap { name in
        self.state.withLock { $0.users[Array(name.utf8)] }
      }
      let foresee = { (user: UserID?) in
        try machine.foresee(
          call, account: account, user: user, device: device,
          readsReceipt: unknown.choseRequestID, in: storage)
      }
      let (step, pushes) = try self.knowing(machine, storage) {
        if account == nil || known != nil { try foresee(known) }
        let user = try account.map { name in
          try machine.account(named: name, in: storage)
        }?.user
        if user != known {
          // The databases are locked before the receipt is read.
          try foresee(user)
        }
        var caller = unknown
        caller.user = user
        let refusal =
          throttling
          ?? self.state.withLock { state in
            machine.refusal(of: caller, now: now, throttle: &state.throttle)
          }
        throttling = .some(refusal)
        if let refusal { return (Outcome(refusal).step, [], []) }
        let step = try machine.begin(call, from: caller, now: now, in: storage)
        guard case .answered(let answer) = step else { return (step, [], []) }
        if case .success(let reply) = answer.result { onReply?(reply) }
        return (step, answer.pushes, answer.changed)
      }
      return Outcome(step, pushes)
    }
  }

  /// Reads the next slice of a query, in a separate transaction.
  func read(_ scan: QueryScan) async throws(CloudError) -> QueryScan {
    try await storages.run { () throws(CloudError) in
      try self.enter(runs: MachineExecutor.mostRuns) { _, storage in
        try storage.transaction {
          var scan = scan
          try storage.foresee { scan.plan }
          try scan.read(from: storage)
          return scan
        }
      }
    }
  }

  /// Runs an administrative action on the database of `account`, or on the public one for `nil`.
  func administer(
    container: String, environment: CloudEnvironment, account: String?,
    _ work: (CloudMachine, DatabaseID, any CloudStorage) throws -> AdministrativeOutcome
  ) throws(CloudError) -> [AddressedPush] {
    try enter(runs: MachineExecutor.mostRuns) { machine, storage in
      let database = try MachineExecutor.database(
        container: container, environment: environment, account: account, storage)
      return try self.knowing(machine, storage) {
        var plan = ReadPlan()
        plan.databases = [database]
        try storage.foresee { plan }
        let outcome = try work(machine, database, storage)
        return ((), outcome.pushes, outcome.changed)
      }.1
    }
  }

  /// Runs `body` in one transaction, and notes the changes that it returns as known.
  ///
  /// - Returns: The value and the pushes of `body`, the latter behind those for changes by other
  ///   processes if the storage tells of them at once.
  private func knowing<Value>(
    _ machine: CloudMachine, _ storage: any CloudStorage,
    _ body: () throws -> (Value, [OutgoingPush], [ChangedDatabase])
  ) throws -> (Value, [AddressedPush]) {
    let known = state.withLock { ($0.positions.identity, $0.positions.version) }
    var changed: [ChangedDatabase] = []
    var earlier: [DatabaseID: DatabasePosition] = [:]
    do {
      let result = try storage.transaction {
        let foreign =
          storages.isShared ? [] : try foreignPushes(machine, storage, replacing: &earlier)
        let (value, pushes, changes) = try body()
        changed = changes
        // Before the commit, so that no check takes them for the changes of another process.
        if !changed.isEmpty { state.withLock { $0.positions.learn(changed) } }
        // A storage in this process would have to apply the changes now, to a copy of its state; it
        // reads the names after the commit, when nothing can take the changes back.
        let addressed =
          storages.isShared ? try MachineExecutor.addressed(foreign + pushes, storage) : nil
        return (value, foreign + pushes, addressed)
      }
      health.noteSuccess(hasChanges: !changed.isEmpty)
      if !changed.isEmpty { notifier?.send(changed.map(\.id)) }
      return (result.0, result.2 ?? (try? MachineExecutor.addressed(result.1, storage)) ?? [])
    } catch {
      state.withLock { state in
        state.positions.forget(changed)
        if !storages.isShared {
          state.positions.takeBack(to: earlier, in: known.0, checkedAt: known.1)
        }
      }
      throw error
    }
  }

  /// Runs `work`, which may replace everything stored, in one transaction.
  ///
  /// No pushes are sent for the new contents, now or later.
  func replace(_ work: (any CloudStorage) throws -> Void) throws(CloudError) {
    try enter { _, storage in
      var positions = KnownPositions()
      var secret: StorageSecret?
      try storage.transaction {
        try storage.foresee { MachineExecutor.plan(.replacing) }
        try work(storage)
        secret = try storage.secret()
        guard let version = try storage.dataVersion() else { return }
        _ = positions.beginCheck(of: try storage.identity())
        for row in try storage.databases() { positions.learn(row) }
        positions.endCheck(at: version)
      }
      self.state.withLock { state in
        state.positions = positions
        state.throttle = CloudThrottle()
        state.users = [:]
        state.secret = secret
      }
      self.notifier?.send([])
    }
  }

  /// Runs `body` in one read transaction.
  ///
  /// - Parameter runsAgain: Whether `body` may run again if the database ended the transaction.
  func inspect<Value: Sendable>(
    runsAgain: Bool = true, _ body: (CloudMachine, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    try enter(runs: runsAgain ? MachineExecutor.mostRuns : 1) { machine, storage in
      let value = try storage.transaction {
        try storage.foresee { MachineExecutor.plan(runsAgain ? .reading : .exporting) }
        return try body(machine, storage)
      }
      health.noteSuccess(hasChanges: false)
      return value
    }
  }

  /// Runs `body` once on a snapshot of the data, for a long read.
  ///
  /// Other transactions run at the same time, except on a file that can't be changed.
  func inspectSnapshot(_ body: (any CloudStorage) throws -> Void) throws(CloudError) {
    do {
      let snapshot = try storages.use { storage in
        try (storage as? any SnapshotStorage)?.snapshotForReading()
      }
      guard let snapshot else {
        return try inspect(runsAgain: false) { _, storage in try body(storage) }
      }
      defer { try? snapshot.close() }
      try snapshot.transaction { try body(snapshot) }
    } catch {
      noteFailure(error)
      throw MachineExecutor.cloudError(error)
    }
  }

  /// Runs `body`, which may change what is stored, in one transaction; no pushes are sent.
  func change(
    _ body: (CloudMachine, any CloudStorage) throws -> Void
  ) throws(CloudError) {
    try enter(runs: MachineExecutor.mostRuns) { machine, storage in
      try storage.transaction { try body(machine, storage) }
    }
  }

  // MARK: State that servers share

  /// The bytes that servers on the same data share; `nil` if they share none.
  func sharedState() throws(CloudError) -> [UInt8]? {
    try enter(runs: MachineExecutor.mostRuns) { _, storage in try storage.sharedState() }
  }

  /// Changes the bytes that servers on the same data share; `body` may run more than once.
  func updateSharedState<Value: Sendable>(
    _ body: (inout [UInt8]) throws -> Value
  ) throws(CloudError) -> Value {
    try enter(runs: MachineExecutor.mostRuns) { _, storage in
      var value: Value?
      try storage.updateSharedState { value = try body(&$0) }
      guard let value else { throw CloudError(.internalError, "the storage shares no state") }
      return value
    }
  }

  /// Tells the other servers that the bytes were changed.
  func notifyOfSharedState() { notifier?.send([]) }

  // MARK: Users

  /// The user record name of `account`, which is created if it does not exist.
  func user(of account: String) throws(CloudError) -> UserID {
    if let user = try user(ofExisting: account) { return user }
    return try enter(runs: MachineExecutor.mostRuns) { machine, storage in
      let user = try storage.transaction {
        try machine.account(named: account, in: storage)
      }.user
      self.remember(user, of: account)
      return user
    }
  }

  /// The user record name of `account`; `nil` if it does not exist.
  ///
  /// Cached, because every request over HTTP needs it.
  private func user(ofExisting account: String) throws(CloudError) -> UserID? {
    if let user = state.withLock({ $0.users[Array(account.utf8)] }) { return user }
    return try enter(runs: MachineExecutor.mostRuns) { _, storage in
      guard let user = try storage.account(named: account)?.user else { return nil }
      self.remember(user, of: account)
      return user
    }
  }

  private func remember(_ user: UserID, of account: String) {
    state.withLock { state in
      if state.users.count >= MachineExecutor.mostUsers { state.users = [:] }
      state.users[Array(account.utf8)] = user
    }
  }

  /// The storage's secret, which an import or a reset changes.
  ///
  /// Cached, because every request over HTTP needs it. After another process has changed it, the
  /// next check for foreign changes updates it.
  func secret() throws(CloudError) -> StorageSecret {
    if let secret = state.withLock({ $0.secret }) { return secret }
    return try inspect { _, storage in
      let stored = try storage.secret()
      return self.state.withLock { state in
        let secret = state.secret ?? stored
        state.secret = secret
        return secret
      }
    }
  }

  /// The plan of a transaction of which only the kind of access is known.
  private static func plan(_ access: ReadPlan.Access) -> ReadPlan {
    var plan = ReadPlan()
    plan.access = access
    return plan
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

  // MARK: Changes by other processes

  /// The pushes for changes by other processes since the last check.
  ///
  /// - Parameter accounts: Returns the names of the accounts whose devices this server sends pushes
  ///   to; on a storage in this process, all databases are checked. It is asked in each run, after
  ///   the watched accounts were noted, so that an account that comes in between is in both.
  func foreignPushes(to accounts: () -> [String]) throws(CloudError) -> [AddressedPush] {
    try enter(runs: MachineExecutor.mostRuns) { machine, storage in
      guard !self.storages.isShared else {
        let watched = self.state.withLock { $0.watched.names }
        let names = accounts()
        let pushes = try self.check(machine, storage) { try storage.databases(ofAccounts: names) }
        self.state.withLock { $0.watched.endCheck(of: names, since: watched) }
        return pushes
      }
      let version = self.state.withLock { $0.positions.version }
      guard try storage.dataVersion() != version else { return [] }
      return try self.knowing(machine, storage) { ((), [], []) }.1
    }
  }

  /// The pushes for changes by other processes in certain databases since their last check.
  ///
  /// - Parameter accounts: The names of the accounts whose devices this server sends pushes to.
  func foreignPushes(
    in databases: [DatabaseID], to accounts: [String]
  ) throws(CloudError) -> [AddressedPush] {
    var users: Set<UserID> = []
    for account in accounts {
      // Another process may have removed it.
      if let user = try user(ofExisting: account) { users.insert(user) }
    }
    let databases = databases.filter { $0.owner.map(users.contains) ?? !users.isEmpty }
    guard !databases.isEmpty else { return [] }
    return try enter(runs: MachineExecutor.mostRuns) { machine, storage in
      try self.check(machine, storage) {
        var plan = ReadPlan()
        plan.databases = databases
        try storage.foresee { plan }
        return try databases.compactMap(storage.database)
      }
    }
  }

  /// Notes the changes so far in the databases of an account whose first device is here now.
  ///
  /// The device gets a push of each subscription instead of pushes for what happened while other
  /// servers had the account's devices.
  func watch(_ account: String, _ storage: any CloudStorage) throws {
    guard storages.isShared else { return }
    let watched = state.withLock { $0.watched.names }
    guard !watched.contains(account) else { return }
    let rows = try storage.databases(ofAccounts: [account])
    state.withLock { state in
      for row in rows where row.id.owner != nil || watched.isEmpty {
        state.positions.learn(row)
      }
      state.watched.insert(account)
    }
  }

  private func check(
    _ machine: CloudMachine, _ storage: any CloudStorage, _ rows: () throws -> [DatabaseRow]
  ) throws -> [AddressedPush] {
    let identity = state.withLock { $0.positions.identity }
    var earlier: [DatabaseID: DatabasePosition] = [:]
    do {
      return try storage.transaction {
        var plan = MachineExecutor.plan(.reading)
        plan.includesIdentity = true
        try storage.foresee { plan }
        return try MachineExecutor.addressed(
          foreignPushes(
            in: rows(), of: storage.identity(), machine, storage, replacing: &earlier), storage)
      }
    } catch {
      state.withLock { $0.positions.takeBack(to: earlier, in: identity) }
      throw error
    }
  }

  /// The pushes for changes in all databases, if the storage was changed by another process.
  ///
  /// - Parameter earlier: gets the known positions that are replaced.
  private func foreignPushes(
    _ machine: CloudMachine, _ storage: any CloudStorage,
    replacing earlier: inout [DatabaseID: DatabasePosition]
  ) throws -> [OutgoingPush] {
    guard let version = try storage.dataVersion(),
      version != state.withLock({ $0.positions.version })
    else { return [] }
    let pushes = try foreignPushes(
      in: storage.databases(), of: storage.identity(), machine, storage, replacing: &earlier)
    state.withLock { $0.positions.endCheck(at: version) }
    return pushes
  }

  private func foreignPushes(
    in rows: [DatabaseRow], of identity: UInt64, _ machine: CloudMachine,
    _ storage: any CloudStorage, replacing earlier: inout [DatabaseID: DatabasePosition]
  ) throws -> [OutgoingPush] {
    let secret = try storage.secret()
    let isFirst = state.withLock { state in
      state.secret = secret
      if state.positions.beginCheck(of: identity) { state.users = [:] }
      return state.positions.version == nil
    }
    var pushes: [OutgoingPush] = []
    for row in rows {
      let known = state.withLock { state in
        defer { state.positions.learn(row) }
        return state.positions.position(of: row.id)
      }
      if known != DatabasePosition(row) { earlier[row.id] = known }
      // Devices fetch what changed before the first check when they start.
      guard !isFirst, row.sequence > known.sequence else { continue }
      pushes += try machine.pushes(forChangesAfter: known.sequence, in: row.id, storage: storage)
      pushes += try machine.queryPushes(forChangesAfter: known, in: row.id, storage: storage)
    }
    return pushes
  }

  /// Adds the account names.
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

  // MARK: Transactions

  /// How often a transaction is run at most, as long as it ends with a `TransactionConflict`.
  private static let mostRuns = 10
  /// How often at most if it waits before each run, which keeps a storage from others: with the
  /// delays of a lost database, a third of a second in all.
  private static let mostDelayedRuns = 6

  /// Takes a storage, and converts its errors to `CloudError`.
  ///
  /// - Parameters:
  ///   - runs: how often `body` is run at most, as long as it throws a `TransactionConflict` and
  ///     took less time than a request waits for a storage.
  ///   - forget: called before `body` runs again, to forget what the conflict may contradict.
  ///   - body: changes the state only as its last step, or takes the change back when it fails.
  private func enter<Value: Sendable>(
    runs: Int = 1, beforeRerun forget: () -> Void = {},
    body: (CloudMachine, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    do {
      return try storages.use { storage in
        let machine = state.withLock { $0.machine }
        let clock = ContinuousClock()
        let start = clock.now
        var conflicts = 0
        defer {
          let time = clock.now - start
          state.withLock { $0.use.note(time, conflicts: conflicts) }
        }
        while true {
          do { return try body(machine, storage) } catch let conflict as TransactionConflict
            where conflicts + 1 < runs && storages.allowsRun(after: clock.now - start)
          {
            // The storage waits for a database elsewhere on a thread of its own.
            if conflict.delay > .zero {
              guard conflicts + 1 < MachineExecutor.mostDelayedRuns else { throw conflict }
              Thread.sleep(forTimeInterval: conflict.delay / .seconds(1) * Double(1 << conflicts))
            }
            conflicts += 1
            forget()
          }
        }
      }
    } catch {
      noteFailure(error)
      throw MachineExecutor.cloudError(error)
    }
  }

  /// Notes the reason for a failure of the storage, with its place, for the operator of the server.
  private func noteFailure(_ error: any Error) {
    let reason = (error as? ServerFileError)?.message ?? (error as? TransactionConflict)?.reason
    guard let reason else { return }
    state.withLock { $0.use.lastFailure = reason }
    health.note(error, reason: reason)
  }

  /// The error for clients, which don't learn where the storage is.
  private static func cloudError(_ error: any Error) -> CloudError {
    if let error = error as? CloudError { return error }
    if let conflict = error as? TransactionConflict { return conflict.error }
    guard let error = error as? ServerFileError else {
      return CloudError(.internalError, "the server failed: \(error)")
    }
    switch error.code {
    case .busy: return CloudError(.serviceUnavailable, error.messageForClients, retryAfter: 1)
    case .full, .readOnly, .failed:
      return CloudError(.serviceUnavailable, error.messageForClients, retryAfter: 30)
    case .cannotOpen, .notADatabase, .foreign, .newer, .damaged:
      return CloudError(.internalError, error.messageForClients)
    }
  }
}
