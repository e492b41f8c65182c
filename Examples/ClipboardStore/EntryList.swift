import Foundation

/// The entries, newest first where order is asked for, with quick access by ID.
public struct EntryList: Sendable {
  private var entries: [UUID: ClipboardEntry] = [:]

  /// Creates an empty list.
  public init() {}

  /// Whether the older store's entries have moved in.
  var hasMigrated = false

  /// The entries, newest first.
  var newestFirst: [ClipboardEntry] { entries.values.sorted { $0.isAbove($1) } }

  /// How many entries there are.
  var count: Int { entries.count }

  /// The entry `id`, or `nil`.
  subscript(id: UUID) -> ClipboardEntry? {
    get { entries[id] }
    set { entries[id] = newValue }
  }

  /// Removes the oldest entries of each kind until `limit` are left of it.
  ///
  /// Texts and images are counted apart: images are known to one device only, and counting them
  /// in would make devices disagree about which texts are too many.
  ///
  /// - Returns: what was removed.
  mutating func keepNewest(_ limit: Int) -> [ClipboardEntry] {
    guard entries.count > limit else { return [] }
    let sorted = newestFirst
    let gone =
      sorted.filter { $0.isText }.dropFirst(limit)
      + sorted.filter { !$0.isText }.dropFirst(limit)
    for entry in gone { entries[entry.id] = nil }
    return Array(gone)
  }

  /// Keeps images only.
  public mutating func removeSynced() {
    entries = entries.filter { !$0.value.isText }
    hasMigrated = false
  }
}

extension EntryList: Codable {
  private enum CodingKeys: String, CodingKey {
    case entries, hasMigrated
  }

  /// Reads the file's form.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let list = try container.decode([ClipboardEntry].self, forKey: .entries)
    entries = Dictionary(list.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    hasMigrated = try container.decode(Bool.self, forKey: .hasMigrated)
  }

  /// Writes the file's form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(newestFirst, forKey: .entries)
    try container.encode(hasMigrated, forKey: .hasMigrated)
  }
}
