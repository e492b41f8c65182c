/// An in-memory index of the record rows: row numbers by the hash of zone and name.
///
/// The names are only in the file. A row number is a candidate; the caller compares the names,
/// because hashes may collide, and a row may be deleted or hold another name by now. If every row
/// was added, a name without candidates is not in the file.
struct RecordNumbers {
  /// The hash of a zone and a name, seeded per process.
  struct Hash: Hashable {
    fileprivate let value: Int

    init(zone: Int64, bytes: UnsafeBufferPointer<UInt8>) {
      var hasher = Hasher()
      hasher.combine(zone)
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
      value = hasher.finalize()
    }

    init(zone: Int64, name: String) {
      var name = name
      self = name.withUTF8 { Hash(zone: zone, bytes: $0) }
    }
  }

  /// The number of the last row that was added or scanned.
  private(set) var last: Int64 = 0
  /// The number of deleted rows that may still be in the index.
  private(set) var goneCount = 0

  private var first: [Hash: Int64] = [:]
  /// Further rows with the same hash: a colliding name, or a record that was deleted and saved
  /// again.
  private var others: [Hash: [Int64]] = [:]

  /// The number of rows in the index.
  var count: Int { first.count + others.count }

  /// Reserves capacity for `count` rows.
  mutating func reserve(_ count: Int) { first.reserveCapacity(count) }

  /// Adds the row `number` of a record whose zone and name have this hash.
  mutating func add(_ number: Int64, _ hash: Hash) {
    last = max(last, number)
    guard let known = first.updateValue(number, forKey: hash), known != number else { return }
    others[hash, default: []].append(known)
  }

  /// The rows that may hold the record whose zone and name have this hash, the one added last
  /// first.
  func candidates(_ hash: Hash) -> [Int64] {
    guard let number = first[hash] else { return [] }
    guard !others.isEmpty, let more = others[hash] else { return [number] }
    return [number] + more.reversed()
  }

  /// Records that `count` unspecified rows were deleted from the file.
  mutating func noteGone(_ count: Int) { goneCount += count }
}
