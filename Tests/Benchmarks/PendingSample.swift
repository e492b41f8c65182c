import Records
import SyncMachine

/// The names that the benchmarks of pending changes work with, made once.
enum PendingSample {
  /// The key that a user would store in a set.
  struct Key: Hashable, Sendable {
    let zone: String
    let name: String
  }

  static let zone = ZoneID(name: "Notes")

  /// The length of each name in bytes.
  static let nameLength = 36

  /// A million names of the shape most apps use, in no order.
  static let names: [String] = (0..<1_000_000).map(name)

  /// The name with this number.
  static func name(_ number: Int) -> String {
    let mixed = UInt64(truncatingIfNeeded: number &+ 1) &* 0x9e37_79b9_7f4a_7c15
    let text = String(mixed, radix: 16, uppercase: true)
    let wide = String(repeating: "0", count: 16 - text.count) + text
    return "\(wide.prefix(8))-\(wide.suffix(4))-4000-8000-\(wide.suffix(12))"
  }

  /// Saves of the first `count` names.
  static func changes(_ count: Int) -> [PendingChange<RecordID>] {
    names.prefix(count).map { PendingChange(.save, RecordID(name: $0, zone: zone)) }
  }

  /// The first `count` names as a user would keep them.
  static func keys(_ count: Int) -> [Key] {
    names.prefix(count).map { Key(zone: zone.name, name: $0) }
  }

  /// The numbers to `count`, each once, in a random order.
  static func shuffled(_ count: Int) -> [Int] { (0..<count).shuffled() }

  /// A set that holds `changes`.
  static func pending(_ changes: [PendingChange<RecordID>]) -> PendingChanges<RecordID> {
    var pending = PendingChanges<RecordID>()
    for change in changes { pending.add(change) }
    return pending
  }

  /// A state with `count` pending changes, as bytes.
  static func blob(_ count: Int) -> [UInt8] {
    var state = SyncState()
    state.user = UserID("_bench")
    state.records = pending(changes(count))
    return state.encoded()
  }
}
