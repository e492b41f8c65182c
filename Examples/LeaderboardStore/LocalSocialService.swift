public import Foundation
public import SyncSupport
import Synchronization

/// Friends and scores on this device alone.
///
/// It stands in while there is no cloud, and is the durable queue of what is to move up when the
/// cloud returns: each item is on the disk when the call that made it returns, and leaves when the
/// cloud has that very item. May be used from any thread.
public final class LocalSocialService: SocialService {
  /// What is kept.
  struct Body: Codable, Hashable, Sendable {
    /// Whose it is, as far as was known; `nil` for what was made while nobody was signed in.
    var owner: String?
    var profile: UserProfile?
    /// Whether the name was chosen here, and not only made up.
    var isNamed = false
    var friends: [String: FriendConnection] = [:]
    var goneFriends: Set<String> = []
    var scores: [String: DailyScore] = [:]

    var isEmpty: Bool {
      profile == nil && friends.isEmpty && goneFriends.isEmpty && scores.isEmpty
    }
  }

  /// Stands for the person while nobody knows who it is.
  static let user = "local"

  private struct State: Sendable {
    var body: Body
    var recovery: FileRecovery?
  }

  private let state: Mutex<State>
  private let file: DocumentFile<Body>
  private let scoring: LeaderboardScoring
  private let random: @Sendable () -> UInt64
  private let now: @Sendable () -> Date

  /// Opens what is kept in `directory`.
  ///
  /// - Parameters:
  ///   - directory: a folder for this service, or the cloud's.
  ///   - scoring: how scores are compared.
  ///   - isRecovering: whether to go on without a damaged file, which ``recovery`` tells.
  ///   - random: gives the random numbers friend codes are made of.
  ///   - now: the present moment.
  /// - Throws: `FileError` when the file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, scoring: LeaderboardScoring = LeaderboardScoring(),
    recovering isRecovering: Bool = false,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    self.scoring = scoring
    self.random = random
    self.now = now
    let file = DocumentFile<Body>(
      directory.appendingPathComponent("social-local.json"), format: "social-local")
    self.file = file
    let reading = try file.read(recovering: isRecovering)
    state = Mutex(State(body: reading.body ?? Body(), recovery: reading.recovery))
  }

  /// Always this device.
  public var serviceStatus: ServiceStatus { .local }

  /// How many items wait for the cloud.
  public var waiting: Int {
    let body = body
    return body.scores.count + body.friends.count + body.goneFriends.count
      + (body.profile == nil ? 0 : 1)
  }

  /// What was set aside because it was damaged.
  public var recovery: FileRecovery? { state.withLock { $0.recovery } }

  var body: Body { state.withLock { $0.body } }

  /// Changes what is kept; it is on the disk when this returns.
  ///
  /// - Throws: `FileError` when it can't be written; nothing is changed then.
  func change<Result>(_ body: (inout Body) throws -> Result) throws -> Result {
    try state.withLock { state in
      var new = state.body
      let result = try body(&new)
      guard new != state.body else { return result }
      if new.isEmpty {
        new = Body()
        try file.file.remove()
      } else {
        try file.write(new)
      }
      state.body = new
      return result
    }
  }

  /// Removes everything that belongs to an account; what was made while nobody was signed in stays.
  func forget(ownedBy user: String) {
    do {
      try change { if $0.owner == user { $0 = Body() } }
      try file.file.removeCopies()
      state.withLock { $0.recovery = nil }
    } catch {
      // Memory at least is empty now.
      state.withLock { state in
        if state.body.owner == user { state.body = Body() }
      }
    }
  }

  // MARK: The service

  /// The profile of this device, made or renamed when needed.
  public func ensureProfile(displayName: String?) async throws -> UserProfile {
    let date = now()
    return try change { body in
      var profile =
        body.profile
        ?? UserProfile(
          id: Self.user, displayName: "Player", friendCode: FriendCode(random: random).text,
          createdAt: date, updatedAt: date)
      if let displayName {
        guard let name = UserProfile.cleaned(displayName) else {
          throw SocialServiceError.invalidName
        }
        profile.displayName = name
        profile.updatedAt = wholeMilliseconds(date)
        body.isNamed = true
      }
      body.profile = profile
      return profile
    }
  }

  /// The profile of this device; `nil` before there is one.
  public func myProfile() async throws -> UserProfile? { body.profile }

  /// The code to give to friends.
  public func generateFriendCode() async throws -> FriendCode {
    try FriendCode(try await ensureProfile(displayName: nil).friendCode)
  }

  /// Adds a friend.
  @discardableResult
  public func addFriend(code typed: String) async throws -> FriendConnection {
    let code = try FriendCode(typed).text
    let date = now()
    return try change { body in
      guard body.profile?.friendCode != code else { throw SocialServiceError.ownFriendCode }
      let connection = body.friends[code] ?? FriendConnection(friendCode: code, addedAt: date)
      body.friends[code] = connection
      body.goneFriends.remove(code)
      return connection
    }
  }

  /// Takes a friend off the list.
  public func removeFriend(code typed: String) async throws {
    let code = try FriendCode(typed).text
    try change { body in
      guard body.friends.removeValue(forKey: code) != nil else {
        throw SocialServiceError.unknownFriend
      }
    }
  }

  /// All friends added here.
  public func listFriends() async throws -> [Friend] {
    body.friends.values.sorted { $0.friendCode < $1.friendCode }.map {
      Friend(connection: $0, profile: nil)
    }
  }

  /// Keeps scores; of two for the same game and day the better one stays.
  public func publishDailyScores(_ scores: [DailyScore]) async throws {
    for score in scores { try score.validate() }
    try change { body in
      for var score in scores {
        score.userId = Self.user
        body.scores[score.id] = body.scores[score.id].map { scoring.joined($0, score) } ?? score
      }
    }
  }

  /// The ranking of the person alone.
  public func fetchLeaderboard(_ query: LeaderboardQuery) async throws -> [LeaderboardRow] {
    let body = body
    if let name = query.leaderboard { throw SocialServiceError.unknownLeaderboard(name) }
    return scoring.rank(
      body.scores.values, query, names: [Self.user: body.profile?.displayName ?? "Player"],
      me: Self.user)
  }

  /// Nothing to follow: nobody else writes here.
  public func setupRealTimeSubscriptions() async throws {}
}
