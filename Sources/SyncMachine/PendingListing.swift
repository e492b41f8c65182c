/// Computes the differences between successive states of the pending changes.
///
/// For callers that keep the whole list in another form while few of its elements change. Following
/// a list of n changes compares n numbers and reads only the names of new changes.
package struct PendingListing<ID: PendingKey>: Sendable {
  /// One part of the new list.
  package enum Step: Sendable {
    /// These elements of the former list.
    case keep(Range<Int>)
    /// A change that the former list did not contain.
    case make(PendingChange<ID>)
  }

  /// The position and the kind of each change.
  private var places: [UInt64] = []
  private var layout: UInt64?
  private var version: UInt64 = 0

  /// Creates a listing of no changes.
  package init() {}

  /// Follows `changes`, which must be of the same history as before.
  ///
  /// - Returns: The parts of the new list; `nil` if nothing has changed.
  package mutating func follow(_ changes: PendingChanges<ID>) -> [Step]? {
    if layout == changes.layout, version == changes.version { return nil }
    let current = PendingListing.places(of: changes)
    let old = layout == changes.layout ? places : []
    (layout, version, places) = (changes.layout, changes.version, current)
    var steps: [Step] = []
    var (index, next) = (0, 0)
    while next < current.count {
      while index < old.count, old[index] < current[next] { index += 1 }
      let start = index
      while index < old.count, next < current.count, old[index] == current[next] {
        index += 1
        next += 1
      }
      if start < index {
        steps.append(.keep(start..<index))
      } else {
        let position = Int(current[next] >> 1)
        steps.append(.make(changes.change(at: position, changes.list[position])))
        next += 1
      }
    }
    return steps
  }

  private static func places(of changes: PendingChanges<ID>) -> [UInt64] {
    var places: [UInt64] = []
    places.reserveCapacity(changes.count)
    changes.list.forEach { position, entry in
      if entry.isPending { places.append(UInt64(position) << 1 | UInt64(entry.kind.rawValue)) }
      return true
    }
    return places
  }
}
