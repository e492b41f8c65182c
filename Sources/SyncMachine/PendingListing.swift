/// Follows what waits, for those who keep a list of it in another form and are asked for the whole
/// list again and again while little of it changes.
///
/// Following a list of n changes looks at n numbers, and at no name that was there before.
package struct PendingListing<ID: PendingKey>: Sendable {
  /// One piece of the list as it is now.
  package enum Step: Sendable {
    /// These elements of the list as it was.
    case keep(Range<Int>)
    /// A change that was not there.
    case make(PendingChange<ID>)
  }

  /// Where each change stands, and of which kind it is.
  private var places: [UInt64] = []
  private var layout: UInt64?
  private var version: UInt64 = 0

  /// Follows nothing yet.
  package init() {}

  /// Goes on to what waits in `changes`, which must be of the same history as before.
  ///
  /// - Returns: How the list is put together from what it was; `nil` when nothing is different.
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
      if entry.isWaiting { places.append(UInt64(position) << 1 | UInt64(entry.kind.rawValue)) }
      return true
    }
    return places
  }
}
