public import CloudSync
public import Foundation
import SyncSupport
import Synchronization

/// The cloud when it is there, this device when it is not, and it says which.
///
/// Every change is on the disk of this device before the cloud is asked for anything. When the
/// cloud has it, it leaves the queue; until then it waits, through crashes and restarts, and moves
/// up as soon as a call finds the cloud again. Moving up twice changes nothing, because scores and
/// friends have the same names everywhere. May be used from any thread.
public final class HybridSocialService: SocialService {
  private struct State: Sendable {
    var status = ServiceStatus.local
    var reason: String?
    var watch: Task<Void, Never>?
  }

  /// How often it looks for the cloud while something waits and nobody calls.
  static let interval = Duration.seconds(60)

  /// The cloud's side.
  public let cloud: CloudSocialService
  /// This device's side.
  public let local: LocalSocialService
  /// Whether every call looks for the cloud; else only ``checkCloud()`` does, and what calls change
  /// waits for it.
  public let looksForCloud: Bool
  private let state = Mutex(State())

  /// Puts both together.
  ///
  /// - Parameter looksForCloud: whether every call looks for the cloud, and not only
  ///   ``checkCloud()``.
  public init(
    cloud: CloudSocialService, local: LocalSocialService, looksForCloud: Bool = true
  ) {
    self.looksForCloud = looksForCloud
    self.cloud = cloud
    self.local = local
    cloud.core.state.withLock { state in
      state.forgetters.append { [weak local] in local?.forget(ownedBy: $0) }
    }
  }

  /// The service with its files in `directory`.
  ///
  /// Parameters as `CloudSocialService` and the other initialiser have them.
  public convenience init(
    directory: URL, container: CKContainer, scoring: LeaderboardScoring = LeaderboardScoring(),
    looksForCloud: Bool = true, automaticallySync: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    recovering isRecovering: Bool = false,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    self.init(
      cloud: try CloudSocialService(
        directory: directory, container: container, scoring: scoring,
        automaticallySync: automaticallySync, clock: clock, recovering: isRecovering,
        random: random, now: now),
      local: try LocalSocialService(
        directory: directory, scoring: scoring, recovering: isRecovering, random: random, now: now),
      looksForCloud: looksForCloud)
  }

  deinit { state.withLock { $0.watch }?.cancel() }

  /// Where scores go, as the last call found it.
  public var serviceStatus: ServiceStatus { state.withLock { $0.status } }

  /// Why it is this device; `nil` when it is the cloud or nobody asked yet.
  public var reason: String? { state.withLock { $0.reason } }

  /// Looks for the cloud and moves up what waits; to be called at launch, in the foreground, and
  /// when the network or the account is back.
  @discardableResult
  public func checkCloud() async -> ServiceStatus {
    do {
      let user = try await cloud.ready()
      try await moveUp(as: user)
      return note(nil)
    } catch {
      return note(error)
    }
  }

  private func note(_ error: (any Error)?) -> ServiceStatus {
    state.withLock { state in
      state.status = error == nil ? .cloudKit : .local
      state.reason = error.map { "\($0)" }
      return state.status
    }
  }

  /// Moves up what waits and belongs to the signed-in person, or to nobody.
  private func moveUp(as user: String) async throws {
    let waiting = local.body
    guard !waiting.isEmpty else { return }
    guard waiting.owner == nil || waiting.owner == user else {
      // The engines remove an old account's things before anybody is ready; this is what a crash
      // in between left.
      if let owner = waiting.owner { local.forget(ownedBy: owner) }
      return
    }
    // From now on it is theirs: should they sign out before all of it moved up, it goes.
    try local.change { if !$0.isEmpty { $0.owner = user } }
    try await cloud.adopt(waiting)
    try local.change { body in
      // What was changed again meanwhile is something else, and stays.
      if body.profile == waiting.profile {
        body.profile = nil
        body.isNamed = false
      }
      for (code, friend) in waiting.friends where body.friends[code] == friend {
        body.friends[code] = nil
      }
      body.goneFriends.subtract(waiting.goneFriends)
      for (id, score) in waiting.scores where body.scores[id] == score { body.scores[id] = nil }
    }
  }

  /// Notes for the queue whose change this is.
  private func claim() throws {
    guard let user = cloud.userId else { return }
    try local.change { body in
      if body.owner == nil, !body.isEmpty { body.owner = user }
    }
  }

  /// Whether an error is about what the person did, and not about the cloud.
  private static func isPersonal(_ error: any Error) -> Bool {
    switch error {
    case SocialServiceError.cloudKitUnavailable: false
    case is SocialServiceError, is FriendCodeError, is FileError, is CancellationError: true
    default: false
    }
  }

  private func either<Result: Sendable>(
    _ inCloud: () async throws -> Result, _ onDevice: () async throws -> Result
  ) async throws -> Result {
    if looksForCloud, await checkCloud() == .cloudKit {
      do {
        return try await inCloud()
      } catch  where !Self.isPersonal(error) {
        _ = note(error)
      }
    }
    let result = try await onDevice()
    try claim()
    return result
  }

  // MARK: The service

  /// The profile in the cloud, or the one that stands in for it.
  public func ensureProfile(displayName: String?) async throws -> UserProfile {
    try await either {
      try await cloud.ensureProfile(displayName: displayName)
    } _: {
      if let known = try await cloud.myProfile() {
        guard let displayName else { return known }
        // The name waits; the code stays the one friends have.
        guard let name = UserProfile.cleaned(displayName) else {
          throw SocialServiceError.invalidName
        }
        return try local.change { body in
          var profile = known
          profile.displayName = name
          body.profile = profile
          body.isNamed = true
          return profile
        }
      }
      return try await local.ensureProfile(displayName: displayName)
    }
  }

  /// The profile people see now.
  public func myProfile() async throws -> UserProfile? {
    if let waiting = local.body.profile { return waiting }
    return try await cloud.myProfile()
  }

  /// The code to give to friends.
  public func generateFriendCode() async throws -> FriendCode {
    try FriendCode(try await ensureProfile(displayName: nil).friendCode)
  }

  /// Adds a friend in the cloud, or here until it is back.
  @discardableResult
  public func addFriend(code: String) async throws -> FriendConnection {
    try await either {
      try await cloud.addFriend(code: code)
    } _: {
      let text = try FriendCode(code).text
      if try await cloud.myProfile()?.friendCode == text { throw SocialServiceError.ownFriendCode }
      return try await local.addFriend(code: code)
    }
  }

  /// Takes a friend off the list, in the cloud too when it is back.
  public func removeFriend(code: String) async throws {
    try await either {
      try await cloud.removeFriend(code: code)
    } _: {
      let text = try FriendCode(code).text
      let isInCloud = try await cloud.listFriends().contains { $0.connection.friendCode == text }
      try local.change { body in
        let wasHere = body.friends.removeValue(forKey: text) != nil
        guard wasHere || isInCloud else { throw SocialServiceError.unknownFriend }
        if isInCloud { body.goneFriends.insert(text) }
      }
    }
  }

  /// All friends, those that wait included.
  public func listFriends() async throws -> [Friend] {
    let waiting = local.body
    let known = try await cloud.listFriends().filter {
      waiting.friends[$0.connection.friendCode] == nil
        && !waiting.goneFriends.contains($0.connection.friendCode)
    }
    return (known + (try await local.listFriends()))
      .sorted { $0.connection.friendCode < $1.connection.friendCode }
  }

  /// Keeps the scores here, and moves them up when the cloud is there.
  ///
  /// It never fails for want of a cloud: ``serviceStatus`` tells where they are.
  public func publishDailyScores(_ scores: [DailyScore]) async throws {
    try await local.publishDailyScores(scores)
    try claim()
    if looksForCloud { await checkCloud() }
  }

  /// The ranking of everybody known, scores that wait included.
  public func fetchLeaderboard(_ query: LeaderboardQuery) async throws -> [LeaderboardRow] {
    if looksForCloud, await checkCloud() == .cloudKit {
      do {
        try await cloud.sync()
      } catch {
        _ = note(error)
      }
    }
    let waiting = local.body
    guard let user = cloud.userId else { return try await local.fetchLeaderboard(query) }
    let own = waiting.scores.values.map { score in
      var score = score
      score.userId = user
      return score
    }
    return try cloud.ranking(query, adding: own)
  }

  /// Follows the cloud by push, and while something waits looks for it once a minute.
  public func setupRealTimeSubscriptions() async throws {
    try await cloud.setupRealTimeSubscriptions()
    await checkCloud()
    state.withLock { state in
      state.watch?.cancel()
      state.watch = Task { [weak self, clock = cloud.clock] in
        while (try? await clock.sleep(for: Self.interval)) != nil {
          guard let self else { return }
          if local.waiting > 0 { await checkCloud() }
        }
      }
    }
  }

  /// Lets go of the cloud without forgetting anything: what an app does when it quits.
  public func shutDown() async throws {
    state.withLock { state in
      state.watch?.cancel()
      state.watch = nil
    }
    try await cloud.shutDown()
  }
}
