import CloudSync

/// Names in a state store: all of them in the snapshot, and one in each entry behind it.
enum StoredNames {
  private static let space = UInt8(ascii: " ")

  /// The names, oldest first.
  static func of(_ contents: StateStoreContents?) -> [String] {
    guard let contents else { return [] }
    return contents.snapshot.split(separator: space).map { String(decoding: $0, as: UTF8.self) }
      + contents.entries.map { String(decoding: $0.prefix { $0 != space }, as: UTF8.self) }
  }

  static func snapshot(_ names: [String]) -> [UInt8] {
    Array(names.joined(separator: " ").utf8) + [space]
  }

  static func entry(_ name: String, filler: Int) -> [UInt8] {
    Array(name.utf8) + [UInt8](repeating: space, count: filler)
  }
}
