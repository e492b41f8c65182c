import CloudProtocol
import CloudSync
import Records

/// Shares between the accounts of a world.
extension EngineWorld {
  /// The engines on the shared databases of `hosts`; on one of them at least.
  func guests(
    of hosts: [EngineDevice], _ shape: WorldShape, _ sharing: inout SharingOptions?
  ) -> [EngineDevice] {
    guard var options = sharing else { return [] }
    let layout = layout.visited(owner: layout.users[SharingOptions.owner - 1])
    var guests: [EngineDevice] = []
    for host in hosts {
      guard options.random.chance(options.guestRate) || host.number == 1 else {
        continue
      }
      let guest = EngineDevice(
        number: hosts.count + guests.count, layout: layout, findings: findings,
        journal: journal, random: &options.random, host: host)
      guest.apply(shape)
      host.guest = guest
      guests.append(guest)
    }
    sharing = options
    return guests
  }

  /// A user performs an action on a share.
  func share() {
    let action = random.pick(
      [SharingAction.share, .share, .accept, .accept, .accept] + SharingAction.allCases)
    let zone = random.below(layout.zones.count)
    perform(action, in: zone)
  }

  /// Some zones are shared from the beginning.
  func beginSharing() {
    for zone in layout.zones.indices where random.chance(0.7) { perform(.share, in: zone) }
  }

  /// Lets the first shares reach their participants before the network fails and people act.
  func startSharing() throws {
    isHealed = true
    while findings.isEmpty, steps < options.steps / 3, !isQuiet { try step() }
    isHealed = false
  }

  private func perform(_ action: SharingAction, in zone: Int) {
    guard
      let request = cloud.request(
        for: action, in: zone, sequence: journal.nextSequence(), &random)
    else { return }
    let asking = devices.filter {
      $0.host == nil && $0.account == request.account && $0.isOnline
    }
    guard !asking.isEmpty else { return }
    let device = random.pick(asking)
    note("\(device.name), account \(request.account): \(action) \(layout.zones[zone].name)")
    let (cloud, networkQueue, number) = (cloud, networkQueue, device.number)
    let calls = request.requests.map { body in
      CloudCall(
        container: WorldLayout.container, database: request.database,
        requestID: "people-\(journal.nextSequence())", request: body)
    }
    Task.detached(executorPreference: executor) {
      for call in calls {
        let answer = await cloud.answer(call, device: number, account: request.account)
        guard answer.isWhole else { return }
      }
      networkQueue.put(.shared(action, zone: zone, accounts: request.accounts))
    }
  }

  /// Something was done about a share.
  func noteSharing(_ action: SharingAction, _ zone: Int, _ accounts: [Int]) {
    journal.mix(action.rawValue.utf8.count)
    note("\(action): done, for \(accounts)")
    for device in devices where device.host != nil {
      guard let account = device.account, accounts.contains(account) else { continue }
      reach(action, device)
    }
    guard action == .share else { return }
    for _ in 2...options.accountCount where random.chance(0.8) { perform(.accept, in: zone) }
  }

  private func reach(_ action: SharingAction, _ device: EngineDevice) {
    guard let run = device.run else { return }
    tally.situations["\(action) \(run.engine.stage)", default: 0] += 1
  }
}

extension Result where Success == CloudReply, Failure == CloudError {
  /// Whether all of a request was done.
  fileprivate var isWhole: Bool {
    switch self {
    case .failure: false
    case .success(let reply): reply.itemErrors.isEmpty
    }
  }
}
