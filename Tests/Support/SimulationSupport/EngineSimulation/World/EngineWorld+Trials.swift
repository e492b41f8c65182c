import CloudProtocol
import CloudSync
import Records
import SyncMachine

/// Single faults in a world that is whole otherwise, with nothing behind them that would hide what
/// they left: no change elsewhere, no push and no fetch by hand.
extension EngineWorld {
  /// The longest time that a change may wait after the network is back, in milliseconds.
  private static let linkBound = 30_000

  /// Injects a few faults, one after the other.
  func tryFaults() throws {
    for _ in 0..<2 where findings.isEmpty {
      switch random.below(10) {
      case 0..<6: try tryRefusal()
      case 6..<8: try tryLink()
      default: try tryNarrowFetch()
      }
      checkNoWorkIsPending()
    }
  }

  private func randomDevice(where fits: (EngineDevice) -> Bool) -> EngineDevice? {
    let fitting = devices.filter { $0.isUsable && $0.isRunning && fits($0) }
    return fitting.isEmpty ? nil : random.pick(fitting)
  }

  /// One kind of request fails with one code, once or several times, on every device.
  private func tryRefusal() throws {
    let kind = random.pick(RequestRefusals.RequestKind.ofEngines)
    let code = random.pick(CloudError.Code.allCases)
    let count = random.chance(0.5) ? 1 : random.number(in: 2...5)
    guard let device = randomDevice(where: { _ in true }) else { return }
    note("\(code) meets \(count) requests: \(kind)")
    cloud.refuseRepeatedly(
      RequestRefusals.RepeatedRefusal(kind: kind, code: code, left: count),
      deviceCount: devices.count)
    switch kind {
    case .account, .findSubscription, .saveSubscription:
      changeAccount(of: device)
    case .zoneCheck:
      try loseZone(ofAccountOf: device)
      use(device, .edit)
    case .zones where random.chance(0.3): use(device, .deleteZone)
    case .database, .zone, .zones, .records, .other: use(device, .edit)
    }
    if !device.isAutomatic { send(device, .all) }
    try settle(limits)
    cloud.refuseRepeatedly(nil, deviceCount: devices.count)
  }

  /// Deletes a zone, and expires the tokens that would report the reason.
  private func loseZone(ofAccountOf device: EngineDevice) throws {
    guard let account = device.account else { return }
    let reason = random.pick(ZoneDeletionReason.allCases)
    note("a zone of account \(account) goes, and the tokens: \(reason)")
    _ = try cloud.remove(random.below(layout.zones.count), of: account, reason: reason)
    try cloud.forget(nil, of: account, trims: false)
  }

  /// A device is used while it is offline: its changes are sent soon after it is online.
  private func tryLink() throws {
    guard let device = randomDevice(where: { $0.isAutomatic }), let run = device.run else { return }
    disconnect(device)
    use(device, .edit)
    try proceed(for: random.number(in: 1_000...3_600_000))
    guard findings.isEmpty else { return }
    connect(device)
    let lastFailure = run.engine.status.lastFailure
    try proceed(for: Self.linkBound)
    let state = run.engine.syncState
    // A send that the server refused since then is repeated after a back-off, as for any failure.
    if findings.isEmpty, !state.records.isEmpty || !state.zones.isEmpty,
      run.engine.status.lastFailure == lastFailure
    {
      findings.report("I17", "\(device.name): a change waits though the link is back")
    }
    try settle(limits)
  }

  /// Runs steps for some milliseconds.
  private func proceed(for time: Int) throws {
    let (end, lastStep) = (now + time, limits.steps)
    // Something that is due then, so that time does not pass it.
    messages.push(.pause, at: end, rank: random.next())
    while findings.isEmpty, now < end, steps < lastStep { try step() }
  }

  /// A device writes, and the one that gets the push fetches another zone at that moment.
  private func tryNarrowFetch() throws {
    guard layout.zones.count > 1,
      let reader = randomDevice(where: { $0.isAutomatic }),
      let writer = randomDevice(where: {
        $0.number != reader.number && $0.account == reader.account
      })
    else { return }
    narrowFetch = (reader.number, random.pick(layout.zones))
    use(writer, .edit)
    if !writer.isAutomatic { send(writer, .all) }
    try settle(limits)
    narrowFetch = nil
  }
}
