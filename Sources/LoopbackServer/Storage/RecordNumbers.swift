/// Which rows of the file may hold a name: row numbers under the hashes of zones and names.
///
/// The names stay in the file. A number found here is where to look, and who looks compares the
/// names: two may have one hash, and a row may be gone or hold another name by now. What is not
/// found here is not in the file, if every row was added.
struct RecordNumbers {
  /// What a zone and the bytes of a name are found by, another number in each process.
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

  /// The number of the last row that was added or looked through.
  private(set) var last: Int64 = 0
  /// Rows that are gone from the file and may still have their number here.
  private(set) var goneCount = 0

  private var first: [Hash: Int64] = [:]
  /// What shares a hash with another row: a second name, or one that was gone and came again.
  private var others: [Hash: [Int64]] = [:]

  /// How many rows are known.
  var count: Int { first.count + others.count }

  /// Makes room for `count` rows.
  mutating func reserve(_ count: Int) { first.reserveCapacity(count) }

  /// Adds the row `number`, which holds a record whose zone and name have this hash.
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

  /// Notes that rows went from the file, it is not known which.
  mutating func noteGone(_ count: Int) { goneCount += count }
}
