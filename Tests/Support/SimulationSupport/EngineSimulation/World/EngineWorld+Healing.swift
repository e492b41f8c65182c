import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import SyncMachine
import Synchronization

/// The second phase: there are no more faults, and all devices must converge.
extension EngineWorld {
  /// The most steps that healing may take.
  private static let stepBound = 40_000
  /// The longest it may take: the longest wait a server asked for, and some rounds of retries.
  private var timeBound: Int { (options.server.longestRetryAfter + 2 * 3_600) * 1_000 }
  /// The longest a message of the first phase can still be under way.
  private var lateness: Int { now + 2 * options.network.longestDelay + options.network.timeout }

  /// The bounds of a phase that begins now.
  var limits: (steps: Int, time: Int) {
    (steps: steps + Self.stepBound, time: max(now, lateness) + timeBound)
  }

  func heal() throws {
    isHealed = true
    note("faults end")
    try cloud.heal()
    for device in devices { device.calmDown() }
    for device in devices where device.host == nil {
      launch(device.number)
      connect(device)
      if device.availability != .available { setAvailability(.available, of: device) }
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

  /// Lets every device retry and sync until all hold the same.
  func retryEverywhere() throws {
    for device in devices {
      guard let run = device.run else { continue }
      run.app.use(run.engine) { $0.retryBlocked() }
      push(to: device)
    }
    try settle(limits)
    try syncByHand(limits)
    if findings.isEmpty { try checkConvergence() }
  }

  /// Signs in on nearly every device, and sends each an account signal.
  private func settleAccounts() throws {
    note("accounts are settled")
    for device in devices { device.retryChecker.noteCause() }
    for device in devices where device.host == nil {
      if device.account == nil, random.chance(0.8) {
        device.account = random.number(in: 1...options.accountCount)
      }
      post(.accountSignal(device: device.number), after: delay())
    }
    try settle(limits)
  }

  /// Runs steps until no event is due.
  func settle(_ limits: (steps: Int, time: Int)) throws {
    while findings.isEmpty, !isQuiet {
      try step()
      guard steps < limits.steps, now < limits.time else {
        let busy = devices.map { "\($0.name) \($0.run.map { "\($0.engine.stage)" } ?? "off")" }
        findings.report(
          "I17",
          "no rest after \(steps) steps and \(now / 1000) s: \(busy.joined(separator: ", "))")
        return
      }
    }
    checkAtRest()
  }

  /// Syncs the devices without automatic sync until they have nothing left to send.
  func syncByHand(_ limits: (steps: Int, time: Int)) throws {
    // A batch may hold one record, and each may be refused.
    for _ in 0..<(12 + layout.records.count) {
      for device in devices where !device.isAutomatic {
        guard let run = device.run else { continue }
        fetch(run, .all)
        send(run, .all)
        try settle(limits)
        run.app.use(run.engine) { $0.retryBlocked() }
      }
      if devices.allSatisfy({ $0.isAutomatic || $0.atRest?.isSettled ?? true }) { break }
    }
    for device in devices where !device.isAutomatic {
      guard let run = device.run else { continue }
      fetch(run, .all)
      try settle(limits)
    }
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
    tally.situations.merge(journal.situations) { $0 + $1 }
    tally.jobs = executor.jobCount
    tally.situations.merge(cloud.sharingCounts) { $0 + $1 }
    tally.worldsOnDisk = cloud.isOnDisk ? 1 : 0
    (tally.serverPowerLosses, tally.serverKills) = cloud.endings
    guard isHealthy else { return }
    checkNothingIsLeft()
  }
}
