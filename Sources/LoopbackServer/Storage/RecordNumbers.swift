/// Which rows of the file may hold a name: row numbers under the hashes of zones and names.
///
/// The names stay in the file. A number found here is where to look, and who looks compares the
/// names: two may have one hash, and a row may be gone or hold another name by now. What is not
/// found here is not in the file, if every row was added.
struct RecordNumbers {
  /// The number of the last row that was added or looked through.
  private(set) var last: Int64 = 0
  /// Rows that are gone from the file and may still have their number here.
  private(set) var goneCount = 0

  private var first: [Int: Int64] = [:]
  /// What shares a hash with another row: a second name, or one that was gone and came again.
  private var others: [Int: [Int64]] = [:]

  /// How many rows are known.
  var count: Int { first.count + others.count }

  /// Adds the row `number`, which holds the record called `name` of a zone.
  mutating func add(_ number: Int64, zone: Int64, name: String) {
    last = max(last, number)
    let hash = RecordNumbers.hash(zone, name)
    guard let known = first.updateValue(number, forKey: hash), known != number else { return }
    others[hash, default: []].append(known)
  }

  /// The rows that may hold the record called `name` of a zone, the one added last first.
  func candidates(zone: Int64, name: String) -> [Int64] {
    let hash = RecordNumbers.hash(zone, name)
    guard let number = first[hash] else { return [] }
    guard !others.isEmpty, let more = others[hash] else { return [number] }
    return [number] + more.reversed()
  }

  /// Notes that rows went from the file, it is not known which.
  mutating func remove(_ count: Int) { goneCount += count }

  private static func hash(_ zone: Int64, _ name: String) -> Int {
    var hasher = Hasher()
    hasher.combine(zone)
    hasher.combine(name)
    return hasher.finalize()
  }
}
