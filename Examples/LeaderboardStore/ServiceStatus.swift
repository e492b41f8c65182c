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
  /// No account has that user record.
  case unknownPerson(String)
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
    case .unknownPerson(let name):
      "there is no user “\(name)”; use the one that their profile shows"
    case .unknownLeaderboard(let name): "there is no leaderboard “\(name)” on this device"
    case .notOwner: "only the owner of a leaderboard can do that"
    case .ownerCannotLeave: "it is your own leaderboard; delete it to end it for everybody"
    case .notInLeaderboard: "that person is not in the leaderboard"
    case .notALeaderboard: "the link does not lead to a leaderboard"
    }
  }
}
