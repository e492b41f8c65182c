import Records
import SyncMachine
import Testing

/// The rules of pending changes, written as plainly as can be, to hold the packed ones against.
private struct PlainChanges {
  struct Item: Equatable {
    var change: PendingChange<RecordID>
    var isInFlight = false
    var mayReturn = true
  }

  var items: [Item] = []
  var user: UserID?

  /// The one name of a record that has two.
  private func resolved(_ id: RecordID) -> RecordID {
    guard let user, id.zone.owner == user.rawValue else { return id }
    return RecordID(name: id.name, zone: ZoneID(name: id.zone.name))
  }

  func place(_ id: RecordID, isInFlight: Bool) -> Int? {
    items.firstIndex { resolved($0.change.id) == resolved(id) && $0.isInFlight == isInFlight }
  }

  /// A user is known from now on.
  mutating func identify(_ user: UserID) {
    let changes = unsettled
    self.user = user
    items = []
    for change in changes { _ = add(change) }
  }

  var waiting: [PendingChange<RecordID>] { items.filter { !$0.isInFlight }.map(\.change) }

  var unsettled: [PendingChange<RecordID>] {
    let waiting = Set(waiting.map { resolved($0.id) })
    return items.filter { item in
      item.mayReturn && !(item.isInFlight && waiting.contains(resolved(item.change.id)))
    }.map(\.change)
  }

  mutating func add(_ change: PendingChange<RecordID>) -> Bool {
    guard let place = place(change.id, isInFlight: false) else {
      items.append(Item(change: change))
      return true
    }
    defer { items[place].change = change }
    return items[place].change != change
  }

  mutating func remove(_ change: PendingChange<RecordID>) -> Bool {
    var isDifferent = false
    if let place = place(change.id, isInFlight: true), items[place].mayReturn,
      items[place].change.kind == change.kind
    {
      items[place].mayReturn = false
      isDifferent = true
    }
    if let place = place(change.id, isInFlight: false),
      items[place].change.kind == change.kind
    {
      items.remove(at: place)
      isDifferent = true
    }
    return isDifferent
  }

  mutating func take(_ change: PendingChange<RecordID>) -> Bool {
    guard place(change.id, isInFlight: true) == nil,
      let place = place(change.id, isInFlight: false),
      items[place].change.kind == change.kind
    else { return false }
    items[place].isInFlight = true
    return true
  }

  mutating func settle(_ id: RecordID, returns: Bool) {
    guard let place = place(id, isInFlight: true) else { return }
    if returns, items[place].mayReturn, self.place(id, isInFlight: false) == nil {
      items[place].isInFlight = false
    } else {
      items.remove(at: place)
    }
  }

  mutating func returnAll() {
    for item in items where item.isInFlight { settle(item.change.id, returns: true) }
  }
}

/// A list that follows the packed one by the steps it is told.
private struct Followed {
  var elements: [PendingChange<RecordID>] = []
  var listing = PendingListing<RecordID>()

  mutating func follow(_ changes: PendingChanges<RecordID>) {
    if let steps = listing.follow(changes) { follow(steps) }
  }

  /// Follows the first changes in `scope`.
  mutating func follow(
    _ changes: PendingChanges<RecordID>, first limit: Int, in scope: SendScope
  ) {
    follow(listing.follow(changes, first: limit, in: scope))
  }

  private mutating func follow(_ steps: [PendingListing<RecordID>.Step]) {
    let old = elements
    elements = []
    for step in steps {
      switch step {
      case .keep(let range): elements += old[range]
      case .make(let change): elements.append(change)
      }
    }
  }
}

/// Numbers that look random and are the same in every run.
private struct Numbers {
  var state: UInt64

  mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}

@Suite("Pending changes against a plain model")
struct PendingModelTests {
  private static let ids = (0..<1_500).map { number in
    RecordID(
      name: number % 7 == 0
        ? "é-\(number)" : "record-\(number)" + String(repeating: "x", count: number % 200),
      zone: ZoneID(name: "Zone \(number % 3)"))
  }

  /// A user whose zones have two names each.
  private static let user = UserID("_user")

  /// `id` by the other name that it has once the user is known.
  private static func named(_ id: RecordID) -> RecordID {
    RecordID(name: id.name, zone: ZoneID(name: id.zone.name, owner: user.rawValue))
  }

  /// What was handed out in a run, and what it must still be at the end.
  private struct Kept {
    var changes: PendingChanges<RecordID>
    var unsettled: [PendingChange<RecordID>]
  }

  /// Proves CE-15, CE-45, CE-46, CE-47, CE-155, E4.
  @Test("Any steps give the same pending changes as the simple model", arguments: 1...8)
  func pendingListMatchesSimpleModel(seed: Int) throws {
    var numbers = Numbers(state: UInt64(seed))
    var packed = PendingChanges<RecordID>()
    var plain = PlainChanges()
    var (listing, front) = (Followed(), Followed())
    var kept: [Kept] = []
    var inFlight: [RecordID] = []
    // Few IDs meet often; many fill several parts of the list.
    let range = seed % 2 == 0 ? 40 : Self.ids.count
    // In half of the runs the app uses both names of its zones, at first without a user.
    let usesBothNames = seed > 4
    for step in 0..<4_000 {
      var change = PendingChange(
        numbers.below(4) == 0 ? .delete : ChangeKind.save, Self.ids[numbers.below(range)])
      if usesBothNames, numbers.below(2) == 0 { change.id = Self.named(change.id) }
      if usesBothNames, step == 700 {
        packed.user = Self.user
        plain.identify(Self.user)
        inFlight = []
      }
      // Each run fills and drains by turns.
      let isFilling = (step / 1_000) % 2 == 0
      switch numbers.below(20) {
      case 0..<(isFilling ? 12 : 3): #expect(packed.add(change) == plain.add(change))
      case 0..<14: #expect(packed.remove(change) == plain.remove(change))
      case 14, 15:
        for change in packed.prefix(isFilling ? 2 : 30, in: .all) {
          #expect(packed.take(change) == plain.take(change))
          inFlight.append(change.id)
        }
      case 16, 17:
        let id = inFlight.popLast() ?? change.id
        let returns = numbers.below(2) == 0
        packed.settle(id, returns: returns)
        plain.settle(id, returns: returns)
      case 18 where numbers.below(20) == 0:
        packed.returnAll()
        plain.returnAll()
      case 18: kept.append(Kept(changes: packed.snapshot, unsettled: packed.unsettled))
      default:
        listing.follow(packed)
        Self.follow(packed, by: &front, &numbers)
      }
      let place = "seed \(seed), step \(step)"
      guard step % 50 == 0 || range < 100 else { continue }
      try #require(packed.pending == plain.waiting, "\(place)")
      try #require(packed.unsettled == plain.unsettled, "\(place)")
      try #require(packed.count == plain.waiting.count, "\(place)")
      listing.follow(packed)
      try #require(listing.elements == plain.waiting, "\(place)")
      try #require(
        packed.pending(for: change.id)
          == plain.place(change.id, isInFlight: false).map { plain.items[$0].change.kind })
    }
    for kept in kept {
      #expect(kept.changes.unsettled == kept.unsettled)
      #expect(kept.changes.pending(for: Self.ids[1]) == nil || !kept.changes.isEmpty)
    }
    var again = kept.last?.changes ?? packed.snapshot
    let isNew = again.add(PendingChange(.save, RecordID(name: "new", zone: .default)))
    #expect(isNew && again.pending.last?.id.name == "new")
    var state = SyncState()
    state.records = packed
    state.user = packed.user
    #expect(try SyncState(decoding: state.encoded()).records == packed)
  }

  /// Follows the front in any scope with one list, and now and then everything.
  private static func follow(
    _ packed: PendingChanges<RecordID>, by front: inout Followed, _ numbers: inout Numbers
  ) {
    let scopes: [SendScope] = [
      .all, .all, .zones([ids[1].zone]), .allExcluding([ids[1].zone]),
      .records(Array(ids.prefix(30))),
    ]
    let scope = scopes[numbers.below(scopes.count)]
    let limit = numbers.below(60)
    front.follow(packed, first: limit, in: scope)
    #expect(front.elements == packed.prefix(limit, in: scope), "\(limit) in \(scope)")
    guard limit == 0 else { return }
    front.follow(packed)
    #expect(front.elements == packed.pending)
  }

  /// Proves CE-32, CE-58, E4.
  @Test("The next changes in a scope are the first ones of the filtered list")
  func nextChangesMatchFilteredList() {
    var changes = PendingChanges<RecordID>()
    for id in Self.ids { changes.add(PendingChange(.save, id)) }
    for id in Self.ids[..<400] { _ = changes.take(PendingChange(.save, id)) }
    let zones = (0..<3).map { ZoneID(name: "Zone \($0)") }
    let scopes: [SendScope] = [
      .all, .zones([zones[1]]), .zones([]), .allExcluding([zones[0], zones[2]]),
      .allExcluding(zones), .zones([ZoneID(name: "None")]),
      .records([Self.ids[900], Self.ids[700], Self.ids[700], Self.ids[3]]),
    ]
    for scope in scopes {
      let filtered = changes.pending.filter { scope.contains($0.id) }
      for limit in [-1, 0, 1, 250, 5_000] {
        #expect(
          changes.prefix(limit, in: scope) == Array(filtered.prefix(max(0, limit))),
          "\(scope), \(limit)")
      }
      #expect(changes.hasPending(in: scope) == !filtered.isEmpty, "\(scope)")
    }
  }

  @Test("A queue that advances through many chunks keeps its order and its names")
  func longQueueMatchesSimpleList() {
    var changes = PendingChanges<RecordID>()
    var plain: [PendingChange<RecordID>] = []
    for number in 0..<6_000 {
      let name = "\(number)" + String(repeating: "x", count: 1_000)
      let change = PendingChange(
        number % 3 == 0 ? .delete : ChangeKind.save, RecordID(name: name, zone: .default))
      let isNew = changes.add(change)
      #expect(isNew)
      plain.append(change)
      guard plain.count > 100 else { continue }
      let first = plain.removeFirst()
      let isTaken = changes.take(first)
      #expect(isTaken)
      changes.settle(first.id, returns: false)
      guard number % 250 == 0 else { continue }
      #expect(changes.pending == plain && changes.unsettled == plain)
      #expect(plain.allSatisfy { changes.pending(for: $0.id) == $0.kind })
      #expect(changes.pending(for: first.id) == nil)
    }
  }

  @Test("A reset of a followed list is detected")
  func resetListIsDetected() {
    var state = SyncState()
    var listing = Followed()
    for name in ["a", "b"] {
      state.apply(.addRecord(PendingChange(.save, Story.id(name))))
      listing.follow(state.records)
      #expect(listing.elements.map(\.id.name) == [name])
      state.apply(.reset)
    }
  }
}
