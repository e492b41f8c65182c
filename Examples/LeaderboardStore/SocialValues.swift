public import Foundation
import SyncSupport

/// How a person shows in leaderboards.
///
/// Fields as in the rows L of Docs/Stores.md.
public struct UserProfile: Hashable, Sendable, Codable, Identifiable {
  /// The person; their user record's name, or a made-up one while there is no cloud.
  public var id: String
  /// What they want to be called.
  public var displayName: String
  /// The code by which friends find them, without the hyphen.
  public var friendCode: String
  /// When the profile was made.
  public var createdAt: Date
  /// When the name was last changed.
  public var updatedAt: Date

  /// Describes a person.
  public init(
    id: String, displayName: String, friendCode: String, createdAt: Date, updatedAt: Date
  ) {
    self.id = id
    self.displayName = displayName
    self.friendCode = friendCode
    self.createdAt = createdAt.roundedToMilliseconds
    self.updatedAt = updatedAt.roundedToMilliseconds
  }

  /// The name of a person who did not choose one.
  static let defaultName = "Player"

  var hasChosenName: Bool { displayName != Self.defaultName }

  /// The name as it may be kept: without spaces around it, at most 40 characters.
  ///
  /// - Throws: ``SocialServiceError/invalidName`` if there is nothing else.
  static func cleaned(_ name: String) throws(SocialServiceError) -> String {
    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty else { throw .invalidName }
    return String(name.prefix(40))
  }
}

/// That somebody's friend code was added.
///
/// Fields as in the rows L of Docs/Stores.md.
public struct FriendConnection: Hashable, Sendable, Codable {
  /// The friend's code, without the hyphen.
  public var friendCode: String
  /// When it was added.
  public var addedAt: Date

  /// Describes a connection.
  public init(friendCode: String, addedAt: Date) {
    self.friendCode = friendCode
    self.addedAt = addedAt.roundedToMilliseconds
  }
}

/// A friend as people are shown them.
public struct Friend: Hashable, Sendable {
  /// The connection.
  public var connection: FriendConnection
  /// Their profile; known once both are in the same leaderboard.
  public var profile: UserProfile?
}
