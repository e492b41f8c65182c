/// Finds the places of names in a list: a table that is open, with what belongs elsewhere moved
/// up when something is taken out.
///
/// Each slot holds a place and half of the hash of what stands there, so that growing and removing
/// look at no name. Nothing is ever listed from it, so its order shows nowhere.
struct PendingIndex: Sendable {
  private var slots: [UInt64] = []
  private(set) var count = 0

  /// An index of nothing.
  init() {}

  /// An index of nothing with room for `count` places.
  init(capacity count: Int) {
    var size = 16
    while size * 5 / 8 <= count { size *= 2 }
    slots = Array(repeating: 0, count: size)
  }

  /// A random seed for each process, so that colliding names can't be chosen deliberately.
  private static let seed: UInt64 = {
    var hasher = Hasher()
    hasher.combine("PendingIndex")
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }()

  /// What a name and a group are found by: eight bytes at a time, multiplied and folded.
  static func hash(_ name: UnsafeBufferPointer<UInt8>, _ group: UInt32) -> UInt32 {
    let bytes = UnsafeRawBufferPointer(name)
    var state = fold(seed ^ UInt64(group), 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      state = fold(state ^ word, 0xd6e8_feb8_6659_fd93)
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return UInt32(truncatingIfNeeded: fold(state ^ rest, 0xa076_1d64_78bd_642f ^ seed))
  }

  private static func fold(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (high, low) = first.multipliedFullWidth(by: second)
    return high ^ low
  }

  /// Whether two runs of bytes of the same length are the same.
  static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while offset + 8 <= first.count {
      let one = first.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard one == second.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
        return false
      }
      offset += 8
    }
    while offset < first.count {
      guard first[offset] == second[offset] else { return false }
      offset += 1
    }
    return true
  }

  /// The place with this hash that `isMatch` says is the one.
  func first(_ hash: UInt32, where isMatch: (Int) -> Bool) -> Int? {
    guard count > 0 else { return nil }
    let mask = slots.count - 1
    var number = Int(hash) & mask
    return slots.withUnsafeBufferPointer { slots in
      while slots[number] != 0 {
        let slot = slots[number]
        if UInt32(truncatingIfNeeded: slot >> 32) == hash {
          let position = Int(slot & 0xffff_ffff) - 1
          if isMatch(position) { return position }
        }
        number = (number + 1) & mask
      }
      return nil
    }
  }

  /// Adds a place that is not in the index.
  mutating func insert(_ hash: UInt32, _ position: Int) {
    if slots.count * 5 / 8 <= count { resize(to: max(16, slots.count * 2)) }
    place(UInt64(hash) << 32 | UInt64(position + 1))
    count += 1
  }

  /// Takes a place out.
  mutating func remove(_ hash: UInt32, _ position: Int) {
    guard count > 0 else { return }
    let wanted = UInt64(hash) << 32 | UInt64(position + 1)
    let mask = slots.count - 1
    var hole = Int(hash) & mask
    while slots[hole] != wanted {
      if slots[hole] == 0 { return }
      hole = (hole + 1) & mask
    }
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(slots[next] >> 32) & mask
      // It may move up when its home is not between the hole and where it stands.
      if (next &- home) & mask >= (next &- hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
    count -= 1
    if slots.count > 4096, count * 16 < slots.count { resize(to: slots.count / 8) }
  }

  private mutating func place(_ slot: UInt64) {
    let mask = slots.count - 1
    var number = Int(slot >> 32) & mask
    while slots[number] != 0 { number = (number + 1) & mask }
    slots[number] = slot
  }

  private mutating func resize(to size: Int) {
    let old = slots
    slots = Array(repeating: 0, count: size)
    for slot in old where slot != 0 { place(slot) }
  }
}
