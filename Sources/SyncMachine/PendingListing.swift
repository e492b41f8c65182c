/// What waits, as elements of another kind that are made once, for those who ask for the whole
/// list again and again while little of it changes.
///
/// Following a list of n changes looks at n numbers, moves what stands behind the first
/// difference, and makes what is new.
package struct PendingListing<ID: PendingKey, Element: Sendable>: Sendable {
  /// One element for each change that waited when the list was last followed, in order.
  package private(set) var elements: [Element] = []
  /// Where each stands, and of which kind it is.
  private var places: [UInt64] = []
  private var layout: UInt64?
  private var version: UInt64 = 0

  /// Follows nothing yet.
  package init() {}

  /// Brings the elements to what waits in `changes`, which must be of the same history as before.
  package mutating func follow(
    _ changes: PendingChanges<ID>, _ make: (PendingChange<ID>) -> Element
  ) {
    if layout == changes.layout, version == changes.version { return }
    let current = PendingListing.places(of: changes)
    if layout != changes.layout || !PendingListing.isSubsequence(current, of: places) {
      rebuild(current, changes, make)
    } else {
      keepOnly(current)
      for place in current[places.count...] { append(place, changes, make) }
    }
    (layout, version) = (changes.layout, changes.version)
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

  /// Whether those of `current` that stand no farther than the last of `old` are all in `old`.
  private static func isSubsequence(_ current: [UInt64], of old: [UInt64]) -> Bool {
    guard let last = old.last else { return true }
    var index = 0
    for place in current {
      if place > last { return place >> 1 != last >> 1 }
      while index < old.count, old[index] < place { index += 1 }
      guard index < old.count, old[index] == place else { return false }
      index += 1
    }
    return true
  }

  /// Drops what is not in `current`; what stays is moved and not copied.
  private mutating func keepOnly(_ current: [UInt64]) {
    var kept = 0
    var next = 0
    for index in places.indices {
      guard next < current.count, places[index] == current[next] else { continue }
      if kept != index {
        elements.swapAt(kept, index)
        places[kept] = places[index]
      }
      kept += 1
      next += 1
    }
    elements.removeSubrange(kept...)
    places.removeSubrange(kept...)
  }

  private mutating func rebuild(
    _ current: [UInt64], _ changes: PendingChanges<ID>, _ make: (PendingChange<ID>) -> Element
  ) {
    let isSameLayout = layout == changes.layout
    let (oldElements, oldPlaces) = (elements, places)
    elements = []
    places = []
    elements.reserveCapacity(current.count)
    places.reserveCapacity(current.count)
    var index = 0
    for place in current {
      while isSameLayout, index < oldPlaces.count, oldPlaces[index] < place { index += 1 }
      if isSameLayout, index < oldPlaces.count, oldPlaces[index] == place {
        elements.append(oldElements[index])
        places.append(place)
      } else {
        append(place, changes, make)
      }
    }
  }

  private mutating func append(
    _ place: UInt64, _ changes: PendingChanges<ID>, _ make: (PendingChange<ID>) -> Element
  ) {
    let position = Int(place >> 1)
    elements.append(make(changes.change(at: position, changes.list[position])))
    places.append(place)
  }
}
