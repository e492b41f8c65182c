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
    guard let run = device.run, let atRest = device.atRest else { return }
    if run.link.openCount > 0 {
      findings.report("I17", "\(device.name): a request has no answer")
    }
    findings.compare(atRest, in: layout) { cloud.records(for: $0, device.scope) }
  }
}

extension EngineDevice {
  /// The device for the check of convergence; `nil` while it is off.
  var atRest: DeviceAtRest? {
    run.map {
      DeviceAtRest(
        name: name, stage: $0.engine.stage, state: $0.engine.syncState, app: $0.app.model,
        account: account, persistence: persistence)
    }
  }
}
