/// Friends, scores and leaderboards, wherever they are kept.
public protocol SocialService: Sendable {
  /// Where scores go now.
  var serviceStatus: ServiceStatus { get }

  /// The person's profile, made or renamed when needed.
  ///
  /// - Parameter displayName: the name to take; `nil` leaves it as it is.
  func ensureProfile(displayName: String?) async throws -> UserProfile

  /// The person's profile; `nil` before there is one.
  func myProfile() async throws -> UserProfile?

  /// The code to give to friends, made with the profile.
  func generateFriendCode() async throws -> FriendCode

  /// Adds a friend; one who was added before stays as they are.
  ///
  /// - Parameter code: as the person typed it.
  /// - Throws: `FriendCodeError` for a typing error.
  @discardableResult
  func addFriend(code: String) async throws -> FriendConnection

  /// Takes a friend off the list.
  func removeFriend(code: String) async throws

  /// All friends, in the order of their codes.
  func listFriends() async throws -> [Friend]

  /// Publishes the person's scores; publishing one again changes nothing.
  func publishDailyScores(_ scores: [DailyScore]) async throws

  /// The ranking of everybody whose scores are known.
  func fetchLeaderboard(_ query: LeaderboardQuery) async throws -> [LeaderboardRow]

  /// Begins to follow what others publish, by push.
  func setupRealTimeSubscriptions() async throws
}

/// Where scores go.
///
/// Words as in the rows L of Docs/Stores.md.
public enum ServiceStatus: String, Hashable, Sendable {
  /// To the cloud.
  case cloudKit
  /// To this device only.
  case local

  /// What to call it.
  public var displayName: String {
    switch self {
    case .cloudKit: "Real-time Sync"
    case .local: "Local Storage"
    }
  }

  /// What it means.
  public var description: String {
    switch self {
    case .cloudKit: "Scores sync automatically across devices"
    case .local: "Scores stored locally on this device"
    }
  }
}

/// Why a call of a social service could not be carried out.
public enum SocialServiceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cloud can't be used now, and why.
  case cloudKitUnavailable(String)
  /// A game's ID has a form no game has.
  case invalidGame
  /// A number is no day.
  case invalidDay(Int)
  /// There is no name in it.
  case invalidName
  /// The code is the person's own.
  case ownFriendCode
  /// There is no such friend.
  case unknownFriend
  /// There is no such leaderboard.
  case unknownLeaderboard(String)
  /// Only the leaderboard's owner can do that.
  case notOwner
  /// The owner can't leave their own leaderboard.
  case ownerCannotLeave
  /// The person is not in the leaderboard.
  case notInLeaderboard
  /// The link belongs to something else.
  case notALeaderboard

  /// One sentence for people.
  public var description: String {
    switch self {
    case .cloudKitUnavailable(let reason): reason
    case .invalidGame:
      "a game's ID has 1 to 64 letters, digits, hyphens, dots or underscores"
    case .invalidDay(let number): "\(number) is not a day; write one such as 20261103"
    case .invalidName: "a name needs at least one letter"
    case .ownFriendCode: "that is your own friend code; give it to a friend and add theirs"
    case .unknownFriend: "none of your friends has that code"
    case .unknownLeaderboard(let name): "there is no leaderboard “\(name)” on this device"
    case .notOwner: "only the owner of a leaderboard can do that"
    case .ownerCannotLeave: "it is your own leaderboard; delete it to end it for everybody"
    case .notInLeaderboard: "that person is not in the leaderboard"
    case .notALeaderboard: "the link does not lead to a leaderboard"
    }
  }
}
