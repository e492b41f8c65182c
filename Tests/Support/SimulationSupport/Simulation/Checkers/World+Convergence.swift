import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// I1: at rest, every device holds exactly what the server shows, and nothing is pending.
extension World {
  func checkConvergence() throws {
    try checkStorage()
    for device in devices {
      if !device.openWaiters.isEmpty {
        findings.report("I17", "\(device.name): an operation never ends")
      }
      if let atRest = device.atRest {
        findings.compare(atRest, in: layout) { account in
          cloud.oracle.databases[account - 1].entries.map(\.record)
        }
      }
      if let finding = findings.found.first { return note(finding.message) }
    }
  }

  /// The oracle, with which devices are compared, agrees with the stored records.
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
}

extension WorldDevice {
  /// The device for the check of convergence; `nil` while it is off.
  var atRest: DeviceAtRest? {
    machine.map {
      DeviceAtRest(
        name: name, stage: $0.stage, state: $0.state, app: app, account: account,
        persistence: persistence)
    }
  }
}
