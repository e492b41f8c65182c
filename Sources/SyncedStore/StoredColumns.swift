import DurableFiles
import Foundation

/// One change of a store's file.
struct StoredChange: Sendable {
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
}

/// Changes as a store's file holds them: one JSON object for the entries of one type in one zone,
/// with an array for each part of an entry.
///
/// Most of the time to open a file is spent on objects, so there are none inside but the items.
struct StoredColumns: Codable, Sendable {
  private(set) var changes: [StoredChange]

  /// The parts that do not depend on the type of the items; an array that would hold nothing is not
  /// written.
  private struct Columns: Codable {
    var names: [String]?
    var zone: String?
    var owner: String?
    var type: String?
    var orders: [UInt64]?
    var systemFields: [Data?]?
    var unreadable: [Data?]?
    /// The numbers of changes that are saves, and of those that are deletions; 0 for the others.
    var saves: [UInt64]?
    var deletions: [UInt64]?
    var wereOffered: [Bool]?
    /// Older files do not tell which change it was, and have only `wereOffered`.
    var areHandedOver: [Bool]?
    var handedOver: [StoredChange.Key]?
    var settings: StoreSettings?

    enum CodingKeys: String, CodingKey {
      case names = "n"
      case zone = "z"
      case owner = "o"
      case type = "t"
      case orders = "p"
      case systemFields = "s"
      case unreadable = "u"
      case saves = "c"
      case deletions = "d"
      case wereOffered = "w"
      case areHandedOver = "H"
      case handedOver = "h"
      case settings = "settings"
    }
  }

  /// The items, and the indexes of their entries, which are left out if each entry has one item.
  enum ItemKeys: String, CodingKey {
    case items = "i"
    case itemIndexes = "I"
    case bases = "b"
    case baseIndexes = "B"
    case offered = "f"
    case offeredIndexes = "F"

    /// The key of a column's indexes is its own in upper case.
    var indexes: ItemKeys { ItemKeys(rawValue: rawValue.uppercased()) ?? self }
  }

  /// The most changes in an object: several objects are decoded at a time.
  private static let mostChanges = 4_096

  /// Divides changes by type and zone; each record has one change at most.
  static func columns(of changes: [StoredChange]) -> [StoredColumns] {
    struct Kind: Hashable {
      var type: CKRecord.RecordType?
      var zone: String?
      var owner: String?
    }
    var columns: [StoredColumns] = []
    var places: [Kind: Int] = [:]
    for change in changes {
      guard let key = change.key else {
        columns.append(StoredColumns(changes: [change]))
        continue
      }
      let kind = Kind(type: change.entry?.type, zone: key.zone, owner: key.owner)
      if let place = places[kind], columns[place].changes.count < mostChanges {
        columns[place].changes.append(change)
      } else {
        places[kind] = columns.count
        columns.append(StoredColumns(changes: [change]))
      }
    }
    return columns
  }

  private init(changes: [StoredChange]) { self.changes = changes }

  // MARK: Decoding

  init(from decoder: any Decoder) throws {
    let columns = try Columns(from: decoder)
    guard let names = columns.names else {
      changes = [StoredChange(handedOver: columns.handedOver, settings: columns.settings)]
      return
    }
    changes = names.map { name in
      StoredChange(
        key: StoredChange.Key(name: name, zone: columns.zone, owner: columns.owner))
    }
    guard let type = columns.type else { return }
    let counts = [
      columns.orders?.count ?? 0, columns.systemFields?.count, columns.unreadable?.count,
      columns.saves?.count, columns.deletions?.count, columns.wereOffered?.count,
      columns.areHandedOver?.count,
    ]
    guard counts.allSatisfy({ $0 ?? names.count == names.count }) else { throw damage(decoder) }
    for index in names.indices { changes[index].entry = entry(index, type, columns) }
    let types = Self.types.flatMap { decoder.userInfo[$0] } as? [CKRecord.RecordType: SyncedType]
    try readItems(types?[type], named: type, from: decoder)
  }

  private func entry(_ index: Int, _ type: CKRecord.RecordType, _ columns: Columns) -> Entry {
    var entry = Entry(type: type, order: columns.orders?[index] ?? 0)
    entry.systemFields = columns.systemFields?[index]
    entry.unreadable = columns.unreadable?[index]
    let (save, deletion) = (columns.saves?[index] ?? 0, columns.deletions?[index] ?? 0)
    if save > 0 || deletion > 0 {
      entry.change = Entry.Change(
        isDeletion: save == 0, number: save > 0 ? save : deletion,
        wasOffered: columns.wereOffered?[index] ?? false,
        isHandedOver: (columns.areHandedOver ?? columns.wereOffered)?[index] ?? false)
    }
    return entry
  }

  private mutating func readItems(
    _ type: SyncedType?, named name: String, from decoder: any Decoder
  ) throws {
    let container = try decoder.container(keyedBy: ItemKeys.self)
    for key in [ItemKeys.items, .bases, .offered] where container.contains(key) {
      guard let type else {
        throw UnusableContent(
          "it has items of the type \(name), which `types` does not name. Nothing was changed.")
      }
      let items: [any SyncedItem]
      do { items = try type.decode(container, key) } catch {
        throw UnusableContent(
          "an item of the type \(name) has another form than the type\(Self.place(error, key)). "
            + "Nothing was changed. Give what is missing a default in the type's `init(from:)`.")
      }
      let indexes =
        try container.decodeIfPresent([Int].self, forKey: key.indexes) ?? Array(changes.indices)
      guard indexes.count == items.count, indexes.allSatisfy(changes.indices.contains) else {
        throw damage(decoder)
      }
      for (index, item) in zip(indexes, items) {
        switch key {
        case .items: changes[index].entry?.item = item
        case .bases: changes[index].entry?.base = item
        default: changes[index].entry?.offered.append(item)
        }
      }
    }
  }

  /// The key path in an item at which it can't be decoded.
  private static func place(_ error: any Error, _ key: ItemKeys) -> String {
    let path: [any CodingKey] =
      switch error as? DecodingError {
      case .keyNotFound(let key, let context): context.codingPath + [key]
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        context.codingPath
      default: []
      }
    let names = path.drop { $0.stringValue != key.stringValue }.dropFirst()
      .filter { $0.intValue == nil }.map(\.stringValue)
    return names.isEmpty ? "" : " at `\(names.joined(separator: "."))`"
  }

  private func damage(_ decoder: any Decoder) -> DecodingError {
    .dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "an array does not fit the names"))
  }

  // MARK: Encoding

  func encode(to encoder: any Encoder) throws {
    var columns = Columns()
    columns.handedOver = changes.first?.handedOver
    columns.settings = changes.first?.settings
    guard let key = changes.first?.key else { return try columns.encode(to: encoder) }
    columns.names = changes.compactMap { $0.key?.name }
    columns.zone = key.zone
    columns.owner = key.owner
    let entries = changes.compactMap(\.entry)
    columns.type = entries.first?.type
    if !entries.isEmpty { columns.orders = entries.map(\.order) }
    func column<Value>(_ part: (Entry) -> Value, unless isNothing: (Value) -> Bool) -> [Value]? {
      let values = entries.map(part)
      return values.allSatisfy(isNothing) ? nil : values
    }
    func number(_ change: Entry.Change?, ofDeletion isDeletion: Bool) -> UInt64 {
      change.map { $0.isDeletion == isDeletion ? $0.number : 0 } ?? 0
    }
    columns.systemFields = column(\.systemFields) { $0 == nil }
    columns.unreadable = column(\.unreadable) { $0 == nil }
    columns.saves = column({ number($0.change, ofDeletion: false) }, unless: { $0 == 0 })
    columns.deletions = column({ number($0.change, ofDeletion: true) }, unless: { $0 == 0 })
    columns.wereOffered = column({ $0.change?.wasOffered == true }, unless: { !$0 })
    if columns.wereOffered != nil {
      columns.areHandedOver = entries.map { $0.change?.isHandedOver == true }
    }
    try columns.encode(to: encoder)
    var container = encoder.container(keyedBy: ItemKeys.self)
    try Self.write(entries.map { $0.item.map { [$0] } ?? [] }, .items, &container)
    try Self.write(entries.map { $0.base.map { [$0] } ?? [] }, .bases, &container)
    try Self.write(entries.map(\.offered), .offered, &container)
  }

  private static func write(
    _ items: [[any SyncedItem]], _ key: ItemKeys,
    _ container: inout KeyedEncodingContainer<ItemKeys>
  ) throws {
    let indexes = items.indices.flatMap { index in items[index].map { _ in index } }
    guard !indexes.isEmpty else { return }
    if !indexes.elementsEqual(items.indices) {
      try container.encode(indexes, forKey: key.indexes)
    }
    var column = container.nestedUnkeyedContainer(forKey: key)
    for item in items.joined() { try column.encode(item) }
  }

  /// The key of the store's types, by name, in a decoder's `userInfo`.
  static let types = CodingUserInfoKey(rawValue: "SyncedStore.types")
}

extension Journal<StoredColumns> {
  /// Adds changes, which are durable when this returns.
  mutating func append(_ changes: [StoredChange]) throws(FileError) {
    try append(StoredColumns.columns(of: changes))
  }
}
