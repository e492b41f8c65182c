import CloudProtocol
import Records
import SyncMachine

/// A device at rest, as the check of convergence compares it with the server.
struct DeviceAtRest {
  var name: String
  var stage: Stage
  var state: SyncState
  var app: AppModel
  /// The signed-in account, counted from 1; `nil` for none.
  var account: Int?
  var persistence: MachineDevice.Persistence
  /// The number of requests without an answer.
  var openRequests = 0

  /// Whether everything was sent.
  var isSettled: Bool { account == nil || app.isSettled && !hasPendingChanges }

  var hasPendingChanges: Bool {
    !state.records.isEmpty || !state.zones.isEmpty || state.hasUntrackedChanges
  }
}

/// I1 and I3 at the end: each device holds exactly what the server shows, and nothing is pending.
extension Findings {
  /// Reports the differences of a device from the records of its account, by place.
  func compare(
    _ device: DeviceAtRest, in layout: WorldLayout, with records: (Int) -> [Record?]
  ) {
    let name = device.name
    if device.stage != .idle && device.stage != .dormant {
      report("I17", "\(name): at rest in \(device.stage)")
    }
    if device.openRequests > 0 { report("I17", "\(name): a request has no answer") }
    guard let account = device.account else {
      // An engine without a stored state and without an account knows of no sign-out to report:
      // data that were kept without a state are then the app's own responsibility.
      if device.app.owner != nil, device.persistence != .dataFirst {
        report("I13", "\(name): keeps data after a sign-out")
      }
      return
    }
    if device.app.owner != layout.users[account - 1] || device.state.user != device.app.owner {
      return report("I13", "\(name): is not at its account")
    }
    if device.hasPendingChanges { report("I3", "\(name): changes are still pending") }
    for (place, record) in records(account).enumerated() {
      compare(device.app.entries[place], of: name, at: place, in: layout, with: record)
    }
  }

  /// Reports an entry that was never sent, and one that differs from the server's.
  ///
  /// - Parameters:
  ///   - entry: The data of the app of `device`.
  ///   - place: The number of the record in the layout.
  ///   - record: The server's record; `nil` for none.
  func compare(
    _ entry: AppModel.Entry, of device: String, at place: Int, in layout: WorldLayout,
    with record: Record?
  ) {
    let path = layout.records[place].path
    if entry.isDirty { report("I3", "\(device): an edit of \(path) was never sent") }
    let value = record.flatMap { SimulatedValue($0, at: place) }
    guard entry.value != value || (record != nil && entry.tag != record?.changeTag) else { return }
    report(
      "I1",
      "\(device): \(path) is \(text(entry.value, entry.tag)), on the server "
        + text(value, record?.changeTag))
  }

  /// Reports the zones of an account whose stored records are not those that were answered.
  func compareStorage(
    _ invariant: String, of account: Int, in layout: WorldLayout, answered: [Record?],
    stored: (_ zone: Int) throws -> [Record]
  ) rethrows {
    for (zone, id) in layout.zones.enumerated() {
      let expected = layout.places(of: zone).compactMap { answered[$0] }
      if try stored(zone).sorted(by: { $0.id < $1.id }) != expected.sorted(by: { $0.id < $1.id }) {
        report(invariant, "\(id.name) of account \(account) is stored otherwise than answered")
      }
    }
  }

  private func text(_ value: SimulatedValue?, _ tag: ChangeTag?) -> String {
    guard let value else { return "absent" }
    return "edit \(value.sequence) at version \(tag?.rawValue ?? "none")"
  }
}
