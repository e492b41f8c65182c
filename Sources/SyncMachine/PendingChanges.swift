package import Records

/// The kind of a pending change.
package enum ChangeKind: UInt8, Hashable, Sendable, Codable {
  /// A save of the version that exists when the batch is built.
  case save = 0
  /// A deletion.
  case delete = 1
}

/// A pending change of a record or zone.
package struct PendingChange<ID: Hashable & Sendable>: Hashable, Sendable {
  /// The record or zone.
  package var id: ID
  /// The kind of change.
  package var kind: ChangeKind

  /// Creates a change.
  @inlinable package init(_ kind: ChangeKind, _ id: ID) {
    self.id = id
    self.kind = kind
  }
}

/// The ordered set of pending changes, separate from those in flight.
///
/// An ID has at most one pending change: adding the same change again keeps its position, adding
/// the opposite one replaces it in place (CE-45 to CE-48). A change taken for a request is in
/// flight until it is settled; the same ID can be added meanwhile, and this newer change is kept
/// whatever the outcome of the older one. IDs are compared by the bytes of their names; the two
/// names of a zone of the `user` are equivalent (Docs/Decisions/0016), and a change keeps the name
/// used last.
///
/// Complexity: every operation on one ID is O(1) on average; listing is O(n). A `snapshot` is O(1),
/// and the first change of each part of the list after it copies that part.
package struct PendingChanges<ID: PendingKey>: Sendable {
  private(set) var list = PendingList()
  private var index = PendingIndex()
  /// A snapshot has no index; call `makeIndex()` before many lookups.
  private var isIndexed = true
  private(set) var groups: [ID.Group] = []
  private var groupNumbers: [ID.Group: UInt32] = [:]
  private var lastGroup: UInt32 = 0
  /// The group under which the names of each group are found: its own, or its other name.
  private var canonicalGroups: [UInt32] = []
  /// The number of pending changes in each group.
  private var pendingCounts: [Int] = []
  /// The number of renumberings of the list.
  private(set) var layout: UInt64 = 0
  /// Incremented with each change of the pending changes.
  private(set) var version: UInt64 = 0

  /// The number of pending changes.
  package private(set) var count = 0

  /// The number of changes in flight.
  package private(set) var inFlightCount = 0

  /// The user whose zones have two names; `nil` if no user is known.
  package var user: UserID? {
    didSet { if user != oldValue { uniteGroups() } }
  }

  /// Creates an empty set.
  package init() {}

  /// Whether no change is pending.
  package var isEmpty: Bool { count == 0 }

  /// A copy in constant time, whose parts are copied only when either of the two changes.
  package var snapshot: PendingChanges {
    var copy = self
    copy.index = PendingIndex()
    copy.isIndexed = false
    return copy
  }

  /// Builds the index of a snapshot; called automatically before the first change.
  package mutating func makeIndex() {
    guard !isIndexed else { return }
    isIndexed = true
    index = indexOfList()
  }

  private func indexOfList() -> PendingIndex {
    var index = PendingIndex(capacity: list.alive)
    list.forEach { position, entry in
      let canonical = canonicalGroups[Int(entry.group)]
      index.insert(list.withName(at: position) { PendingIndex.hash($0, canonical) }, position)
      return true
    }
    return index
  }

  // MARK: Lookup

  /// The position of the pending change of a name, or of the one in flight.
  private func position(
    _ hash: UInt32, _ name: UnsafeBufferPointer<UInt8>, _ canonical: UInt32, isInFlight: Bool
  ) -> Int? {
    func isMatch(_ position: Int) -> Bool {
      list.matches(position, name, canonical, of: canonicalGroups, isInFlight: isInFlight)
    }
    if isIndexed { return index.first(hash, where: isMatch) }
    var found: Int?
    list.forEach { position, _ in
      if isMatch(position) { found = position }
      return found == nil
    }
    return found
  }

  private func number(of group: ID.Group) -> UInt32? {
    if Int(lastGroup) < groups.count, groups[Int(lastGroup)] == group { return lastGroup }
    return groupNumbers[group]
  }

  private func canonical(of group: ID.Group) -> UInt32? {
    if let number = number(of: group) { return canonicalGroups[Int(number)] }
    return user.flatMap { groupNumbers[ID.resolved(group, for: $0)] }
  }

  private func place(of id: ID, isInFlight: Bool) -> (position: Int, hash: UInt32)? {
    guard let canonical = canonical(of: id.pendingGroup) else { return nil }
    var name = id.pendingName
    return name.withUTF8 { name in
      let hash = isIndexed ? PendingIndex.hash(name, canonical) : 0
      return position(hash, name, canonical, isInFlight: isInFlight).map { ($0, hash) }
    }
  }

  private func position(of id: ID, isInFlight: Bool) -> Int? {
    place(of: id, isInFlight: isInFlight)?.position
  }

  /// The pending change of `id`.
  @_specialize(where ID == RecordID)
  package func pending(for id: ID) -> ChangeKind? {
    position(of: id, isInFlight: false).map { list[$0].kind }
  }

  /// Whether a change of `id` is in flight.
  package func isInFlight(_ id: ID) -> Bool { position(of: id, isInFlight: true) != nil }

  /// The change of `id` that is stored for a restart; see `unsettled`.
  package func unsettledKind(of id: ID) -> ChangeKind? {
    if let kind = pending(for: id) { return kind }
    guard let position = position(of: id, isInFlight: true) else { return nil }
    return list[position].isUnsettled ? list[position].kind : nil
  }

  /// The change at a place that is in use.
  func change(at position: Int, _ entry: PendingList.Entry) -> PendingChange<ID> {
    PendingChange(
      entry.kind,
      ID(pendingName: list.name(at: position), group: groups[Int(entry.group)]))
  }

  /// The position of the pending change of `id`, for lists that follow this one.
  func pendingPosition(of id: ID) -> Int? { position(of: id, isInFlight: false) }

  /// Whether a change is pending in any included group.
  package func hasPending(inGroups isIncluded: (ID.Group) -> Bool) -> Bool {
    groups.indices.contains { pendingCounts[$0] > 0 && isIncluded(groups[$0]) }
  }

  /// The number of pending changes in the included groups, and which groups these are.
  func pending(inGroups isIncluded: (ID.Group) -> Bool) -> (count: Int, isIncluded: [Bool]) {
    var total = 0
    let included = groups.indices.map { number in
      let isIncluded = pendingCounts[number] > 0 && isIncluded(groups[number])
      if isIncluded { total += pendingCounts[number] }
      return isIncluded
    }
    return (total, included)
  }

  // MARK: Changing

  /// Adds a change.
  ///
  /// - Returns: Whether the set has changed.
  @_specialize(where ID == RecordID)
  @discardableResult
  package mutating func add(_ change: PendingChange<ID>) -> Bool {
    let group = adopt(change.id.pendingGroup)
    var name = change.id.pendingName
    return name.withUTF8 { add(change.kind, $0, group) }
  }

  /// The number of a group, which it gets when it has none.
  mutating func adopt(_ group: ID.Group) -> UInt32 {
    if let number = number(of: group) {
      lastGroup = number
      return number
    }
    let number = UInt32(truncatingIfNeeded: groups.count)
    groups.append(group)
    groupNumbers[group] = number
    pendingCounts.append(0)
    canonicalGroups.append(number)
    if let resolved = user.map({ ID.resolved(group, for: $0) }), resolved != group {
      canonicalGroups[Int(number)] = adopt(resolved)
    }
    lastGroup = number
    return number
  }

  /// Merges pending changes under the two names of a zone; of two, the later one is kept.
  private mutating func uniteGroups() {
    let isDifferent = groups.indices.contains { number in
      let resolved = user.map { ID.resolved(groups[number], for: $0) } ?? groups[number]
      return groups[Int(canonicalGroups[number])] != resolved
    }
    guard isDifferent else { return }
    let changes = unsettled
    removeAll()
    for change in changes { add(change) }
  }

  /// Adds a change by the bytes of its name and the number of its group.
  @discardableResult
  mutating func add(
    _ kind: ChangeKind, _ name: UnsafeBufferPointer<UInt8>, _ group: UInt32
  ) -> Bool {
    makeIndex()
    let canonical = canonicalGroups[Int(group)]
    let hash = PendingIndex.hash(name, canonical)
    if let position = position(hash, name, canonical, isInFlight: false) {
      guard list[position].kind != kind || list[position].group != group else { return false }
      list[position].kind = kind
      if list[position].group != group { rename(at: position, group) }
      version += 1
      return true
    }
    if inFlightCount > 0, let older = position(hash, name, canonical, isInFlight: true) {
      list[older].marks.insert(.superseded)
    }
    if list.endPosition >= Int(UInt32.max) - 1 { rebuild() }
    index.insert(hash, list.append(name, group: group, kind: kind))
    count += 1
    pendingCounts[Int(group)] += 1
    version += 1
    return true
  }

  /// Changes the group of a pending change to the other name of the same zone.
  private mutating func rename(at position: Int, _ group: UInt32) {
    pendingCounts[Int(list[position].group)] -= 1
    pendingCounts[Int(group)] += 1
    list[position].group = group
    // Observers of the list identify a change by its position.
    layout += 1
  }

  /// Removes a change; one in flight will not be pending again.
  ///
  /// - Returns: Whether the set has changed.
  @_specialize(where ID == RecordID)
  @discardableResult
  package mutating func remove(_ change: PendingChange<ID>) -> Bool {
    makeIndex()
    var isDifferent = false
    let older = inFlightCount > 0 ? position(of: change.id, isInFlight: true) : nil
    if let older, !list[older].marks.contains(.mayNotReturn), list[older].kind == change.kind {
      list[older].marks.insert(.mayNotReturn)
      isDifferent = true
    }
    if let (position, hash) = place(of: change.id, isInFlight: false),
      list[position].kind == change.kind
    {
      if let older { list[older].marks.remove(.superseded) }
      notePending(-1, at: position)
      vacate(position, hash)
      isDifferent = true
    }
    return isDifferent
  }

  /// Marks a pending change as in flight.
  ///
  /// - Returns: Whether exactly this change was pending.
  @_specialize(where ID == RecordID)
  package mutating func take(_ change: PendingChange<ID>) -> Bool {
    makeIndex()
    guard let (position, hash) = place(of: change.id, isInFlight: false),
      list[position].kind == change.kind
    else { return false }
    let isTakenAlready =
      inFlightCount > 0
      && list.withName(at: position) { name in
        self.position(hash, name, canonicalGroups[Int(list[position].group)], isInFlight: true)
          != nil
      }
    guard !isTakenAlready else { return false }
    notePending(-1, at: position)
    list[position].marks.insert(.inFlight)
    inFlightCount += 1
    return true
  }

  /// The state of an ID after its change in flight was settled.
  package enum Remainder: Hashable, Sendable {
    /// A change of the ID is pending.
    case pending(ChangeKind)
    /// No change of the ID is left.
    case nothing
    /// No change of the ID was in flight; nothing was changed.
    case untouched
  }

  /// Settles a change in flight.
  ///
  /// With `returns` it is pending again at its position, unless a newer change of the ID is pending
  /// or the app removed it meanwhile.
  @_specialize(where ID == RecordID)
  @discardableResult
  package mutating func settle(_ id: ID, returns: Bool) -> Remainder {
    makeIndex()
    guard inFlightCount > 0, let (position, hash) = place(of: id, isInFlight: true) else {
      return .untouched
    }
    let isSuperseded = list[position].marks.contains(.superseded)
    let kind = list[position].kind
    if settle(at: position, hash, returns: returns) { return .pending(kind) }
    return isSuperseded ? pending(for: id).map(Remainder.pending) ?? .nothing : .nothing
  }

  /// - Returns: Whether the change is pending again.
  @discardableResult
  private mutating func settle(at position: Int, _ hash: UInt32, returns: Bool) -> Bool {
    inFlightCount -= 1
    guard returns, list[position].marks.isDisjoint(with: [.mayNotReturn, .superseded]) else {
      vacate(position, hash)
      return false
    }
    list[position].marks.remove(.inFlight)
    notePending(1, at: position)
    return true
  }

  /// Makes all changes in flight pending again, as after requests with an unknown outcome.
  package mutating func returnAll() {
    guard inFlightCount > 0 else { return }
    makeIndex()
    var positions: [Int] = []
    list.forEach { position, entry in
      if entry.marks.contains(.inFlight) { positions.append(position) }
      return positions.count < inFlightCount
    }
    // By name: giving one up may give out the places anew.
    let ids = positions.map { change(at: $0, list[$0]).id }
    for id in ids { settle(id, returns: true) }
  }

  /// Removes everything; observers of the list detect this.
  package mutating func removeAll() {
    let (layout, version, user) = (layout, version, user)
    self = PendingChanges()
    self.user = user
    self.layout = layout + 1
    self.version = version + 1
  }

  private mutating func notePending(_ difference: Int, at position: Int) {
    count += difference
    pendingCounts[Int(list[position].group)] += difference
    version += 1
  }

  private mutating func vacate(_ position: Int, _ hash: UInt32) {
    index.remove(hash, position)
    list.vacate(position)
    if list.alive == 0 { return removeAll() }
    if list.held > 1_024, list.held > 4 * list.alive { rebuild() }
  }

  /// Compacts the list.
  private mutating func rebuild() {
    let old = list
    list = PendingList()
    index = PendingIndex(capacity: old.alive)
    old.forEach { position, entry in
      old.withName(at: position) { name in
        let new = list.append(name, group: entry.group, kind: entry.kind)
        list[new].marks = entry.marks
        index.insert(PendingIndex.hash(name, canonicalGroups[Int(entry.group)]), new)
      }
      return true
    }
    layout += 1
    version += 1
  }
}

extension PendingChanges: Equatable {
  /// Whether both store the same changes for a restart.
  package static func == (first: PendingChanges, second: PendingChanges) -> Bool {
    first.unsettled == second.unsettled
  }
}
