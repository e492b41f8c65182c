package import Records

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
  /// The version of the whole list; `nil` after a part of it.
  private var version: UInt64?

  /// Creates a listing of no changes.
  package init() {}

  /// Follows all of `changes`, which must be of the same history as before.
  ///
  /// - Returns: The parts of the new list; `nil` if nothing has changed.
  package mutating func follow(_ changes: PendingChanges<ID>) -> [Step]? {
    if layout == changes.layout, version == changes.version { return nil }
    version = changes.version
    var current: [UInt64] = []
    current.reserveCapacity(changes.count)
    changes.forEach(changes.count, inGroups: { _ in true }) { current.append(Self.place($0, $1)) }
    return follow(current, of: changes)
  }

  private mutating func follow(_ current: [UInt64], of changes: PendingChanges<ID>) -> [Step] {
    let old = layout == changes.layout ? places : []
    (layout, places) = (changes.layout, current)
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

  private static func place(_ position: Int, _ entry: PendingList.Entry) -> UInt64 {
    UInt64(position) << 1 | UInt64(entry.kind.rawValue)
  }
}

extension PendingListing<RecordID> {
  /// Follows the first of `changes` in `scope`, at most `limit`.
  ///
  /// - Returns: The parts of the new list.
  package mutating func follow(
    _ changes: PendingChanges<RecordID>, first limit: Int, in scope: SendScope
  ) -> [Step] {
    version = nil
    var current: [UInt64] = []
    changes.forEach(limit, in: scope) { current.append(Self.place($0, $1)) }
    return follow(current, of: changes)
  }
}
