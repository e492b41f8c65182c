import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// The actions of users, administrators and the environment.
extension World {
  /// One action, chosen by the weights of this world.
  func act() throws {
    // Actions take time, so that a world whose messages wait for hours still moves.
    now += random.below(random.chance(0.1) ? 30_000 : 20)
    trace.mix(200)
    let action = options.action(among: WorldAction.allCases, &random)
    try perform(action, on: devices[random.below(devices.count)])
  }

  private func perform(_ action: WorldAction, on device: WorldDevice) throws {
    trace.mix(device.number)
    switch action {
    case .edit, .delete, .deleteZone, .retryBlocked, .manualFetch, .manualSend, .cancel, .poke:
      guard device.machine != nil else { return launch(device.number) }
      use(device, action)
    case .crash:
      // What is lost between the engine and its app is lost while the app has an event.
      let busy = devices.filter { $0.machine != nil && $0.callback != nil }
      let device = busy.isEmpty || random.chance(0.5) ? device : random.pick(busy)
      guard device.machine != nil else { return launch(device.number) }
      crash(device)
    case .offline:
      device.isOnline.toggle()
      note("\(device.name) is \(device.isOnline ? "online" : "offline")")
      guard device.isOnline else { return }
      device.retryChecker.noteCause()
      device.machine?.networkReturned(now: Moment(.milliseconds(now)))
      device.moved()
    case .account: changeAccount(of: device)
    case .administration, .expiry: try administer(action)
    case .serverRestart:
      cloud.refusals.downUntil = now + random.number(in: 1...30_000)
      if options.server.clockJump > 0 {
        let jump = options.server.clockJump
        cloud.clockOffset += Double(random.number(in: -jump...jump))
      }
      note("the server restarts")
      try cloud.restart()
    case .outage: beginOutage()
    case .quota:
      let account = random.number(in: 1...options.accountCount)
      let quota = random.chance(0.5) ? random.below(1_000) : nil
      note("account \(account) may hold \(quota.map { "\($0) bytes" } ?? "anything")")
      try cloud.machine.setQuota(quota, of: layout.users[account - 1], in: cloud.storage)
    }
  }

  /// The user uses the app.
  private func use(_ device: WorldDevice, _ action: WorldAction) {
    device.retryChecker.noteCause()
    let moment = Moment(.milliseconds(now))
    let place = random.below(layout.records.count)
    switch action {
    case .edit:
      lastSequence += 1
      note("\(device.name) writes edit \(lastSequence) at \(layout.records[place].path)")
      device.withPeople(at: now) { $0.edit(place, sequence: lastSequence) }
    case .delete:
      note("\(device.name) deletes \(layout.records[place].path)")
      device.withPeople(at: now) { $0.delete(place) }
    case .deleteZone:
      note("\(device.name) deletes \(layout.records[place].zone.name)")
      device.withPeople(at: now) { $0.deleteZone(layout.zone(of: place)) }
    case .retryBlocked: device.withPeople(at: now) { $0.retryBlocked() }
    case .manualFetch:
      let zones: FetchScope = random.chance(0.7) ? .all : .zones([layout.records[place].zone])
      device.fetch(scope: zones)
    case .manualSend:
      let scopes: [SendScope] = [
        .all, .all, .zones([layout.records[place].zone]), .records([layout.records[place]]),
        .allExcluding([layout.records[place].zone]),
      ]
      device.send(scope: random.pick(scopes))
    case .cancel:
      note("\(device.name) cancels")
      device.machine?.cancelOperations(waiter: device.newWaiter(), now: moment)
      device.noteInterruption()
      device.moved()
    case .poke: device.poke(at: now)
    case .crash, .offline, .account, .administration, .expiry, .serverRestart, .outage, .quota:
      break
    }
  }

  private func changeAccount(of device: WorldDevice) {
    let next = random.below(options.accountCount + 1)
    device.account = next == 0 ? nil : next
    note("\(device.name): \(device.account.map { "account \($0)" } ?? "nobody") is signed in")
    post(.accountSignal(device: device.number), after: delay())
    // The system may tell it twice.
    if random.chance(0.2) { post(.accountSignal(device: device.number), after: delay()) }
  }

  func crash(_ device: WorldDevice) {
    note("\(device.name) crashes")
    let state = device.crash(&random)
    device.nextState = state
    post(.launch(device: device.number), after: delay())
  }

  /// Starts a device that is off.
  func launch(_ number: Int) {
    let device = devices[number]
    guard device.machine == nil else { return }
    note(
      "\(device.name) starts, keeps \(device.persistence), \(device.app.policy), "
        + (device.isAutomatic ? "automatic" : "by hand"))
    device.start(from: device.nextState, at: now)
  }

  private func administer(_ action: WorldAction) throws {
    let account = random.number(in: 1...options.accountCount)
    let zone = random.below(layout.zones.count)
    if action == .administration {
      let reason = random.pick(ZoneDeletionReason.allCases)
      note("\(layout.zones[zone].name) of account \(account) goes: \(reason)")
      push(try cloud.remove(zone, of: account, reason: reason, at: now))
    } else {
      let trims = random.chance(0.5)
      let target = random.chance(0.3) ? nil : zone
      note(
        "account \(account): \(trims ? "deletions" : "tokens") of "
          + "\(target.map { layout.zones[$0].name } ?? "the zone list") are forgotten")
      // What went just before is what a device can learn only by reading from the start.
      if let target, random.chance(0.5) {
        let places = layout.places(of: target).filter { _ in random.chance(0.5) }
        note("somebody deletes \(places.count) records there")
        push(try cloud.deleteRecords(places, of: account, number: steps, at: now))
      }
      try cloud.forget(target, of: account, trims: trims, at: now)
    }
  }

  private func beginOutage() {
    cloud.refusals.outage = RequestRefusals.Outage(&random, deviceCount: devices.count, at: now)
    note("an outage begins: \(cloud.refusals.outage.map { "\($0.code)" } ?? "")")
  }
}
