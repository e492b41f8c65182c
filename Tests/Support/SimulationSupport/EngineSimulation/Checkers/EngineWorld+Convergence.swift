import CloudProtocol
import CloudSync
import Records
import SyncMachine

/// I1: at rest, every device holds exactly what the server shows, and nothing waits.
extension EngineWorld {
  func checkConvergence() throws {
    try checkStorage()
    for device in devices where findings.isEmpty { check(device) }
  }

  /// The oracle, which the devices are compared with, agrees with what is stored.
  private func checkStorage() throws {
    for account in 1...options.accountCount {
      let database = cloud.database(of: account)
      for zone in layout.zones.indices {
        let stored = try cloud.records(in: zone, of: account)
        let expected = layout.places(of: zone).compactMap { database.entries[$0].record }
        if stored.sorted(by: { $0.id < $1.id }) != expected.sorted(by: { $0.id < $1.id }) {
          findings.report(
            "I2",
            "\(layout.zones[zone].name) of account \(account) is stored otherwise than answered")
        }
      }
    }
  }

  private func check(_ device: EngineDevice) {
    guard let run = device.run else { return }
    let (name, state, stage) = (device.name, run.engine.syncState, run.engine.stage)
    let model = run.app.model
    if stage != .idle && stage != .dormant {
      findings.report("I17", "\(name): at rest in \(stage)")
    }
    if run.link.openCount > 0 { findings.report("I17", "\(name): a request has no answer") }
    guard let account = device.account else {
      // An engine that was given no state, while nobody is signed in, knows of no account to take
      // leave of: data kept without state are then the app's own affair.
      if model.owner != nil, device.persistence != .dataFirst {
        findings.report("I13", "\(name): keeps data after a sign-out")
      }
      return
    }
    if model.owner != layout.users[account - 1] || state.user != model.owner {
      findings.report("I13", "\(name): is not at its account")
      return
    }
    if !state.records.isEmpty || !state.zones.isEmpty || state.hasUntrackedChanges {
      findings.report("I3", "\(name): changes are still pending")
    }
    let expected = cloud.records(for: account, device.scope)
    for place in layout.records.indices {
      findings.compare(
        model.entries[place], of: device.name, at: place, in: layout, with: expected[place])
    }
  }
}
