import CloudProtocol
import Records
import SyncMachine

/// The second phase: there are no more faults, and all devices must converge.
extension World {
  typealias Limits = (steps: Int, time: Int)

  /// The bounds of a phase of healing that begins now.
  ///
  /// Late messages of the first phase still arrive; then there is time for the longest wait that
  /// the server asked for and some rounds of retries.
  var limits: Limits {
    let lateness = 2 * options.network.longestDelay + options.network.timeout
    let time = (options.server.longestRetryAfter + 2 * 3_600) * 1_000
    return (steps: steps + stepBound, time: now + lateness + time)
  }

  /// Runs steps until no event is due.
  func settle(_ limits: Limits) throws {
    while findings.isEmpty, !isQuiet {
      try step()
      guard steps < limits.steps, now < limits.time else {
        let busy = devices.map { "\($0.name) \($0.summary)" }.joined(separator: ", ")
        findings.report("I17", "no rest after \(steps) steps and \(now / 1000) s: \(busy)")
        return
      }
    }
    checkAtRest()
  }

  /// Signs in on nearly every device without an account, and sends each an account signal.
  func settleAccount(of device: Device) {
    if device.account == nil, random.chance(0.8) {
      device.account = random.number(in: 1...options.accountCount)
    }
    post(.accountSignal(device: device.number), after: delay())
  }

  /// Lets every device retry and sync until all hold the same.
  func retryEverywhere() throws {
    for device in devices where device.isRunning {
      device.use(at: now) { $0.retryBlocked() }
      push(to: device)
    }
    try settle(limits)
    try syncByHand(limits)
    if findings.isEmpty { try checkConvergence() }
  }

  /// Syncs the devices without automatic sync until they have nothing left to send.
  private func syncByHand(_ limits: Limits) throws {
    // A batch may hold one record, and each may be refused.
    for _ in 0..<(12 + layout.records.count) {
      for device in devices where !device.isAutomatic && device.isRunning {
        fetch(device, .all)
        send(device, .all)
        try settle(limits)
        device.use(at: now) { $0.retryBlocked() }
      }
      if devices.allSatisfy({ $0.isAutomatic || $0.atRest?.isSettled ?? true }) { break }
    }
    for device in devices where !device.isAutomatic && device.isRunning {
      fetch(device, .all)
      try settle(limits)
    }
  }

  /// I1: at rest, every device holds exactly what the server shows, and nothing is pending.
  private func checkConvergence() throws {
    try checkStorage()
    for device in devices where findings.isEmpty {
      if let atRest = device.atRest {
        findings.compare(atRest, in: layout) { records(for: $0, device.scope) }
      }
    }
    if let finding = findings.found.first { note(finding.message) }
  }

  /// The oracle, with which devices are compared, agrees with the stored records.
  private func checkStorage() throws {
    for account in 1...options.accountCount {
      try findings.compareStorage(
        "I2", of: account, in: layout, answered: records(for: account, .private)
      ) { zone in try storedRecords(in: zone, of: account) }
    }
  }
}
