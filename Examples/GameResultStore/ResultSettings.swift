import Foundation

/// What outlives a run besides the results: whose they are, and what is known of the zone.
struct ResultSettings: Hashable, Sendable, Codable {
  /// The account the results belong to, by its user record's name; `nil` while nobody's.
  var owner: String?

  /// The owner of results when nothing tells any more whose they are: no user record is called
  /// this, so whoever signs in next does not get them.
  static let unknownOwner = "?"

  /// When the last sync of this account succeeded.
  var lastSync: Date?

  /// Whether the zone is there, as far as is known.
  var hasZone = false

  /// Whether somebody removed the zone on purpose: then it comes back only with a new result.
  var wasZoneRemoved = false
}
