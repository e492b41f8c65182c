import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import SyncMachine
import Synchronization

/// The second phase: there are no more faults, and all devices must converge.
extension EngineWorld {
  func heal() throws {
    isHealed = true
    note("faults end")
    try cloud.heal()
    for device in devices { device.calmDown() }
    for device in devices where device.host == nil {
      launch(device.number)
      connect(device)
      if device.processState.availability != .available { setAvailability(.available, of: device) }
    }
    // First every engine has to do by itself what it had a cause for: a push, a signal or a change
    // that it would not have had would hide that it does not.
    try settle(limits)
    checkNoWorkIsPending()
    if findings.isEmpty { try tryFaults() }
    guard findings.isEmpty else { return }
    try settleAccounts()
    try retryEverywhere()
    if findings.isEmpty { try loseServer() }
  }

  /// Signs in on nearly every device, and sends each an account signal.
  private func settleAccounts() throws {
    note("accounts are settled")
    for device in devices { device.retryChecker.noteCause() }
    for device in devices where device.host == nil { settleAccount(of: device) }
    try settle(limits)
  }

  /// Ends the world; no object may be left (I22).
  func end() throws {
    let isHealthy = findings.isEmpty
    for device in devices { _ = device.end(&random, isStale: false) }
    var left = 20_000
    while left > 0, executor.readyCount > 0 || !messages.isEmpty {
      while executor.runOne() {}
      _ = networkQueue.take()
      messages = MessageQueue()
      left -= 1
    }
    cloud.close()
    tally.steps = steps
    tally.edits = journal.edits
    tally.situations.merge(journal.situations) { $0 + $1 }
    tally.jobs = executor.jobCount
    tally.situations.merge(cloud.sharingCounts) { $0 + $1 }
    tally.worldsOnDisk = cloud.isOnDisk ? 1 : 0
    (tally.serverPowerLosses, tally.serverKills) = cloud.endings
    guard isHealthy else { return }
    checkNothingIsLeft()
  }
}
