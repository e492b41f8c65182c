public import Foundation
public import SyncSupport
import SyncedStore
import Synchronization

/// Friends, scores and shared leaderboards, on this device and in the cloud when it can be reached.
///
/// The person's own records are in the private database's `SocialZone`. Each leaderboard is a zone
/// of its owner's private database, shared with a `CKShare`, into which every member copies the
/// profile and the scores. Two stores follow the private and the shared database. Each change is on
/// the disk when a call returns, and is sent when the cloud can be reached; ``serviceStatus`` tells
/// whether it can. May be used from any thread.
public final class HybridSocialService: Sendable {
  private struct State: Sendable {
    var status = ServiceStatus.local
    var reason: String?
    var tasks: [Task<Void, Never>] = []
  }

  /// The time between two looks for the cloud while changes wait.
  static let interval = Duration.seconds(60)

  /// The store of the private database.
  let own: SyncedStore
  /// The store of the shared database.
  let shared: SyncedStore
  let container: CKContainer
  let scoring: LeaderboardScoring
  /// Whether every call looks for the cloud; otherwise only ``checkCloud()`` does.
  public let looksForCloud: Bool
  let clock: any Clock<Duration>
  private let automaticallySync: Bool
  private let random: @Sendable () -> UInt64
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  /// Opens the files in a directory; nothing is sent before the first call.
  ///
  /// - Parameters:
  ///   - directory: a folder for this service.
  ///   - container: the container to sync with.
  ///   - scoring: the comparison of scores; the same in all versions of the app.
  ///   - looksForCloud: whether every call looks for the cloud, and not only ``checkCloud()``.
  ///   - automaticallySync: whether changes are sent and pushes are followed without a call.
  ///   - clock: measures the waits between retries.
  ///   - isRecovering: whether damaged files are set aside; ``recoveries`` lists them, and
  ///     everything is fetched again.
  ///   - random: returns the random numbers of which friend codes are made.
  ///   - now: the date and time; it dates profiles and friends and decides nothing.
  /// - Throws: `FileError` if a file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, scoring: LeaderboardScoring = LeaderboardScoring(),
    looksForCloud: Bool = true, automaticallySync: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(), recovering isRecovering: Bool = false,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    let types = [
      Signed<UserProfile>.type(restoresOwn: true, join: UserProfile.joined),
      Signed<DailyScore>.type(restoresOwn: false) { mine, theirs, _ in
        scoring.joined(mine, theirs)
      },
      SyncedType(FriendConnection.self, merging: .serverWins),
    ]
    let folder = DocumentFolder(directory, recovering: isRecovering)
    own = try FirstVersionFiles(folder: folder, scoring: scoring).open(types)
    shared = try SyncedStore(
      zoneID: LeaderboardZones.social, directory: directory, types: types,
      files: .init(items: "shared-leaderboards.journal", state: "leaderboard-shared-state.data"),
      recovering: isRecovering, accepting: LeaderboardZones.isLeaderboard)
    for (store, scope) in [(own, CKDatabase.Scope.private), (shared, .shared)] {
      store.connect(
        to: container, scope: scope, automaticallySync: automaticallySync, clock: clock, now: now)
    }
    self.container = container
    self.scoring = scoring
    self.looksForCloud = looksForCloud
    self.automaticallySync = automaticallySync
    self.clock = clock
    self.random = random
    self.now = now
  }

  deinit { state.withLock { $0.tasks }.forEach { $0.cancel() } }

  // MARK: The state

  /// Where scores go, as the last call found it.
  public var serviceStatus: ServiceStatus { state.withLock { $0.status } }

  /// The reason why they stay on this device; `nil` if they don't, or if no call looked yet.
  public var reason: String? { state.withLock { $0.reason } }

  /// The name of the signed-in person's user record, as far as is known.
  public var userId: String? { own.status.account }

  /// The number of changes that the cloud has not confirmed and may get.
  public var waiting: Int {
    let writable = Set(boards.filter { $0.mayWrite }.map(\.zoneID))
    return own.status.unsentCount + shared.unsentRecordIDs.count { writable.contains($0.zoneID) }
      + madeByNobody.scores.count + (madeByNobody.profile == nil ? 0 : 1)
  }

  /// The end of the last successful sync.
  public var lastSync: Date? { own.status.lastSync }

  /// The damaged files that were set aside.
  public var recoveries: [FileRecovery] { own.recoveries + shared.recoveries }

  /// The unsolved problems, in words.
  public var notices: [String] {
    (own.status.activity.problems + shared.status.activity.problems).map(\.message)
  }

  /// Reports each step of the sync that may have changed something, from now on.
  public var changes: AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
      let tasks = [own, shared].map { store in
        let updates = store.statusUpdates
        return Task { for await _ in updates { listener.yield() } }
      }
      listener.onTermination = { _ in tasks.forEach { $0.cancel() } }
    }
  }

  // MARK: Sync

  /// Syncs both databases once.
  ///
  /// - Throws: ``SocialServiceError/cloudKitUnavailable(_:)`` with words for people.
  public func sync() async throws { try await inCloud { try await pass() } }

  /// Syncs both databases; errors that pass are retried after 2, 4 and 8 seconds.
  ///
  /// - Throws: as ``sync()``.
  public func syncPatiently() async throws {
    try await inCloud {
      try await RetryPlan().run(clock: clock, isPassing: RetryPlan.isRetried) { try await pass() }
    }
  }

  /// Looks for the cloud and syncs; for the launch of the app, and for when the network or the
  /// account is back.
  @discardableResult
  public func checkCloud() async -> ServiceStatus {
    var reason: String?
    do {
      try await sync()
    } catch {
      reason = "\(error)"
    }
    return state.withLock { state in
      state.status = reason == nil ? .cloudKit : .local
      state.reason = reason
      return state.status
    }
  }

  /// Ends the sync and forgets nothing: for an app that quits.
  public func shutDown() async throws {
    let tasks = state.withLock { state in
      defer { state.tasks = [] }
      return state.tasks
    }
    tasks.forEach { $0.cancel() }
    try await own.shutDown()
    try await shared.shutDown()
  }

  /// Follows the cloud by push, and looks for it once a minute while changes wait.
  public func setupRealTimeSubscriptions() async throws {
    try start()
    await checkCloud()
    let watch = Task { [weak self, clock] in
      while (try? await clock.sleep(for: Self.interval)) != nil {
        guard let self else { return }
        if waiting > 0 { await checkCloud() }
      }
    }
    state.withLock { $0.tasks.append(watch) }
  }

  private func start() throws {
    try own.start()
    try shared.start()
    state.withLock { state in
      guard automaticallySync, state.tasks.isEmpty else { return }
      // A score of another device of the person, or a new leaderboard.
      for updates in [own.statusUpdates, shared.statusUpdates] {
        state.tasks.append(
          Task { [weak self] in for await _ in updates { try? self?.spread() } })
      }
    }
  }

  private func pass() async throws {
    try start()
    try await container.checkAccount()
    var failure: (any Error)?
    do {
      failure = try await standing { try await own.sync() }
    } catch let error as CKError where error.code == .notAuthenticated {
      // Data of another account is removed at once.
      try? await shared.sync()
      throw error
    }
    try adopt()
    try spread()
    // What an owner has no space for, or does not allow, waits here and is told by `notices`; the
    // person's own is safe in their own zone.
    _ = try await standing { try await shared.sync() }
    try spread()
    if failure == nil, !own.unsentRecordIDs.isEmpty { try await own.sync() }
    if !shared.unsentRecordIDs.isEmpty { _ = try await standing { try await shared.sync() } }
    if let failure { throw own.refusal(failure) }
  }

  /// The error of a sync that does not prevent others; any other is thrown.
  private func standing(_ sync: () async throws -> Void) async throws -> (any Error)? {
    do {
      try await sync()
      return nil
    } catch  where !RetryPlan.isRetried(error) && !(error is FileError) {
      return error
    }
  }

  /// Makes sure that both stores have the signed-in person's items.
  ///
  /// - Returns: the name of the user record.
  func ready() async throws -> String {
    try await inCloud {
      try start()
      let user = try await container.userRecordID().recordName
      if own.status.account != user || shared.status.account != user { try await pass() }
      guard own.status.account == user else { throw CKError(.operationCancelled) }
      return user
    }
  }

  /// Calls the cloud; its errors are thrown in words.
  func inCloud<Result>(_ call: () async throws -> Result) async throws -> Result {
    do {
      return try await call()
    } catch  where error is CKError || error is SyncedStoreError {
      throw SocialServiceError.cloudKitUnavailable(
        SyncFailure(own.refusal(error)).message
          ?? "The cloud is busy with another change. Try again.")
    }
  }

  // MARK: Changes

  /// The person whose changes these are.
  private var person: String { userId ?? Signed<DailyScore>.nobody }

  /// Makes a change on this device, and sends it if the cloud can be reached.
  private func change<Result>(_ body: () throws -> Result) async throws -> Result {
    // The person's profile may be in the cloud; a second one would have a second code.
    if looksForCloud, userId == nil { await checkCloud() }
    let result = try body()
    if looksForCloud { await checkCloud() }
    return result
  }

  /// What was made while nobody was signed in.
  private var madeByNobody: (profile: UserProfile?, scores: [DailyScore]) {
    let nobody = Signed<DailyScore>.nobody
    return (profile(of: nobody), ownScores.filter { $0.userId == nobody })
  }

  /// Gives what was made while nobody was signed in to the person.
  private func adopt() throws {
    let made = madeByNobody
    guard let user = userId, made.profile != nil || !made.scores.isEmpty else { return }
    try own.change { change in
      if var profile = made.profile {
        change.delete(Signed<UserProfile>.self, named: profile.recordName)
        profile.id = user
        let known: Signed<UserProfile>? = change.item(named: profile.recordName)
        let joined = known.map { UserProfile.joined(profile, $0.value, isUnsent: true) }
        try change.save(Signed(joined ?? profile))
      }
      for score in made.scores {
        change.delete(Signed<DailyScore>.self, named: score.recordName)
        try publish(score, as: user, &change)
      }
    }
  }

  /// Saves a score unless a better one is known.
  private func publish(
    _ score: DailyScore, as user: String, in zone: CKRecordZone.ID? = nil,
    _ change: inout SyncedTransaction
  ) throws {
    var score = score
    score.userId = user
    let known: Signed<DailyScore>? = change.item(named: score.recordName, in: zone)
    let mine = known.flatMap { $0.isMine ? $0.value : nil }
    let joined = mine.map { scoring.joined($0, score) } ?? score
    guard joined != mine else { return }
    try change.save(Signed(joined, isCopy: zone != nil), in: zone)
  }

  /// Copies the person's profile and scores into the leaderboards that lack them.
  ///
  /// - Parameter scores: the scores; `nil` for all.
  func spread(_ scores: [DailyScore]? = nil) throws {
    guard let user = userId else { return }
    let boards = boards.filter(\.mayWrite)
    guard !boards.isEmpty else { return }
    let scores = scores ?? ownScores.filter { $0.userId == user }
    let profile = profile(of: user)
    for board in boards {
      try board.store.change { change in
        for score in scores { try publish(score, as: user, in: board.zoneID, &change) }
        guard let profile else { return }
        try change.save(Signed(profile, isCopy: true), in: board.zoneID)
      }
    }
  }

  // MARK: Profile and friends

  private func profile(of user: String) -> UserProfile? {
    own.item(Signed<UserProfile>.self, named: UserProfile.recordName(of: user))?.value
  }

  /// The person's profile as last seen; `nil` before there is one.
  public var profile: UserProfile? { profile(of: person) }

  /// The profile, which is made or renamed when needed.
  ///
  /// - Parameter displayName: the name to take; `nil` leaves it as it is.
  public func ensureProfile(displayName: String?) async throws -> UserProfile {
    let name = try displayName.map(UserProfile.cleaned)
    let made = try await change {
      let (person, date) = (person, now())
      let profile = try own.change { change in
        let known: Signed<UserProfile>? = change.item(named: UserProfile.recordName(of: person))
        var profile =
          known?.value
          ?? UserProfile(
            id: person, displayName: UserProfile.defaultName,
            friendCode: FriendCode(random: random).text, createdAt: date, updatedAt: date)
        if let name, name != profile.displayName {
          profile.displayName = name
          profile.updatedAt = date.roundedToMilliseconds
        }
        try change.save(Signed(profile))
        return profile
      }
      try spread([])
      return profile
    }
    return profile ?? made
  }

  /// The profile as last seen; `nil` before there is one.
  public func myProfile() async throws -> UserProfile? { profile }

  /// The code to give to friends; a profile is made for it when there is none.
  public func generateFriendCode() async throws -> FriendCode {
    try FriendCode(try await ensureProfile(displayName: nil).friendCode)
  }

  /// Adds a friend; a friend who was added before is not changed.
  ///
  /// - Parameter typed: the code as the person typed it.
  /// - Throws: `FriendCodeError` for a typing error.
  @discardableResult
  public func addFriend(code typed: String) async throws -> FriendConnection {
    try await change {
      let code = try FriendCode(typed).text
      guard profile?.friendCode != code else { throw SocialServiceError.ownFriendCode }
      let made = FriendConnection(friendCode: code, addedAt: now())
      return try own.change { change in
        let known: FriendConnection? = change.item(named: made.recordName)
        try change.save(known ?? made)
        return known ?? made
      }
    }
  }

  /// Removes a friend from the list, and from the cloud.
  public func removeFriend(code typed: String) async throws {
    try await change {
      let name = FriendConnection.recordName(of: try FriendCode(typed).text)
      try own.change { change in
        guard change.item(FriendConnection.self, named: name) != nil else {
          throw SocialServiceError.unknownFriend
        }
        change.delete(FriendConnection.self, named: name)
      }
    }
  }

  /// All friends in the order of their codes, with the profiles that shared leaderboards tell.
  public func listFriends() async throws -> [Friend] {
    let profiles = boards.flatMap(\.profiles)
    let known = UserProfile.newest(profiles) { $0.friendCode }
    return own.items(FriendConnection.self).sorted { $0.friendCode < $1.friendCode }.map {
      Friend(connection: $0, profile: known[$0.friendCode])
    }
  }

  // MARK: Scores

  private var ownScores: [DailyScore] {
    own.items(Signed<DailyScore>.self, in: LeaderboardZones.social).map(\.value)
  }

  /// The person's scores, by game and day.
  public var myScores: [DailyScore] {
    let person = person
    return ownScores.filter { $0.userId == person }.sorted { $0.id < $1.id }
  }

  /// Keeps the scores here, and sends them when the cloud can be reached.
  ///
  /// It never fails for want of a cloud: ``serviceStatus`` tells where they are.
  public func publishDailyScores(_ scores: [DailyScore]) async throws {
    for score in scores { try score.validate() }
    try await change {
      let person = person
      try own.change { change in
        for score in scores { try publish(score, as: person, &change) }
      }
      try spread(scores)
    }
  }

  /// The ranking of everybody whose scores are known, after a look for newer ones.
  public func fetchLeaderboard(_ query: LeaderboardQuery) async throws -> [LeaderboardRow] {
    if looksForCloud { await checkCloud() }
    return try standings(query)
  }

  /// The ranking of everybody whose scores are on this device.
  public func standings(_ query: LeaderboardQuery) throws -> [LeaderboardRow] {
    let boards = try query.leaderboard.map { [try findBoard($0)] } ?? boards
    var scores: [String: DailyScore] = [:]
    for score in (query.leaderboard == nil ? myScores : []) + boards.flatMap(\.scores) {
      scores[score.id] = scores[score.id].map { scoring.joined($0, score) } ?? score
    }
    var names = UserProfile.newest(boards.flatMap(\.profiles)) { $0.id }.mapValues(\.displayName)
    names[person] = profile?.displayName
    return scoring.rank(scores.values, query, names: names, me: person)
  }

  // MARK: Comparing devices

  /// What all devices of a person must agree on, byte for byte.
  public var canonicalText: String {
    canonicalRows.map { "\($0.name) \($0.text)" }.joined(separator: "\n")
  }

  /// The same, item by item: a name that no other item has, and the item as JSON.
  public var canonicalRows: [(name: String, text: String)] {
    var rows: [(name: String, text: String)] = []
    func add(_ name: String, _ value: some Encodable) { rows.append((name, value.canonicalText)) }
    if let profile { add("profile", profile) }
    for friend in own.items(FriendConnection.self) { add("friend \(friend.friendCode)", friend) }
    for score in myScores { add(score.id, score) }
    for board in boards {
      add("\(board.key) title", [board.title])
      add("\(board.key) members", board.members())
      for score in board.scores { add("\(board.key) \(score.id)", score) }
      for profile in board.profiles { add("\(board.key) profile \(profile.id)", profile) }
    }
    return rows.sorted { $0.name < $1.name }
  }
}
