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

  enum CodingKeys: String, CodingKey {
    case names = "n"
    case zone = "z"
    case owner = "o"
    case type = "t"
    case orders = "p"
    case items = "i"
    case itemPlaces = "I"
    case bases = "b"
    case basePlaces = "B"
    case offered = "f"
    case offeredPlaces = "F"
    case systemFields = "s"
    case unreadable = "u"
    case saves = "c"
    case deletions = "d"
    case wereOffered = "w"
    case areHandedOver = "H"
    case handedOver = "h"
    case settings = "settings"
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

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let names = try container.decodeIfPresent([String].self, forKey: .names) else {
      changes = [
        StoredChange(
          handedOver: try container.decodeIfPresent(
            [StoredChange.Key].self, forKey: .handedOver),
          settings: try container.decodeIfPresent(StoreSettings.self, forKey: .settings))
      ]
      return
    }
    let zone = try container.decodeIfPresent(String.self, forKey: .zone)
    let owner = try container.decodeIfPresent(String.self, forKey: .owner)
    changes = names.map {
      StoredChange(key: StoredChange.Key(name: $0, zone: zone, owner: owner))
    }
    guard let type = try container.decodeIfPresent(String.self, forKey: .type) else { return }
    let types = Self.types.flatMap { decoder.userInfo[$0] } as? KnownTypes
    try readEntries(type, types, from: container)
  }

  private mutating func readEntries(
    _ name: String, _ types: KnownTypes?, from container: KeyedDecodingContainer<CodingKeys>
  ) throws {
    func values<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type) throws -> [Value]? {
      guard container.contains(key) else { return nil }
      let values = try container.decode([Value].self, forKey: key)
      guard values.count == changes.count else { throw Self.damage(key, container) }
      return values
    }
    guard let orders = try values(.orders, UInt64.self) else {
      throw Self.damage(.orders, container)
    }
    let (fields, unreadable) = (
      try values(.systemFields, Data?.self), try values(.unreadable, Data?.self)
    )
    let (saves, deletions) = (
      try values(.saves, UInt64.self), try values(.deletions, UInt64.self)
    )
    let offered = try values(.wereOffered, Bool.self)
    // Older files do not tell which change it was.
    let areHandedOver = try values(.areHandedOver, Bool.self) ?? offered
    for index in changes.indices {
      var entry = Entry(type: name, order: orders[index])
      entry.systemFields = fields?[index]
      entry.unreadable = unreadable?[index]
      let (save, deletion) = (saves?[index] ?? 0, deletions?[index] ?? 0)
      if save > 0 || deletion > 0 {
        entry.change = Entry.Change(
          isDeletion: save == 0, number: save > 0 ? save : deletion,
          wasOffered: offered?[index] ?? false, isHandedOver: areHandedOver?[index] ?? false)
      }
      changes[index].entry = entry
    }
    for (key, places) in [
      (CodingKeys.items, CodingKeys.itemPlaces), (.bases, .basePlaces),
      (.offered, .offeredPlaces),
    ]
    where container.contains(key) {
      guard let type = types?.byName[name] else { throw UnknownType(recordType: name) }
      let items = try type.decode(container, key)
      let indexes =
        try container.decodeIfPresent([Int].self, forKey: places) ?? Array(changes.indices)
      guard indexes.count == items.count, indexes.allSatisfy(changes.indices.contains) else {
        throw Self.damage(key, container)
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

  private static func damage(
    _ key: CodingKeys, _ container: KeyedDecodingContainer<CodingKeys>
  ) -> DecodingError {
    .dataCorruptedError(
      forKey: key, in: container, debugDescription: "the array does not fit the names")
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    guard let key = changes.first?.key else {
      try container.encodeIfPresent(changes.first?.handedOver, forKey: .handedOver)
      try container.encodeIfPresent(changes.first?.settings, forKey: .settings)
      return
    }
    try container.encode(changes.compactMap { $0.key?.name }, forKey: .names)
    try container.encodeIfPresent(key.zone, forKey: .zone)
    try container.encodeIfPresent(key.owner, forKey: .owner)
    let entries = changes.compactMap(\.entry)
    guard let type = entries.first?.type else { return }
    try container.encode(type, forKey: .type)
    try container.encode(entries.map(\.order), forKey: .orders)
    // A part that no entry has is not written.
    func write<Value: Encodable>(
      _ key: CodingKeys, _ values: [Value], isThere: (Value) -> Bool
    ) throws {
      if values.contains(where: isThere) { try container.encode(values, forKey: key) }
    }
    // Without places there is one for each entry.
    func writeItems(
      _ key: CodingKeys, _ places: CodingKeys, _ items: (Entry) -> [any SyncedItem]
    ) throws {
      let indexes = entries.indices.flatMap { index in items(entries[index]).map { _ in index } }
      guard !indexes.isEmpty else { return }
      if !indexes.elementsEqual(entries.indices) { try container.encode(indexes, forKey: places) }
      var column = container.nestedUnkeyedContainer(forKey: key)
      for item in entries.lazy.flatMap(items) { try column.encode(item) }
    }
    func writeNumbers(_ key: CodingKeys, areDeletions: Bool) throws {
      let numbers = entries.map { entry in
        entry.change.map { $0.isDeletion == areDeletions ? $0.number : 0 } ?? 0
      }
      try write(key, numbers) { $0 > 0 }
    }
    try writeItems(.items, .itemPlaces) { $0.item.map { [$0] } ?? [] }
    try writeItems(.bases, .basePlaces) { $0.base.map { [$0] } ?? [] }
    try writeItems(.offered, .offeredPlaces, \.offered)
    try write(.systemFields, entries.map(\.systemFields)) { $0 != nil }
    try write(.unreadable, entries.map(\.unreadable)) { $0 != nil }
    try writeNumbers(.saves, areDeletions: false)
    try writeNumbers(.deletions, areDeletions: true)
    let wereOffered = entries.map { $0.change?.wasOffered == true }
    try write(.wereOffered, wereOffered) { $0 }
    if wereOffered.contains(true) {
      try container.encode(
        entries.map { $0.change?.isHandedOver == true }, forKey: .areHandedOver)
    }
  }

  /// The key of the store's types in a decoder's `userInfo`.
  static let types = CodingUserInfoKey(rawValue: "SyncedStore.types")
}

extension Journal<StoredColumns> {
  /// Adds changes, which are durable when this returns.
  mutating func append(_ changes: [StoredChange]) throws(FileError) {
    try append(StoredColumns.columns(of: changes))
  }
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
