import CloudProtocol
import LoopbackServer
import SimulationSupport

/// What goes wrong at the server and on the way.
extension StoreWorld {
  /// Sets a fault up for the next requests.
  func breakSomething() throws {
    let device = random.pick(devices)
    let name = random.below(3) == 0 ? nil : device.link.name
    let kind = random.below(3) == 0 ? nil : random.pick(Self.kinds)
    let scope = RequestScope(kind: kind, device: name)
    let whose = "\(kind?.rawValue ?? "anything") of \(name ?? "anybody")"
    switch random.below(20) {
    case 0..<10:
      let code = random.pick(Self.codes)
      let wait = random.below(2) == 0 ? nil : Double(random.number(in: 1...20))
      let count = random.number(in: 1...3)
      journal.say("fault: \(count) x \(code), wait \(wait ?? 0), for \(whose)")
      server.controls.fail(next: count, with: code, retryAfter: wait, in: scope)
    case 10..<14:
      let changes = RequestScope(
        kind: random.pick([.modifyRecords, .modifyRecords, .modifyZones, nil]), device: name)
      journal.say("fault: lost answers, for \(whose)")
      server.controls.dropAnswers(next: random.number(in: 1...2), in: changes)
    case 14:
      journal.say("fault: too much at once, for \(name ?? "anybody")")
      server.controls.fail(
        with: .limitExceeded, in: RequestScope(kind: .modifyRecords, device: name))
    case 15:
      journal.say("fault: delays, for \(whose)")
      server.controls.delay(next: 2, by: Double(random.number(in: 1...8)), in: scope)
    case 16:
      journal.say("fault: no space, for \(name ?? "anybody")")
      server.controls.fail(
        with: .quotaExceeded, in: RequestScope(kind: .modifyRecords, device: name))
    case 17:
      let feed: RequestKind = random.below(2) == 0 ? .fetchDatabaseChanges : .fetchZoneChanges
      journal.say("fault: old token, for \(feed.rawValue) of \(name ?? "anybody")")
      server.controls.fail(
        with: .changeTokenExpired, in: RequestScope(kind: feed, device: name))
    case 18: expireTokens(of: device.account)
    default:
      journal.say("fault: lost pushes, for \(name ?? "anybody")")
      server.controls.dropPushes(next: random.number(in: 1...3), to: name)
    }
  }

  /// Lets every token of an account expire: all devices read everything again.
  private func expireTokens(of account: String) {
    guard let zones = try? server.zones(container: container, account: account) else { return }
    journal.say("fault: all tokens of \(account) expire")
    for zone in zones {
      try? server.controls.expireTokens(of: zone, container: container, account: account)
    }
    try? server.controls.expireTokens(container: container, account: account)
  }

  private static let kinds: [RequestKind] = [
    .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .modifyZones, .modifyRecords,
    .modifyRecords, .modifyRecords, .modifySubscriptions, .queryRecords,
  ]

  private static let codes: [CloudError.Code] = [
    .zoneBusy, .serviceUnavailable, .requestRateLimited, .networkFailure, .serverResponseLost,
    .networkUnavailable, .serverRejectedRequest, .internalError,
  ]
}
