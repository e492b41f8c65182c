import CloudProtocol
import Records

/// The records of one zone as a log: each record occurs once, at its latest change.
///
/// A change empties the old slot and appends a new one, so the log is always in order and a page
/// is a binary search and a walk. When most slots are empty, the log is packed.
struct MemoryRecords {
  /// An entry of the log; empty after the record changed again.
  private struct Slot {
    var sequence: UInt64
    var row: RecordRow?
  }

  private var slots: [Slot] = []
  private var positions: [String: Int] = [:]
  /// The names of the live records of each indexed type.
  private var namesByType: [String: SortedNames] = [:]
  /// For each type whose index is incomplete, the change up to which it is indexed.
  private var indexedThrough: [String: UInt64] = [:]

  /// Whether there are neither records nor tombstones.
  var isEmpty: Bool { positions.isEmpty }

  /// The names of all records and tombstones, in no particular order.
  var names: [String] { Array(positions.keys) }

  /// The live records.
  var live: [Record] { slots.compactMap { $0.row?.record } }

  /// The row of a record, or its tombstone.
  subscript(name: String) -> RecordRow? {
    positions[name].flatMap { slots[$0].row }
  }

  /// Stores `row` and returns the row that it replaces.
  mutating func put(_ row: RecordRow) -> RecordRow? {
    var old: RecordRow?
    if let position = positions.updateValue(slots.count, forKey: row.id.name) {
      old = slots[position].row
      slots[position].row = nil
    }
    if !namesByType.isEmpty { index(row, insteadOf: old) }
    let slot = Slot(sequence: row.changedAt, row: row)
    if let last = slots.last?.sequence, last > row.changedAt {
      // Only imports are out of order; the machine assigns increasing numbers.
      slots.insert(slot, at: firstSlot(after: row.changedAt))
      pack()
      forgetUnfinishedIndexes()
    } else {
      slots.append(slot)
      if slots.count > 64, slots.count > positions.count * 2 { pack() }
    }
    return old
  }

  /// The rows changed after `sequence`, oldest first, at most `limit`.
  func changes(after sequence: UInt64, limit: Int) -> [RecordRow] {
    var found: [RecordRow] = []
    guard limit > 0 else { return found }
    for slot in slots[firstSlot(after: sequence)...] {
      guard let row = slot.row else { continue }
      found.append(row)
      if found.count == limit { break }
    }
    return found
  }

  /// The rows changed before `sequence`, newest first, at most `limit`.
  func latestChanges(before sequence: UInt64, limit: Int) -> [RecordRow] {
    let end = sequence == 0 ? 0 : firstSlot(after: sequence - 1)
    return Array(slots[..<end].reversed().lazy.compactMap(\.row).prefix(max(0, limit)))
  }

  /// The number of live records, counted up to `limit`.
  func liveCount(upTo limit: Int) -> Int {
    slots.lazy.filter { $0.row?.record != nil }.prefix(max(0, limit)).count
  }

  /// The live rows of one type by name, those after `name`, at most `limit`.
  mutating func rows(ofType type: String, after name: String?, limit: Int) -> [RecordRow] {
    _ = index(type: type, limit: .max)
    return (namesByType[type] ?? SortedNames()).names(after: name, limit: limit).compactMap {
      self[$0]
    }
  }

  /// Indexes the records of one type among the next `limit` rows; returns whether the index is
  /// complete.
  ///
  /// Later changes are indexed immediately.
  mutating func index(type: String, limit: Int) -> Bool {
    if namesByType[type] == nil {
      namesByType[type] = SortedNames()
      indexedThrough[type] = 0
    }
    guard let through = indexedThrough[type] else { return true }
    // Only the first step takes rows with the number 0, as in the register of shares.
    let start = through == 0 ? 0 : firstSlot(after: through)
    var end = start + min(max(1, limit), slots.count - start)
    while end < slots.count, slots[end].sequence == slots[end - 1].sequence { end += 1 }
    for slot in slots[start..<end] where slot.row?.type == type && slot.row?.record != nil {
      if let name = slot.row?.id.name { namesByType[type]?.insert(name) }
    }
    indexedThrough[type] = end < slots.count ? slots[end - 1].sequence : nil
    return end == slots.count
  }

  private mutating func forgetUnfinishedIndexes() {
    for type in indexedThrough.keys { namesByType[type] = nil }
    indexedThrough = [:]
  }

  private mutating func index(_ row: RecordRow, insteadOf old: RecordRow?) {
    let before = old.flatMap { $0.record == nil ? nil : $0.type }
    let after = row.record == nil ? nil : row.type
    guard before != after else { return }
    if let before { namesByType[before]?.remove(row.id.name) }
    if let after { namesByType[after]?.insert(row.id.name) }
  }

  /// Removes the tombstones up to `sequence`.
  mutating func removeTombstones(through sequence: UInt64) {
    for index in slots[..<firstSlot(after: sequence)].indices {
      guard let row = slots[index].row, row.record == nil else { continue }
      positions[row.id.name] = nil
      slots[index].row = nil
    }
    pack()
  }

  private func firstSlot(after sequence: UInt64) -> Int {
    slots.partitioningIndex { $0.sequence > sequence }
  }

  private mutating func pack() {
    slots.removeAll { $0.row == nil }
    positions.removeAll(keepingCapacity: true)
    for (position, slot) in slots.enumerated() {
      if let row = slot.row { positions[row.id.name] = position }
    }
  }
}
