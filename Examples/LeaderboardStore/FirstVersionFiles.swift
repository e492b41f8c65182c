import Foundation
import SyncSupport
import SyncedStore

/// The files of the first version: what the cloud had, and what waited for it.
///
/// The copies in leaderboards are fetched again.
struct FirstVersionFiles {
  private struct Kept<Value: Codable & Sendable>: Codable, Sendable {
    var value: Value
    var systemFields: Data?
    var isUnsent: Bool
  }

  /// A file; what the cloud had is kept with system fields, what waited without.
  private struct Content<Profile, Friend, Score>: Codable, Sendable
  where
    Profile: Codable & Sendable, Friend: Codable & Sendable, Score: Codable & Sendable
  {
    var owner: String?
    var profile: Profile?
    var friends: [String: Friend]
    var goneFriends: Set<String>
    var scores: [String: Score]
    var lastSync: Date?
  }

  private typealias Book = Content<Kept<UserProfile>, Kept<FriendConnection>, Kept<DailyScore>>
  private typealias Queue = Content<UserProfile, FriendConnection, DailyScore>

  private static let book = "leaderboards.json"
  private static let queue = "social-local.json"

  let folder: DocumentFolder
  let scoring: LeaderboardScoring

  /// Opens the store of the private database with the content of the files, if there are any.
  func open(_ types: [SyncedType]) throws -> SyncedStore {
    try folder.takeOver([Self.book, Self.queue]) { directory, isRecovering in
      try SyncedStore(
        zoneID: LeaderboardZones.social, directory: directory, types: types,
        files: .init(items: "leaderboards.journal", state: "leaderboard-private-state.data"),
        recovering: isRecovering,
        accepting: { $0 == LeaderboardZones.social || LeaderboardZones.isLeaderboard($0) },
        recreating: { $0 == LeaderboardZones.social }, importing: add)
    }
  }

  private func add(to content: inout SyncedStoreImport) throws {
    let book = try folder.read(Book.self, Self.book, format: "social-book")
    let queue = try folder.read(Queue.self, Self.queue, format: "social-local")
    content.owner = book?.owner ?? queue?.owner
    content.lastSync = book?.lastSync
    func add(_ item: some SyncedItem, _ systemFields: Data? = nil, isUnsent: Bool = true) throws {
      try content.add(item, systemFields: systemFields, isUnsent: isUnsent, wasOffered: isUnsent)
    }
    if let kept = book?.profile {
      try add(Signed(kept.value), kept.systemFields, isUnsent: kept.isUnsent)
    }
    for kept in (book?.friends ?? [:]).values {
      try add(kept.value, kept.systemFields, isUnsent: kept.isUnsent)
    }
    for kept in (book?.scores ?? [:]).values {
      try add(Signed(kept.value), kept.systemFields, isUnsent: kept.isUnsent)
    }
    for code in (book?.goneFriends ?? []).union(queue?.goneFriends ?? []) {
      try content.addDeletion(
        of: FriendConnection.self, named: FriendConnection.recordName(of: code),
        systemFields: book?.friends[code]?.systemFields)
    }
    guard let queue else { return }
    // Without system fields, so that they are merged with what the cloud has.
    let person = queue.owner ?? Signed<UserProfile>.nobody
    for friend in queue.friends.values where book?.friends[friend.friendCode] == nil {
      try add(friend)
    }
    if var profile = queue.profile {
      profile.id = person
      try add(Signed(profile))
    }
    for var score in queue.scores.values {
      score.userId = person
      try add(Signed(book?.scores[score.id].map { scoring.joined($0.value, score) } ?? score))
    }
  }
}
