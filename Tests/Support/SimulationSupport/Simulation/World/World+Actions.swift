import CloudProtocol
import Records
import SyncMachine

/// The actions of users and of the environment.
extension World {
  func perform(_ action: WorldAction, on device: Device) throws {
    journal.mix(device.number)
    switch action {
    case .edit, .delete, .deleteZone, .retryBlocked, .manualFetch, .manualSend, .cancel, .poke:
      guard device.isRunning else { return launch(device.process.number) }
      use(device, action)
    case .crash: crash(device)
    case .offline:
      reach(.network, device)
      if device.isOnline { disconnect(device) } else { connect(device) }
    case .account: actOnAccount(of: device)
    case .administration: try removeZone()
    case .expiry: try forget()
    case .serverRestart:
      for device in devices { reach(.serverRestart, device) }
      note("the server restarts")
      let downtime = random.number(in: 1...30_000)
      let jump = options.server.clockJump
      try restartServer(
        downtime: downtime, clockJump: jump > 0 ? Double(random.number(in: -jump...jump)) : 0)
    case .outage:
      for device in devices { reach(.outage, device) }
      let code = beginOutage()
      note("an outage begins: \(code.map { "\($0)" } ?? "")")
    case .quota:
      let account = random.number(in: 1...options.accountCount)
      let quota = random.chance(0.5) ? random.below(1_000) : nil
      note("account \(account) may hold \(quota.map { "\($0) bytes" } ?? "anything")")
      try setQuota(quota, of: account)
    }
  }

  /// The user uses the app.
  func use(_ device: Device, _ action: WorldAction) {
    device.retryChecker.noteCause()
    let layout = device.layout
    let place = random.below(layout.records.count)
    let id = layout.records[place]
    switch action {
    case .edit:
      let sequence = journal.nextEdit()
      reach(.edit, device)
      note("\(device.name) writes edit \(sequence) at \(id.path)")
      device.use(at: now) { $0.edit(place, sequence: sequence) }
    case .delete:
      reach(.deletion, device)
      note("\(device.name) deletes \(id.path)")
      device.use(at: now) { $0.delete(place) }
    case .deleteZone:
      note("\(device.name) deletes \(id.zone.name)")
      device.use(at: now) { $0.deleteZone(layout.zone(of: place)) }
    case .retryBlocked: device.use(at: now) { $0.retryBlocked() }
    case .manualFetch:
      reach(.manualFetch, device)
      let zone = device.named(id, .fetchScope).zone
      fetch(device, random.chance(0.7) ? .all : .zones([zone]))
    case .manualSend:
      reach(.manualSend, device)
      let record = device.named(id, .sendScope)
      let scopes: [SendScope] = [
        .all, .all, .zones([record.zone]), .records([record]), .allExcluding([record.zone]),
      ]
      send(device, random.pick(scopes))
    case .cancel:
      reach(.cancel, device)
      note("\(device.name) cancels")
      cancelOperations(of: device)
    case .poke: device.poke(at: now)
    case .crash, .offline, .account, .administration, .expiry, .serverRestart, .outage, .quota:
      break
    }
  }

  func disconnect(_ device: Device) {
    device.isOnline = false
    note("\(device.name) is offline")
  }

  /// A device is online again, when it was not.
  func connect(_ device: Device) {
    guard !device.isOnline else { return }
    device.isOnline = true
    note("\(device.name) is online")
    device.retryChecker.noteCause()
    tellNetworkReturned(to: device)
  }

  func changeAccount(of device: Device) {
    let next = random.below(options.accountCount + 1)
    let device = device.process
    for part in device.parts { reach(next == 0 ? .signOut : .signIn, part) }
    device.account = next == 0 ? nil : next
    note("\(device.name): \(device.account.map { "account \($0)" } ?? "nobody") is signed in")
    post(.accountSignal(device: device.number), after: delay())
    // The system may tell it twice.
    if random.chance(0.2) { post(.accountSignal(device: device.number), after: delay()) }
  }

  // MARK: Administrators and other programs

  private func removeZone() throws {
    let account = random.number(in: 1...options.accountCount)
    let zone = random.below(layout.zones.count)
    let reason = random.pick(ZoneDeletionReason.allCases)
    note("\(layout.zones[zone].name) of account \(account) goes: \(reason)")
    guard try remove(zone, of: account, reason: reason) else { return }
    for device in devices where device.account == account { reach(.init(reason), device) }
  }

  private func forget() throws {
    let account = random.number(in: 1...options.accountCount)
    let zone = random.below(layout.zones.count)
    let trims = random.chance(0.5)
    let target = random.chance(0.3) ? nil : zone
    for device in devices where device.account == account {
      reach(trims ? .trim : .expiry, device)
    }
    note(
      "account \(account): \(trims ? "deletions" : "tokens") of "
        + "\(target.map { layout.zones[$0].name } ?? "the zone list") are forgotten")
    try forget(target, of: account, trims: trims)
  }
}
