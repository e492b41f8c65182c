import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// What the server of a world of machines does and holds.
extension MachineWorld {
  func restartServer(downtime: Int, clockJump: Double) throws {
    cloud.refusals.downUntil = now + downtime
    cloud.clockOffset += clockJump
    try cloud.restart()
  }

  func beginOutage() -> CloudError.Code? {
    cloud.refusals.outage = RequestRefusals.Outage(&random, deviceCount: devices.count, at: now)
    return cloud.refusals.outage?.code
  }

  func setQuota(_ bytes: Int?, of account: Int) throws {
    try cloud.machine.setQuota(bytes, of: layout.users[account - 1], in: cloud.storage)
  }

  func remove(_ zone: Int, of account: Int, reason: ZoneDeletionReason) throws -> Bool {
    push(try cloud.remove(zone, of: account, reason: reason, at: now))
    return true
  }

  func forget(_ zone: Int?, of account: Int, trims: Bool) throws {
    // What went just before is what a device can learn only by reading from the start.
    if let zone, random.chance(0.5) {
      let places = layout.places(of: zone).filter { _ in random.chance(0.5) }
      note("somebody deletes \(places.count) records there")
      push(try cloud.deleteRecords(places, of: account, number: steps, at: now))
    }
    try cloud.forget(zone, of: account, trims: trims, at: now)
  }

  func storedRecords(in zone: Int, of account: Int) throws -> [Record] {
    try layout.places(of: zone).compactMap { place in
      try cloud.storage.record(layout.records[place], in: cloud.database(of: account))?.record
    }
  }

  func records(for account: Int, _ scope: DatabaseScope) -> [Record?] {
    cloud.oracle.databases[account - 1].entries.map(\.record)
  }
}
