package import Records

/// What a change can wait for: a name within a group, of which few are in use at a time.
///
/// The group is kept once for all its names.
package protocol PendingKey: Hashable, Sendable {
  /// What the names are grouped by.
  associatedtype Group: Hashable & Sendable

  /// The name within the group.
  var pendingName: String { get }

  /// The group.
  var pendingGroup: Group { get }

  /// Puts the two together again.
  init(pendingName: String, group: Group)

  /// The canonical name of `group`: a zone of `user` has two names, any other zone has one.
  static func resolved(_ group: Group, for user: UserID) -> Group
}

extension RecordID: PendingKey {
  /// The record's name.
  package var pendingName: String { name }

  /// The record's zone.
  package var pendingGroup: ZoneID { zone }

  /// Names the record `pendingName` in the zone `group`.
  package init(pendingName: String, group: ZoneID) { self.init(name: pendingName, zone: group) }

  /// The zone with the owner name that change feeds use.
  package static func resolved(_ group: ZoneID, for user: UserID) -> ZoneID {
    group.owner == user.rawValue ? ZoneID(name: group.name) : group
  }
}

extension ZoneID: PendingKey {
  /// The zone's name.
  package var pendingName: String { name }

  /// The zone's owner.
  package var pendingGroup: String { owner }

  /// Names the zone `pendingName` of the owner `group`.
  package init(pendingName: String, group: String) { self.init(name: pendingName, owner: group) }

  /// The owner name that change feeds use.
  package static func resolved(_ group: String, for user: UserID) -> String {
    group == user.rawValue ? ZoneID.currentOwner : group
  }
}
