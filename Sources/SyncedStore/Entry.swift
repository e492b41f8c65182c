import Foundation

/// Everything that a store knows about one record: the item, the record's system fields and the
/// change that the server has not confirmed.
///
/// They are stored together.
struct Entry: Sendable {
  /// A change that the server has not confirmed.
  struct Change: Hashable, Sendable {
    var isDeletion: Bool
    /// Distinguishes changes of the same item; ascending.
    var number: UInt64
    /// Whether the change was handed to an engine, so that the server may have it.
    var wasOffered = false
  }

  var type: CKRecord.RecordType
  /// The position among all items, in the order in which they were created.
  var order: UInt64
  /// The item that the app sees; `nil` if it is deleted or unreadable.
  var item: (any SyncedItem)?
  /// The system fields as last seen; `nil` if the server is not known to have the record.
  var systemFields: Data?
  /// The server's version that an unsent change is based on.
  var base: (any SyncedItem)?
  /// An earlier version that was handed to an engine and not confirmed; the server may have it.
  var offered: (any SyncedItem)?
  var change: Change?
  /// The whole record that this version of the app can't read.
  var unreadable: Data?

  init(type: CKRecord.RecordType, order: UInt64) {
    self.type = type
    self.order = order
  }

  /// Whether a version is one that the unsent change was made on top of.
  func isOlder(_ version: any SyncedItem) -> Bool {
    version.isEqual(to: base) || version.isEqual(to: offered)
  }

  /// Forgets the change, which the server has.
  mutating func settle() {
    change = nil
    base = nil
    offered = nil
  }

  /// Whether the change can be sent; a save can't while the server has an unreadable version.
  var isDue: Bool { change.map { $0.isDeletion || unreadable == nil } ?? false }

  /// Whether the server may have the record.
  var mayBeOnServer: Bool { systemFields != nil || change?.wasOffered == true }

  /// Whether there is nothing left to know.
  var isEmpty: Bool {
    item == nil && change == nil && unreadable == nil
  }

  /// Forgets the record, which the server does not have.
  mutating func forgetRecord() {
    systemFields = nil
    base = nil
    offered = nil
    unreadable = nil
  }
}

extension Entry {
  /// Reads what ``encode(into:)`` wrote.
  init?(from container: KeyedDecodingContainer<StoredChange.CodingKeys>, types: KnownTypes?) throws
  {
    guard let type = try container.decodeIfPresent(String.self, forKey: .type) else { return nil }
    self.init(type: type, order: try container.decode(UInt64.self, forKey: .order))
    func decodeItem(_ key: StoredChange.CodingKeys) throws -> (any SyncedItem)? {
      guard container.contains(key) else { return nil }
      guard let type = types?.byName[type] else { throw UnknownType(recordType: self.type) }
      return try type.decode(container, key)
    }
    item = try decodeItem(.item)
    base = try decodeItem(.base)
    offered = try decodeItem(.offered)
    systemFields = try container.decodeIfPresent(Data.self, forKey: .systemFields)
    unreadable = try container.decodeIfPresent(Data.self, forKey: .unreadable)
    let save = try container.decodeIfPresent(UInt64.self, forKey: .save)
    let deletion = try container.decodeIfPresent(UInt64.self, forKey: .deletion)
    guard let number = save ?? deletion else { return }
    change = Change(
      isDeletion: save == nil, number: number, wasOffered: container.contains(.wasOffered))
  }

  /// Writes the entry beside the name of its record.
  func encode(into container: inout KeyedEncodingContainer<StoredChange.CodingKeys>) throws {
    try container.encode(type, forKey: .type)
    try container.encode(order, forKey: .order)
    if let item { try container.encode(item, forKey: .item) }
    if let base { try container.encode(base, forKey: .base) }
    if let offered { try container.encode(offered, forKey: .offered) }
    try container.encodeIfPresent(systemFields, forKey: .systemFields)
    try container.encodeIfPresent(unreadable, forKey: .unreadable)
    guard let change else { return }
    try container.encode(change.number, forKey: change.isDeletion ? .deletion : .save)
    if change.wasOffered { try container.encode(true, forKey: .wasOffered) }
  }

  /// The key of the store's types in a decoder's `userInfo`.
  static let types = CodingUserInfoKey(rawValue: "SyncedStore.types")
}

/// The types of a store, for a decoder.
final class KnownTypes: Sendable {
  let byName: [CKRecord.RecordType: SyncedType]

  init(_ types: [CKRecord.RecordType: SyncedType]) {
    byName = types
  }
}

/// A file has items of a type that the app did not name when it opened the store.
struct UnknownType: Error {
  var recordType: String
}

/// One change of a store's file: one JSON object, without others inside but the items, because
/// most of the time to open a file is spent on objects.
struct StoredChange: Codable, Sendable {
  /// The name of a record, and of its zone if it is not the store's own.
  struct Key: Codable, Hashable, Sendable {
    var name: String
    var zone: String?
    var owner: String?
  }

  /// The record whose entry is replaced by ``entry``, or removed.
  var key: Key?
  var entry: Entry?
  /// The records whose changes were handed to an engine.
  var handedOver: [Key]?
  var settings: StoreSettings?

  enum CodingKeys: String, CodingKey {
    case name = "n"
    case zone = "z"
    case owner = "o"
    case type = "t"
    case order = "p"
    case item = "i"
    case base = "b"
    case offered = "f"
    case systemFields = "s"
    case unreadable = "u"
    case save = "c"
    case deletion = "d"
    case wasOffered = "w"
    case handedOver = "h"
    case settings = "settings"
  }

  init(
    key: Key? = nil, entry: Entry? = nil, handedOver: [Key]? = nil, settings: StoreSettings? = nil
  ) {
    self.key = key
    self.entry = entry
    self.handedOver = handedOver
    self.settings = settings
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let name = try container.decodeIfPresent(String.self, forKey: .name) else {
      handedOver = try container.decodeIfPresent([Key].self, forKey: .handedOver)
      settings = try container.decodeIfPresent(StoreSettings.self, forKey: .settings)
      return
    }
    key = Key(
      name: name, zone: try container.decodeIfPresent(String.self, forKey: .zone),
      owner: try container.decodeIfPresent(String.self, forKey: .owner))
    let types = Entry.types.flatMap { decoder.userInfo[$0] } as? KnownTypes
    entry = try Entry(from: container, types: types)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(handedOver, forKey: .handedOver)
    try container.encodeIfPresent(settings, forKey: .settings)
    guard let key else { return }
    try container.encode(key.name, forKey: .name)
    try container.encodeIfPresent(key.zone, forKey: .zone)
    try container.encodeIfPresent(key.owner, forKey: .owner)
    try entry?.encode(into: &container)
  }
}

/// What a store keeps besides its items.
struct StoreSettings: Codable, Hashable, Sendable {
  /// A zone of the store.
  struct Zone: Codable, Hashable, Sendable {
    var name: String
    var owner: String
    /// Whether the zone exists on the server, as far as is known.
    var exists = false
    /// The whole record of the zone's share.
    var share: Data?

    var id: CKRecordZone.ID { CKRecordZone.ID(zoneName: name, ownerName: owner) }
  }

  /// The user record's name of the account that the items belong to; `nil` before any sign-in.
  var owner: String?
  /// Whether the user wants sync; `nil` if undecided.
  var isEnabled: Bool?
  var lastSync: Date?
  /// The checksums of the last states of the engine, each stored before the state itself.
  ///
  /// A state that is not among them knows of items that this file has not, because it is new, was
  /// damaged or restored: everything has to be fetched again.
  var states: [String] = []
  /// Values of the app that are removed with the account's items.
  var properties: [String: String] = [:]
  var zones: [Zone] = []

  /// Notes a state of the engine; the one before may still be on the disk after a crash.
  mutating func noteState(_ checksum: String) {
    states = (states + [checksum]).suffix(2)
  }

  /// The owner of items whose file was damaged: no account has this name, so that the next sign-in
  /// removes them and fetches its own.
  static let unknownOwner = "?"
}
