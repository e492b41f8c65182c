/// Who changed a record on the server, from which device, and when.
public struct RecordStamp: Hashable, Sendable, Codable {
  /// The time the server took for it.
  public var time: Timestamp

  /// The user who did it.
  public var user: UserID

  /// The device it was done from, when the server knows.
  public var device: String?

  /// Notes a change by `user` at `time`.
  public init(time: Timestamp, user: UserID, device: String? = nil) {
    self.time = time
    self.user = user
    self.device = device
  }
}

/// A record as a value: what both sides of the protocol mean by one version of it.
///
/// Its parts are in one place that copies share until one of them is changed, so a copy costs one
/// retain whatever the record holds.
public struct Record: Hashable, Sendable, Codable {
  @usableFromInline var contents: RecordContents

  /// Puts a record together; only the ID and type are needed for a new one.
  public init(
    id: RecordID, type: String, changeTag: ChangeTag? = nil, fields: Fields = Fields(),
    parent: RecordID? = nil, share: RecordID? = nil, sharing: ShareDetails? = nil,
    created: RecordStamp? = nil, modified: RecordStamp? = nil
  ) {
    contents = RecordContents(
      id: id, type: type, changeTag: changeTag, fields: fields, created: created,
      modified: modified,
      relations: RecordRelations(parent: parent, share: share, sharing: sharing).map {
        .something($0)
      }
        ?? .nothing)
  }

  /// Makes sure that no other record sees a change of this one.
  @inlinable mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&contents) { contents = RecordContents(contents) }
  }

  /// The record's name and zone.
  @inlinable public var id: RecordID {
    _read { yield contents.id }
    _modify {
      makeUnique()
      yield &contents.id
    }
  }

  /// The record type, such as `ScratchTab`.
  @inlinable public var type: String {
    _read { yield contents.type }
    _modify {
      makeUnique()
      yield &contents.type
    }
  }

  /// The version on the server, absent on a record that was never saved.
  @inlinable public var changeTag: ChangeTag? {
    _read { yield contents.changeTag }
    _modify {
      makeUnique()
      yield &contents.changeTag
    }
  }

  /// The values.
  @inlinable public var fields: Fields {
    _read { yield contents.fields }
    _modify {
      makeUnique()
      yield &contents.fields
    }
  }

  /// The first save, absent before it.
  @inlinable public var created: RecordStamp? {
    _read { yield contents.created }
    _modify {
      makeUnique()
      yield &contents.created
    }
  }

  /// The latest save, absent before the first.
  @inlinable public var modified: RecordStamp? {
    _read { yield contents.modified }
    _modify {
      makeUnique()
      yield &contents.modified
    }
  }

  /// The record this one hangs under in a share hierarchy.
  public var parent: RecordID? {
    get { contents.relations.value?.parent }
    set { change { $0.parent = newValue } }
  }

  /// The share this record is in.
  public var share: RecordID? {
    get { contents.relations.value?.share }
    set { change { $0.share = newValue } }
  }

  /// What makes this record itself a share; `nil` for every other record.
  public var sharing: ShareDetails? {
    get { contents.relations.value?.sharing }
    set { change { $0.sharing = newValue } }
  }

  /// Changes the relations; what stays the same is not copied.
  private mutating func change(_ body: (inout RecordRelations) -> Void) {
    let old = contents.relations.value
    var changed = old ?? RecordRelations()
    body(&changed)
    let new = RecordRelations(
      parent: changed.parent, share: changed.share, sharing: changed.sharing)
    guard new != old else { return }
    makeUnique()
    contents.relations = Boxed(new)
  }

  /// What the record counts toward the size limits, in bytes.
  public var byteCount: Int {
    id.name.utf8.count + type.utf8.count + fields.byteCount
  }

  /// Whether two records are the same in all their parts.
  public static func == (first: Record, second: Record) -> Bool {
    let (a, b) = (first.contents, second.contents)
    return a === b
      || (a.id == b.id && a.type == b.type && a.changeTag == b.changeTag && a.fields == b.fields
        && a.created == b.created && a.modified == b.modified && a.relations == b.relations)
  }

  /// Takes all parts into a hash.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(contents.id)
    hasher.combine(contents.type)
    hasher.combine(contents.changeTag)
    hasher.combine(contents.fields)
    hasher.combine(contents.created)
    hasher.combine(contents.modified)
    hasher.combine(contents.relations)
  }
}

extension Record {
  private enum CodingKeys: String, CodingKey {
    case id, type, changeTag, fields, parent, share, sharing, created, modified
  }

  /// Reads a record; where it keeps its members does not show.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(RecordID.self, forKey: .id),
      type: try container.decode(String.self, forKey: .type),
      changeTag: try container.decodeIfPresent(ChangeTag.self, forKey: .changeTag),
      fields: try container.decode(Fields.self, forKey: .fields),
      parent: try container.decodeIfPresent(RecordID.self, forKey: .parent),
      share: try container.decodeIfPresent(RecordID.self, forKey: .share),
      sharing: try container.decodeIfPresent(ShareDetails.self, forKey: .sharing),
      created: try container.decodeIfPresent(RecordStamp.self, forKey: .created),
      modified: try container.decodeIfPresent(RecordStamp.self, forKey: .modified))
  }

  /// Writes the record; what it has not is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(type, forKey: .type)
    try container.encodeIfPresent(changeTag, forKey: .changeTag)
    try container.encode(fields, forKey: .fields)
    try container.encodeIfPresent(parent, forKey: .parent)
    try container.encodeIfPresent(share, forKey: .share)
    try container.encodeIfPresent(sharing, forKey: .sharing)
    try container.encodeIfPresent(created, forKey: .created)
    try container.encodeIfPresent(modified, forKey: .modified)
  }
}

/// A record zone as the server describes it.
public struct Zone: Hashable, Sendable, Codable {
  /// What can be done in a zone; empty until it was saved or fetched.
  public struct Capabilities: OptionSet, Hashable, Sendable, Codable {
    /// The bits, with the values CloudKit gives them.
    public var rawValue: UInt

    /// Wraps the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Changes can be fetched by token.
    public static let fetchChanges = Capabilities(rawValue: 1)
    /// A request's changes land together or not at all.
    public static let atomic = Capabilities(rawValue: 2)
    /// Records can be shared by hierarchy.
    public static let sharing = Capabilities(rawValue: 4)
    /// The whole zone can be shared.
    public static let zoneWideSharing = Capabilities(rawValue: 8)
    /// What a custom zone can do.
    public static let custom: Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
  }

  /// The zone's name and owner.
  public var id: ZoneID

  /// What can be done in it.
  public var capabilities: Capabilities

  /// The zone-wide share, where there is one.
  public var share: RecordID?

  /// Where its feed stands now, where the server said so.
  public var token: ChangeToken?

  /// Describes a zone.
  public init(
    id: ZoneID, capabilities: Capabilities = [], share: RecordID? = nil, token: ChangeToken? = nil
  ) {
    self.id = id
    self.capabilities = capabilities
    self.share = share
    self.token = token
  }
}

/// Why a zone is gone; each kind asks for something else of the app.
///
/// See CE-10 and CE-101.
public enum ZoneDeletionReason: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// An app deleted it: drop the local data.
  case deleted = 0
  /// The user removed the app's data in the settings: drop the local data, upload nothing.
  case purged = 1
  /// The user reset encrypted data: keep the local data and upload it again.
  case encryptedDataReset = 2
}

/// A zone that is gone, and why.
public struct ZoneDeletion: Hashable, Sendable, Codable {
  /// The zone that was there.
  public var zone: ZoneID

  /// Why it went.
  public var reason: ZoneDeletionReason

  /// Notes that `zone` went for `reason`.
  public init(zone: ZoneID, reason: ZoneDeletionReason) {
    self.zone = zone
    self.reason = reason
  }
}

/// A record that was deleted.
public struct RecordDeletion: Hashable, Sendable, Codable {
  /// The record that was there.
  public var id: RecordID

  /// The type that the deleted record had.
  public var type: String

  /// Notes that the record went.
  public init(id: RecordID, type: String) {
    self.id = id
    self.type = type
  }
}
