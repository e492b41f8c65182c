public import Records

/// The row of a zone, or of a deleted zone.
public struct ZoneRow: Hashable, Sendable, Codable {
  /// The zone, spelt with `ZoneID.currentOwner`.
  public var id: ZoneID
  /// The reason of the deletion; `nil` for a live zone.
  public var deletion: ZoneDeletionReason?
  /// Distinguishes the zone from an earlier one with the same name.
  public var incarnation: UInt64
  /// The sequence number of the latest change of the zone or its records.
  public var changedAt: UInt64
  /// Tombstones up to here are forgotten.
  public var trimmedThrough: UInt64
  /// The total byte count of its records.
  public var byteCount: Int
  /// The sharing state of the zone or mount.
  public var sharing: ZoneSharing

  /// Creates the row of a zone.
  public init(
    id: ZoneID, deletion: ZoneDeletionReason? = nil, incarnation: UInt64, changedAt: UInt64,
    trimmedThrough: UInt64 = 0, byteCount: Int = 0, sharing: ZoneSharing = ZoneSharing()
  ) {
    self.id = id
    self.deletion = deletion
    self.incarnation = incarnation
    self.changedAt = changedAt
    self.trimmedThrough = trimmedThrough
    self.byteCount = byteCount
    self.sharing = sharing
  }
}

/// The sharing state of a zone.
///
/// The owner's zone counts its shares and lists its viewers. Each viewer has a row for the zone
/// too, in the viewer's shared database, which contains no records but lists the shares through
/// which the zone is visible; such a row is called a mount.
public struct ZoneSharing: Hashable, Sendable, Codable {
  /// The number of shared hierarchies in the zone.
  public var hierarchies: Int
  /// Whether the zone as a whole is shared.
  public var isZoneWide: Bool
  /// The users who see at least part of the zone in their shared databases, in order.
  public var viewers: [UserID]
  /// For a mount: the user's current and past share memberships, in the owner's sequence numbers.
  public var memberships: [ShareMembership]

  /// Creates a sharing state; by default nothing is shared.
  public init(
    hierarchies: Int = 0, isZoneWide: Bool = false, viewers: [UserID] = [],
    memberships: [ShareMembership] = []
  ) {
    self.hierarchies = hierarchies
    self.isZoneWide = isZoneWide
    self.viewers = viewers
    self.memberships = memberships
  }
}

/// The interval in which a record, or a user, was in a share.
public struct ShareMembership: Hashable, Sendable, Codable {
  /// The record name of the share.
  public var share: String
  /// The sequence number of the change that started the membership.
  public var since: UInt64
  /// The sequence number of the change that ended the membership; `nil` while it lasts.
  public var until: UInt64?

  /// Creates a membership.
  public init(share: String, since: UInt64, until: UInt64? = nil) {
    self.share = share
    self.since = since
    self.until = until
  }
}
