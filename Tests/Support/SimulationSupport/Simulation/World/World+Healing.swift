import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// The second phase: there are no more faults, and all devices must converge.
extension World {
  /// The most steps that healing may take.
  private static let stepBound = 20_000
  /// The longest it may take: the longest wait a server asked for, and some rounds of retries.
  private var timeBound: Int { (options.server.longestRetryAfter + 2 * 3_600) * 1_000 }

  func heal() throws {
    isHealed = true
    random.beginStep(isHealing: true)
    note("faults end")
    cloud.refusals.end()
    for user in layout.users { try cloud.machine.setQuota(nil, of: user, in: cloud.storage) }
    for device in devices {
      launch(device.number)
      device.isOnline = true
      device.scopeRate = 0
      device.retryChecker.noteCause()
      if device.account == nil, random.chance(0.8) {
        device.account = random.number(in: 1...options.accountCount)
      }
      post(.accountSignal(device: device.number), after: delay())
    }
    // Late messages of the first phase still arrive.
    let limits = (steps: steps + Self.stepBound, time: max(now, lateness) + timeBound)
    try settle(limits)
    for device in devices {
      let moment = Moment(.milliseconds(now))
      device.withPeople(at: now) { $0.retryBlocked() }
      device.machine?.networkReturned(now: moment)
      device.machine?.serverChanged(now: moment)
      device.moved()
    }
    try settle(limits)
    try syncByHand(limits)
    guard findings.isEmpty else { return }
    try checkConvergence()
  }

  /// The longest a message of the first phase can still be under way.
  private var lateness: Int { now + 2 * options.network.longestDelay + options.network.timeout }

  /// Runs steps until no event is due.
  private func settle(_ limits: (steps: Int, time: Int)) throws {
    while findings.isEmpty {
      let isQuiet = messages.isEmpty && nextTime == nil
      if isQuiet, !devices.contains(where: { $0.isReady(at: now) }) { return }
      try step()
      guard steps < limits.steps, now < limits.time else {
        let busy = devices.map { "\($0.name) \($0.summary)" }.joined(separator: ", ")
        findings.report("I17", "no rest after \(steps) steps and \(now / 1000) s: \(busy)")
        return
      }
    }
  }

  /// Syncs the devices without automatic sync until they have nothing left to send.
  private func syncByHand(_ limits: (steps: Int, time: Int)) throws {
    // A batch may hold one record, and each may be refused.
    for _ in 0..<(12 + layout.records.count) {
      for device in devices where !device.isAutomatic {
        device.fetch(scope: .all)
        device.send(scope: .all)
        try settle(limits)
        device.withPeople(at: now) { $0.retryBlocked() }
      }
      let isDone = devices.allSatisfy { $0.isAutomatic || $0.atRest?.isSettled ?? true }
      if isDone { break }
    }
    for device in devices where !device.isAutomatic {
      device.fetch(scope: .all)
      try settle(limits)
    }
  }
}
