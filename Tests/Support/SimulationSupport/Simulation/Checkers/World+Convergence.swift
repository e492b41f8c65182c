import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// I1: at rest, every device holds exactly what the server shows, and nothing waits.
extension World {
  func checkConvergence() throws {
    try checkStorage()
    for device in devices {
      check(device)
      if let finding = findings.found.first { return note(finding.message) }
    }
  }

  /// The oracle, which the devices are compared with, agrees with what is stored.
  private func checkStorage() throws {
    for account in 1...options.accountCount {
      for place in layout.records.indices {
        let stored = try cloud.storage.record(
          layout.records[place], in: cloud.database(of: account))?.record
        let expected = cloud.oracle.databases[account - 1].entries[place].record
        if stored != expected {
          findings.report("I2", "\(layout.records[place].path) is stored otherwise than answered")
        }
      }
    }
  }

  private func check(_ device: WorldDevice) {
    guard let machine = device.machine else { return }
    let name = device.name
    if machine.stage != .idle && machine.stage != .dormant {
      findings.report("I17", "\(name): at rest in \(machine.stage)")
    }
    if !device.openWaiters.isEmpty {
      findings.report("I17", "\(name): somebody waits for ever")
    }
    guard let account = device.account else {
      // An engine that was given no state, while nobody is signed in, knows of no account to take
      // leave of: data kept without state are then the app's own affair.
      if device.app.owner != nil, device.persistence != .dataFirst {
        findings.report("I13", "\(name): keeps data after a sign-out")
      }
      return
    }
    if device.app.owner != layout.users[account - 1] || machine.state.user != device.app.owner {
      findings.report("I13", "\(name): is not at its account")
      return
    }
    if !machine.state.records.isEmpty || !machine.state.zones.isEmpty
      || machine.state.hasUntrackedChanges
    {
      findings.report("I3", "\(name): changes are still pending")
    }
    for place in layout.records.indices {
      findings.compare(
        device.app.entries[place], of: device.name, at: place, in: layout,
        with: cloud.oracle.databases[account - 1].entries[place].record)
    }
  }
}

extension WorldDevice {
  /// Whether nothing is left to send.
  var isSettled: Bool {
    guard let machine else { return true }
    guard account != nil else { return true }
    return app.isSettled && machine.state.records.isEmpty && machine.state.zones.isEmpty
      && !machine.state.hasUntrackedChanges
  }
}
