public import CloudSync
public import Foundation
public import SyncSupport
import Synchronization

/// Friends, scores and shared leaderboards in the cloud.
///
/// What is the person's own lies in the private database's `SocialZone`; each leaderboard is a zone
/// of its owner's private database, shared with a `CKShare`, into which every member copies their
/// profile and scores. Two engines follow the private and the shared database. May be used from
/// any thread.
public final class CloudSocialService: SocialService {
  let core: SocialCore
  let container: CKContainer
  let privateSync: RecordSync
  let sharedSync: RecordSync
  let clock: any Clock<Duration>
  private let random: @Sendable () -> UInt64
  private let now: @Sendable () -> Date

  /// Opens what is kept in `directory`; nothing is sent before the first call that needs the cloud.
  ///
  /// - Parameters:
  ///   - directory: a folder for this service alone.
  ///   - container: the cloud.
  ///   - scoring: how scores are compared; the same in all versions of the app.
  ///   - automaticallySync: whether changes go out and pushes are followed without being asked.
  ///   - clock: measures the waits between retries.
  ///   - isRecovering: whether to set damaged files aside, which ``recoveries`` tells, and to fetch
  ///     what the cloud has again.
  ///   - random: gives the random numbers friend codes are made of.
  ///   - now: the present moment; it dates profiles and friends and decides nothing.
  /// - Throws: `FileError` when a file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, scoring: LeaderboardScoring = LeaderboardScoring(),
    automaticallySync: Bool = true, clock: any Clock<Duration> = ContinuousClock(),
    recovering isRecovering: Bool = false,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    let core = try SocialCore(
      directory: directory, scoring: scoring, recovering: isRecovering)
    self.core = core
    self.container = container
    self.clock = clock
    self.random = random
    self.now = now
    func sync(_ database: CKDatabase) -> RecordSync {
      RecordSync(
        database: database, stateFile: SocialCore.stateFile(directory, database.databaseScope),
        keeper: core, automaticallySync: automaticallySync, clock: clock,
        recovering: isRecovering)
    }
    privateSync = sync(container.privateCloudDatabase)
    let shared = sync(container.sharedCloudDatabase)
    sharedSync = shared
    core.state.withLock { $0.relay = { [weak shared] in shared?.wish($0) } }
  }

  /// Always the cloud: a call that can't reach it fails.
  public var serviceStatus: ServiceStatus { .cloudKit }

  /// The signed-in person, as far as is known.
  public var userId: String? { core.state.withLock { $0.book.owner } }

  /// How many changes the cloud has not confirmed.
  public var waiting: Int {
    core.everythingUnsent(in: .private).count + core.everythingUnsent(in: .shared).count
  }

  /// When everything was last in step with the cloud.
  public var lastSync: Date? { core.state.withLock { $0.book.lastSync } }

  /// What was set aside because it was damaged.
  public var recoveries: [FileRecovery] {
    [core.state.withLock { $0.recovery }, privateSync.recovery, sharedSync.recovery]
      .compactMap(\.self)
  }

  /// Problems that stand, in words.
  public var notices: [String] {
    core.state.withLock { $0.notices }
      + (privateSync.activity.problems + sharedSync.activity.problems).map(\.message)
  }

  /// Says when anything changed, here or through the cloud, from now on.
  public var changes: AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
      let id = UUID()
      listener.onTermination = { [weak core] _ in
        core?.state.withLock { $0.listeners[id] = nil }
      }
      core.state.withLock { $0.listeners[id] = listener }
    }
  }

  /// What all devices of a person must agree on, byte for byte.
  public var canonicalText: String {
    canonicalRows.map { "\($0.name) \($0.text)" }.joined(separator: "\n")
  }

  /// The same, item by item: a name that no other item has, and the item as JSON.
  public var canonicalRows: [(name: String, text: String)] {
    let book = core.state.withLock { $0.book }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var rows: [(name: String, text: String)] = []
    func add(_ name: String, _ value: some Encodable) {
      let data = (try? encoder.encode(value)) ?? Data()
      rows.append((name, String(decoding: data, as: UTF8.self)))
    }
    if let profile = book.profile?.value { add("profile", profile) }
    for (code, kept) in book.friends { add("friend \(code)", kept.value) }
    for (name, kept) in book.scores { add(name, kept.value) }
    for (key, board) in book.boards {
      add("\(key) title", [board.title])
      add("\(key) members", board.members)
      for (name, kept) in board.scores { add("\(key) \(name)", kept.value) }
      for (user, kept) in board.profiles { add("\(key) profile \(user)", kept.value) }
    }
    return rows.sorted { $0.name < $1.name }
  }

  // MARK: Sync

  /// Brings both databases in step once.
  ///
  /// - Throws: ``SocialServiceError/cloudKitUnavailable(_:)`` with words for people.
  public func sync() async throws {
    do {
      try await pass()
    } catch {
      throw noted(error)
    }
  }

  /// The same; what passes by itself is tried again after 2, 4 and 8 seconds, full storage never.
  public func syncPatiently() async throws {
    do {
      try await RetryPlan().run(clock: clock, isPassing: RetryPlan.isRetried) { try await pass() }
    } catch {
      throw noted(error)
    }
  }

  /// Lets go of both engines without forgetting anything: what an app does when it quits.
  public func shutDown() async throws {
    try await privateSync.shutDown()
    try await sharedSync.shutDown()
  }

  private func pass() async throws {
    try await checkAccount()
    try startEngines()
    // Full storage of the person's own is no reason not to follow the others.
    let failure = try await standing { try await privateSync.sync() }
    try await forgetLostZones(privateSync, container.privateCloudDatabase)
    // What other devices of the person published belongs into the leaderboards, too.
    _ = try core.change { $0.spread(nil, into: nil, core.scoring) }
    let theirs = try await standing { try await sharedSync.sync() }
    try await forgetLostZones(sharedSync, container.sharedCloudDatabase)
    if let failure { throw failure }
    // What an owner has no space for, or does not allow, waits here and is told by `notices`; the
    // person's own is safe in their own zone.
    if let theirs, !(theirs is SyncFailure) { throw theirs }
    if !core.everythingUnsent(in: .private).isEmpty { try await privateSync.sync() }
    core.note(lastSync: now())
  }

  /// What a pass left undone for a reason that stands; what stops everything is thrown.
  private func standing(_ pass: () async throws -> Void) async throws -> (any Error)? {
    do {
      try await pass()
      return nil
    } catch let error as SyncFailure {
      return error
    } catch let error as SyncPassError {
      return error
    }
  }

  /// Without a state an engine can't tell which zones are gone; the database can.
  private func forgetLostZones(_ sync: RecordSync, _ database: CKDatabase) async throws {
    let scope = sync.scope
    let known = core.state.withLock { state in
      state.book.boards.values.filter { $0.scope == scope }.map(\.zoneID)
        .sorted { $0.zoneName < $1.zoneName }
    }
    guard sync.beganAnew, !known.isEmpty else { return }
    let zones = Set(try await database.allRecordZones().map(\.zoneID))
    let lost = known.filter { !zones.contains($0) }
    if !lost.isEmpty { _ = core.take(lost.map { .zoneGone($0, .deleted) }, in: scope) }
  }

  private func startEngines() throws {
    try privateSync.start()
    try sharedSync.start()
  }

  private func checkAccount() async throws {
    try await RecordSync.checkAccount(of: container, [privateSync, sharedSync])
  }

  /// Makes sure that the book is the signed-in person's.
  ///
  /// - Returns: their user name.
  func ready() async throws -> String {
    do {
      try await checkAccount()
      try startEngines()
      let user = try await container.userRecordID().recordName
      let isKnown = core.state.withLock { $0.book.owner == user && $0.book.sharedOwner == user }
      // The engines tell whose databases these are before they fetch anything.
      if !isKnown { try await pass() }
      guard userId == user else { throw CKError(.operationCancelled) }
      return user
    } catch {
      throw noted(error)
    }
  }

  /// An error of the way to the cloud in words; what the person did wrong stays as it is.
  func noted(_ error: any Error) -> any Error {
    switch error {
    case is SocialServiceError, is FriendCodeError, is FileError, is CancellationError:
      return error
    default: break
    }
    let failure = SyncFailure(error)
    core.state.withLock { $0.failure = failure }
    return SocialServiceError.cloudKitUnavailable(
      failure.message ?? "The cloud is busy with another change. Try again.")
  }

  // MARK: Profile and friends

  /// The person's profile, made or renamed when needed, and sent.
  public func ensureProfile(displayName: String?) async throws -> UserProfile {
    let user = try await ready()
    let name = try displayName.map { name in
      guard let name = UserProfile.cleaned(name) else { throw SocialServiceError.invalidName }
      return name
    }
    // The cloud's profile may not be here yet; a second one would bring a second code.
    if core.state.withLock({ $0.book.profile == nil }) { try await sync() }
    let date = now()
    let profile = try core.change(as: user) { book in
      var kept =
        book.profile
        ?? Kept(
          value: UserProfile(
            id: user, displayName: name ?? "Player",
            friendCode: FriendCode(random: random).text, createdAt: date, updatedAt: date),
          isUnsent: true)
      if let name, name != kept.value.displayName {
        kept.value.displayName = name
        kept.value.updatedAt = wholeMilliseconds(date)
        kept.isUnsent = true
      }
      book.profile = kept
      book.spread([], into: nil, core.scoring)
      return kept.value
    }
    try await send()
    return core.state.withLock { $0.book.profile?.value } ?? profile
  }

  /// Takes over what another service kept while there was no cloud; when it returns, the cloud has
  /// it.
  func adopt(_ waiting: LocalSocialService.Body) async throws {
    let user = try await ready()
    if waiting.profile != nil, core.state.withLock({ $0.book.profile == nil }) { try await sync() }
    try core.change(as: user) { book in
      if let profile = waiting.profile {
        var mine = profile
        mine.id = user
        var kept = book.profile ?? Kept(value: mine, isUnsent: true)
        if waiting.isNamed, kept.value.displayName != mine.displayName {
          kept.value.displayName = mine.displayName
          kept.value.updatedAt = mine.updatedAt
          kept.isUnsent = true
        }
        book.profile = kept
      }
      let ownCode = book.profile?.value.friendCode
      for (code, friend) in waiting.friends where book.friends[code] == nil && code != ownCode {
        book.friends[code] = Kept(value: friend, isUnsent: true)
        book.goneFriends.remove(code)
      }
      for code in waiting.goneFriends where book.friends.removeValue(forKey: code) != nil {
        book.goneFriends.insert(code)
      }
      var names: [String] = []
      for var score in waiting.scores.values {
        score.userId = user
        if book.publish(score, core.scoring) { names.append(score.id) }
      }
      book.spread(names, into: nil, core.scoring)
    }
    try await send()
  }

  /// The person's profile as last fetched; `nil` before there is one.
  public func myProfile() async throws -> UserProfile? {
    core.state.withLock { $0.book.profile?.value }
  }

  /// The code to give to friends; a profile is made for it when there is none.
  public func generateFriendCode() async throws -> FriendCode {
    let profile = try await ensureProfile(displayName: nil)
    return try FriendCode(profile.friendCode)
  }

  /// Adds a friend and sends the connection.
  @discardableResult
  public func addFriend(code typed: String) async throws -> FriendConnection {
    let code = try FriendCode(typed).text
    let user = try await ready()
    let date = now()
    let connection = try core.change(as: user) { book in
      guard book.profile?.value.friendCode != code else { throw SocialServiceError.ownFriendCode }
      let kept =
        book.friends[code]
        ?? Kept(value: FriendConnection(friendCode: code, addedAt: date), isUnsent: true)
      book.friends[code] = kept
      book.goneFriends.remove(code)
      return kept.value
    }
    try await send()
    return connection
  }

  /// Takes a friend off the list, and their record out of the cloud.
  public func removeFriend(code typed: String) async throws {
    let code = try FriendCode(typed).text
    _ = try await ready()
    try core.change { book in
      guard book.friends.removeValue(forKey: code) != nil else {
        throw SocialServiceError.unknownFriend
      }
      book.goneFriends.insert(code)
    }
    try await send()
  }

  /// All friends, with the profiles that shared leaderboards tell.
  public func listFriends() async throws -> [Friend] {
    let book = core.state.withLock { $0.book }
    let known = Self.newest(book.boards.values.flatMap { $0.profiles.values.map(\.value) }) {
      $0.friendCode
    }
    return book.friends.values.map(\.value).sorted { $0.friendCode < $1.friendCode }.map {
      Friend(connection: $0, profile: known[$0.friendCode])
    }
  }

  /// The newest profile for each key, of equally new ones the greater name: a person has a copy in
  /// every leaderboard, and the order of a dictionary must not choose.
  private static func newest(
    _ profiles: [UserProfile], _ key: (UserProfile) -> String
  ) -> [String: UserProfile] {
    Dictionary(profiles.map { (key($0), $0) }) { first, second in
      (first.updatedAt, first.displayName) < (second.updatedAt, second.displayName)
        ? second : first
    }
  }

  // MARK: Scores

  /// Publishes the person's scores; when it returns, the cloud has them.
  public func publishDailyScores(_ scores: [DailyScore]) async throws {
    for score in scores { try score.validate() }
    let user = try await ready()
    try core.change(as: user) { book in
      var names: [String] = []
      for var score in scores {
        score.userId = user
        if book.publish(score, core.scoring) { names.append(score.id) }
      }
      book.spread(names, into: nil, core.scoring)
    }
    try await send()
  }

  /// The person's own scores, by game and day.
  public var myScores: [DailyScore] {
    core.state.withLock { $0.book.scores.values.map(\.value) }.sorted { $0.id < $1.id }
  }

  /// The ranking of everybody whose scores are on this device; sync first for the newest.
  public func fetchLeaderboard(_ query: LeaderboardQuery) async throws -> [LeaderboardRow] {
    try ranking(query, adding: [])
  }

  /// The same, without waiting: everything is on this device.
  public func standings(_ query: LeaderboardQuery) throws -> [LeaderboardRow] {
    try ranking(query, adding: [])
  }

  /// The same with scores that are not in the cloud yet.
  func ranking(
    _ query: LeaderboardQuery, adding own: [DailyScore]
  ) throws -> [LeaderboardRow] {
    let book = core.state.withLock { $0.book }
    var boards = Array(book.boards.values)
    var scores: [String: DailyScore] = [:]
    func add(_ score: DailyScore) {
      scores[score.id] = scores[score.id].map { core.scoring.joined($0, score) } ?? score
    }
    if let id = query.leaderboard {
      boards = [try findBoard(id, in: book)]
    } else {
      for kept in book.scores.values { add(kept.value) }
    }
    for score in own { add(score) }
    var names: [String: String] = [:]
    for board in boards {
      for kept in board.scores.values { add(kept.value) }
    }
    let profiles = boards.flatMap { $0.profiles.values.map(\.value) }
    for (user, profile) in Self.newest(profiles, { $0.id }) { names[user] = profile.displayName }
    if let me = book.profile?.value { names[me.id] = me.displayName }
    return core.scoring.rank(scores.values, query, names: names, me: book.owner)
  }

  /// Follows both databases by push from now on.
  public func setupRealTimeSubscriptions() async throws {
    try startEngines()
  }

  /// Sends what was just changed, and with it whatever else waits.
  func send() async throws {
    privateSync.wish(core.everythingUnsent(in: .private))
    sharedSync.wish(core.everythingUnsent(in: .shared))
    try await sync()
  }
}
