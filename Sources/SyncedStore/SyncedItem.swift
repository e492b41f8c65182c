public import Foundation

/// An item of an app that a ``SyncedStore`` keeps on the device and syncs as one record.
///
/// The store keeps items with their `Codable` form, and compares versions with `==`. Equal items
/// must have equal fields, to the byte, or a change can be missed.
public protocol SyncedItem: Codable, Equatable, Sendable {
  /// The type of the items' records, the same in all versions of the app.
  static var recordType: CKRecord.RecordType { get }

  /// The name of the item's record, unique in its zone: 1 to 255 ASCII characters, the first of
  /// which is no underscore.
  ///
  /// An `Identifiable` item whose `id` is a `UUID` or a `String` has it already.
  var recordName: String { get }

  /// Whether the item is sent; `false` keeps it on this device. The default is `true`.
  ///
  /// An item that is saved with `false` after it was sent is deleted on the server. Versions of
  /// other devices are ignored meanwhile; the merge policy decides when the item is sent again.
  var isSynced: Bool { get }

  /// Reads a record; `nil` if this version of the app can't, because a newer one wrote it.
  ///
  /// The store keeps such a record and reads it again at each start. A field that is missing should
  /// get a default that is the same on every device.
  init?(_ record: CKRecord)

  /// Reads a record of an item that this device has: for a type with properties that are not sent.
  ///
  /// A property that ``copy(to:)`` does not write is taken from `current`; otherwise it has its
  /// default after each record from the server, also that of a save by this device. Without this
  /// member the record is read alone.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - current: the item on this device; `nil` if there is none.
  init?(_ record: CKRecord, current: Self?)

  /// Copies the item's fields onto a record.
  ///
  /// - Parameter record: a record that carries the change tag of the server's version, or a new
  /// one.
  ///   Fields that are not set keep the server's value.
  func copy(to record: CKRecord)
}

extension SyncedItem {
  /// The item is sent.
  public var isSynced: Bool { true }

  /// Reads the record alone: all properties of the item are sent.
  public init?(_ record: CKRecord, current: Self?) { self.init(record) }

  /// Whether `other` is an item of the same type with the same value.
  func isEqual(to other: (any SyncedItem)?) -> Bool { other as? Self == self }
}

extension SyncedItem where Self: Identifiable, ID == UUID {
  /// The UUID in upper case.
  public var recordName: String { id.uuidString }
}

extension SyncedItem where Self: Identifiable, ID == String {
  /// The item's `id`, which must be unique among the items of a zone.
  public var recordName: String { id }
}

/// A type of items in a ``SyncedStore``, with the rules for their records.
///
/// ```swift
/// SyncedType(Note.self, merging: .laterWins { $0.modified })
/// ```
public struct SyncedType: Sendable {
  let recordType: CKRecord.RecordType
  let read: @Sendable (CKRecord, _ current: (any SyncedItem)?) -> (any SyncedItem)?
  let write: @Sendable (any SyncedItem, CKRecord) -> Void
  let resolve:
    @Sendable (_ mine: any SyncedItem, _ server: ServerVersion, _ base: (any SyncedItem)?, Bool)
      -> Decision
  let surplus: (@Sendable ([any SyncedItem]) -> [String])?
  let decode:
    @Sendable (KeyedDecodingContainer<StoredColumns.ItemKeys>, StoredColumns.ItemKeys) throws
      -> [any SyncedItem]
  /// Whether the policy decides about items without an unsent change, too.
  let mergesAlways: Bool

  enum ServerVersion {
    case item(any SyncedItem)
    case deleted
    case unreadable
  }

  /// The decision of a policy, with types erased.
  enum Decision {
    case mine
    case server
    case merged(any SyncedItem)
  }

  /// Describes a type of items.
  ///
  /// - Parameters:
  ///   - type: the type; its `recordType` is unique in a store.
  ///   - policy: decides which version is kept when the server has another one.
  ///   - read: reads a record of an item with its version on this device, in place of
  ///     `Item.init(_:current:)`.
  ///   - write: copies an item onto a record, in place of `copy(to:)`.
  ///   - surplus: returns those of all items that exceed a limit of the app; they are deleted. It
  ///     is called after each change of an item of the type, and costs their number.
  public init<Item: SyncedItem>(
    _ type: Item.Type, merging policy: MergePolicy<Item>,
    reading read: @escaping @Sendable (CKRecord, _ current: Item?) -> Item? = {
      Item($0, current: $1)
    },
    writing write: @escaping @Sendable (Item, CKRecord) -> Void = { $0.copy(to: $1) },
    surplus: (@Sendable ([Item]) -> [Item])? = nil
  ) {
    recordType = Item.recordType
    mergesAlways = policy.mergesAlways
    self.read = { record, current in
      record.recordType == Item.recordType ? read(record, current as? Item) : nil
    }
    self.write = { item, record in
      if let item = item as? Item { write(item, record) }
    }
    if let surplus {
      self.surplus = { items in surplus(items.compactMap { $0 as? Item }).map(\.recordName) }
    } else {
      self.surplus = nil
    }
    decode = { try $0.decode([Item].self, forKey: $1) }
    resolve = { mine, server, base, isUnsent in
      let theirs: MergePolicy<Item>.ServerVersion? =
        switch server {
        case .item(let item): (item as? Item).map { .item($0) }
        case .deleted: .deleted
        case .unreadable: .unreadable
        }
      guard let mine = mine as? Item, let theirs else { return .server }
      let conflict = MergePolicy<Item>.Conflict(
        mine: mine, server: theirs, base: base as? Item, isUnsent: isUnsent)
      return switch policy.resolve(conflict) {
      case .mine: .mine
      case .server: .server
      case .merged(let item): item == mine ? .mine : .merged(item)
      }
    }
  }
}
