import Records
import SyncMachine

/// An app with a correct delegate, as a value: its records with their cached server versions, and
/// what it does when the engine tells it something.
///
/// It does not guard itself against the engine: an edit made while an older one is in flight is
/// added once and then trusted to the engine. Every change to the engine's state is put into
/// `calls`, for the device to carry out.
struct AppModel {
  /// The choices of the app; all must lead to the same data on every device.
  struct Policy {
    /// Whether the server's version wins a conflict; otherwise the later edit does.
    var serverWins: Bool
    /// Whether a deletion elsewhere wins over an edit here.
    var deletionWins: Bool
    /// Whether it lists its changes nowhere and only says that there are some.
    var isUntracked: Bool
    var isAtomic: Bool
    var batchLimit: Int
    /// Whether it adds a zone again at once when the server refuses it.
    var addsRefusedZones: Bool
    /// The account whose zones it visits, counted from 1; `nil` for an app on the user's own.
    var visits: Int?
  }

  /// The data of one record.
  struct Entry {
    /// The value that the app shows; `nil` for none.
    var value: SimulatedValue?
    /// The server's version it builds on.
    var tag: ChangeTag?
    /// The server's value of that version.
    var confirmed: SimulatedValue?
    /// Whether it holds an edit or a deletion that the server has not confirmed.
    var isDirty = false
    /// Whether the server refused it for a reason that time or people must put right.
    var isBlocked = false
  }

  /// A zone that is being read from the start: what is not given is gone.
  struct Sweep {
    var zone: Int
    var given: Set<Int> = []
  }

  let layout: WorldLayout
  let device: Int
  var policy: Policy
  /// The owner of the data; `nil` for data from before the first sign-in.
  var owner: UserID?
  var entries: [Entry]
  var knownZones: [Bool]
  var blockedZones: [Bool]
  /// Zones that people deleted and the server has not confirmed.
  var zonesToDelete: [Bool]
  var sweep: Sweep?
  /// The calls on the engine's state, in order.
  var calls: [AppCall] = []

  init(layout: WorldLayout, device: Int, policy: Policy) {
    self.layout = layout
    self.device = device
    self.policy = policy
    entries = Array(repeating: Entry(), count: layout.records.count)
    knownZones = Array(repeating: false, count: layout.zones.count)
    blockedZones = knownZones
    zonesToDelete = knownZones
  }

  /// Whether everything it holds is confirmed.
  var isSettled: Bool {
    !entries.contains { $0.isDirty } && !blockedZones.contains(true)
      && !zonesToDelete.contains(true)
  }

  // MARK: What people do

  /// Writes a new value.
  ///
  /// Not into a zone whose deletion is on its way: saving the zone again would take the place of
  /// the deletion, and what the app dropped with the zone would stay on the server.
  mutating func edit(_ place: Int, sequence: Int) {
    let zone = layout.zone(of: place)
    guard !zonesToDelete[zone], mayEdit(place, sequence) else { return }
    let account = policy.visits ?? owner.flatMap { layout.account(of: $0) } ?? 0
    entries[place].value = SimulatedValue(
      account: account, device: device, sequence: sequence, place: place)
    entries[place].isDirty = true
    wantSent(place)
  }

  /// Whether an edit makes sense here: in another account's zone only when it is there, and mostly
  /// where a share can reach.
  private func mayEdit(_ place: Int, _ sequence: Int) -> Bool {
    let zone = layout.zone(of: place)
    guard policy.visits != nil else { return true }
    return knownZones[zone]
      && (layout.sharedPlaces(of: zone).contains(place) || sequence.isMultiple(of: 5))
  }

  /// Deletes an existing record.
  mutating func delete(_ place: Int) {
    guard entries[place].value != nil else { return }
    entries[place].value = nil
    entries[place].isDirty = true
    wantSent(place)
  }

  /// Deletes a zone with everything in it.
  ///
  /// A zone of another account is left.
  mutating func deleteZone(_ zone: Int) {
    guard policy.visits == nil || knownZones[zone] else { return }
    drop(zone)
    zonesToDelete[zone] = true
    calls.append(.add(.delete, .zone(layout.zones[zone])))
  }

  /// Retries what was refused.
  mutating func retryBlocked() {
    for zone in blockedZones.indices where blockedZones[zone] {
      blockedZones[zone] = false
      calls.append(.add(.save, .zone(layout.zones[zone])))
    }
    deleteZonesAgain()
    for place in entries.indices where entries[place].isBlocked { wantSent(place) }
  }

  /// Adds everything unconfirmed again, as an app does that can't know what the engine remembers.
  mutating func readdDirty() {
    deleteZonesAgain()
    for place in entries.indices where entries[place].isDirty { wantSent(place) }
  }

  private mutating func deleteZonesAgain() {
    for zone in zonesToDelete.indices where zonesToDelete[zone] {
      calls.append(.add(.delete, .zone(layout.zones[zone])))
    }
  }

  /// The zones it holds something of that came from the server, or is there.
  var confirmedZones: Set<Int> {
    Set(entries.indices.filter { entries[$0].tag != nil }.map { layout.zone(of: $0) })
  }

  /// Goes on with an engine that knows of no zones but `zones`, and will read all others as if for
  /// the first time.
  ///
  /// Such a reading tells of no deletion that came before, so only what it can't give is worth
  /// keeping. Whoever keeps data apart from the engine's state writes down with each state which
  /// zones it had confirmed data of.
  mutating func forgetConfirmed(except zones: Set<Int> = []) {
    for place in entries.indices where !zones.contains(layout.zone(of: place)) {
      if !entries[place].isDirty { entries[place] = Entry() }
      entries[place].tag = nil
    }
    for zone in layout.zones.indices where !zones.contains(zone) { knownZones[zone] = false }
  }

  // MARK: Helpers of the handlers

  /// Has the engine send what `place` holds, and the zone first when it is not known to be there.
  mutating func wantSent(_ place: Int) {
    let zone = layout.zone(of: place)
    entries[place].isBlocked = false
    let kind: ChangeKind = entries[place].value == nil ? .delete : .save
    if kind == .save, !knownZones[zone], policy.visits == nil { wantZone(zone) }
    calls.append(policy.isUntracked ? .noteUntracked : .add(kind, .record(layout.records[place])))
  }

  mutating func wantZone(_ zone: Int) {
    knownZones[zone] = true
    blockedZones[zone] = false
    zonesToDelete[zone] = false
    calls.append(.add(.save, .zone(layout.zones[zone])))
  }

  /// Nothing of `place` is to be sent any more.
  mutating func confirm(_ place: Int) {
    entries[place].isDirty = false
    entries[place].isBlocked = false
    forget(place)
  }

  /// Shows what the server holds of `place`, which it does not let change.
  mutating func giveUp(_ place: Int) {
    entries[place].value = entries[place].tag == nil ? nil : entries[place].confirmed
    confirm(place)
  }

  /// Takes back whatever waits for `place`.
  mutating func forget(_ place: Int) {
    guard !policy.isUntracked else { return }
    calls.append(.remove(.save, .record(layout.records[place])))
    calls.append(.remove(.delete, .record(layout.records[place])))
  }

  /// Forgets a zone with everything in it, sent or not.
  mutating func drop(_ zone: Int) {
    for place in layout.places(of: zone) {
      entries[place] = Entry()
      forget(place)
    }
    knownZones[zone] = false
    blockedZones[zone] = false
    zonesToDelete[zone] = false
    calls.append(.remove(.save, .zone(layout.zones[zone])))
    calls.append(.remove(.delete, .zone(layout.zones[zone])))
    if sweep?.zone == zone { sweep = nil }
  }
}
