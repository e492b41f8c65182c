public import Records

/// The current state of a record, or the tombstone of a deleted one.
public struct RecordRow: Hashable, Sendable, Codable {
  /// The record's name and zone, spelt with `ZoneID.currentOwner`.
  public var id: RecordID
  /// The record type, kept for tombstones too.
  public var type: String
  /// The record; `nil` for a tombstone.
  public var record: Record?
  /// The sequence number of its latest change.
  public var changedAt: UInt64
  /// The device that made the latest change; for a tombstone the device that created the record,
  /// which gets the deletion in a first fetch.
  public var device: String?
  /// The current and past memberships in hierarchical shares, the latest last; at most one is open.
  public var memberships: [ShareMembership]

  /// Creates the row of a record or a tombstone.
  public init(
    id: RecordID, type: String, record: Record?, changedAt: UInt64, device: String?,
    memberships: [ShareMembership] = []
  ) {
    self.id = id
    self.type = type
    self.record = record
    self.changedAt = changedAt
    self.device = device
    self.memberships = memberships
  }
}

/// A reference from a live record to another record.
public struct RecordLink: Hashable, Sendable, Codable {
  /// The kind of a reference.
  public enum Kind: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// The target is the holder's parent in a share hierarchy.
    case parent = 0
    /// A reference field that deletes the holder with the target.
    case deleteSelf = 1
    /// The target cannot be deleted while the holder refers to it.
    case validating = 2
  }

  /// The referring record.
  public var holder: RecordID
  /// The kind of the reference.
  public var kind: Kind

  /// Creates a link.
  public init(holder: RecordID, kind: Kind) {
    self.holder = holder
    self.kind = kind
  }
}

extension Record {
  /// The references whose integrity the server maintains; a share is deleted with its root.
  public var links: [(target: RecordID, kind: RecordLink.Kind)] {
    var links: [(target: RecordID, kind: RecordLink.Kind)] = []
    if let parent { links.append((parent, .parent)) }
    if let root = sharing?.root { links.append((root, .deleteSelf)) }
    for element in fields { element.field.value.collectLinks(into: &links) }
    return links
  }
}

extension FieldValue {
  /// Adds the references of the value whose integrity the server maintains.
  func collectLinks(into links: inout [(target: RecordID, kind: RecordLink.Kind)]) {
    switch self {
    case .reference(let reference):
      switch reference.action {
      case .none: break
      case .deleteSelf: links.append((reference.target, .deleteSelf))
      case .validate: links.append((reference.target, .validating))
      }
    case .list(let values): for value in values { value.collectLinks(into: &links) }
    case .string, .int64, .double, .date, .bytes, .asset, .location: break
    }
  }
}
