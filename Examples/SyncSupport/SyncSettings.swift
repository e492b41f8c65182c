import Foundation

/// What outlives the engine: whether the person wants sync, and whose data the stores hold.
struct SyncSettings: Codable, Hashable, Sendable {
  /// The switch.
  var isSyncEnabled = false

  /// The account the stores' items belong to, by its user record's name; `nil` while nobody's.
  ///
  /// It guards the case the engine can't see: sync was off, its state is gone, and somebody else
  /// signed in meanwhile.
  var owner: String?

  /// The owner of items when the file that named the owner was damaged: no user record is called
  /// this, so whoever signs in next gets the cloud's items and not these.
  static let unknownOwner = "?"
}
