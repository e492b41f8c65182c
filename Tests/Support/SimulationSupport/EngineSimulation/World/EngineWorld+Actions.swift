import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import SyncMachine

/// The actions of users and of the environment.
extension EngineWorld {
  func act() throws {
    if let rate = sharing?.rate, random.chance(rate) { return share() }
    let action = options.action(among: WorldAction.allCases.filter { $0 != .poke }, &random)
    try perform(action, on: devices[random.below(devices.count)])
  }

  /// Counts a fault by what the engine of `device` is busy with.
  func reach(_ fault: Situation.Fault, _ device: EngineDevice) {
    guard let run = device.run else { return }
    tally.situations[Situation.name(fault, run.engine.stage), default: 0] += 1
  }

  private func perform(_ action: WorldAction, on device: EngineDevice) throws {
    journal.mix(device.number)
    switch action {
    case .edit, .delete, .deleteZone, .retryBlocked, .manualFetch, .manualSend, .cancel, .poke:
      guard let run = device.run else { return launch(device.process.number) }
      use(device, run, action)
    case .crash:
      guard device.run != nil else { return launch(device.process.number) }
      if device.persistence == .stateLog, random.chance(0.5) {
        reach(.power, device)
        note("\(device.name) will lose power while it writes")
        device.losePower(afterCalls: random.number(in: 1...12))
      } else {
        reach(.kill, device)
        kill(device)
      }
    case .offline:
      reach(.network, device)
      if device.isOnline { disconnect(device) } else { connect(device) }
    case .account where random.chance(0.4): changeAvailability(of: device)
    case .account: changeAccount(of: device)
    case .administration, .expiry: try administer(action)
    case .serverRestart: restartServer()
    case .outage:
      for device in devices { reach(.outage, device) }
      let code = cloud.beginOutage(deviceCount: options.deviceCount)
      note("an outage begins: \(code.map { "\($0)" } ?? "")")
    case .quota:
      let account = random.number(in: 1...options.accountCount)
      let quota = random.chance(0.5) ? random.below(1_000) : nil
      note("account \(account) may hold \(quota.map { "\($0) bytes" } ?? "anything")")
      try cloud.setQuota(quota, of: account)
    }
  }

  func disconnect(_ device: EngineDevice) {
    device.isOnline = false
    note("\(device.name) is offline")
  }

  /// A device is online again, when it was not.
  func connect(_ device: EngineDevice) {
    guard !device.isOnline else { return }
    device.isOnline = true
    note("\(device.name) is online")
    device.retryChecker.noteCause()
    device.run?.link.tell(.networkReturned)
    deliverWaitingPushes(to: device)
  }

  /// A device that is online again gets the pushes that it missed, as one.
  func deliverWaitingPushes(to device: EngineDevice) {
    guard device.waitingPushes > 0 else { return }
    device.waitingPushes = 0
    device.retryChecker.noteCause()
    push(to: device)
  }

  /// Tells a device that something changed on the server.
  func push(to device: EngineDevice) {
    for part in device.process.parts {
      guard let run = part.run else { continue }
      part.retryChecker.noteCause()
      part.noteNews(at: cloud.time)
      run.link.tell(
        .push(
          CloudPush(
            container: WorldLayout.container, database: part.scope,
            subscription: SubscriptionID(""))))
    }
  }

  /// The user uses the app.
  func use(_ device: EngineDevice, _ run: EngineDevice.Run, _ action: WorldAction) {
    device.retryChecker.noteCause()
    let layout = device.layout
    let place = random.below(layout.records.count)
    switch action {
    case .edit:
      let sequence = journal.nextSequence()
      tally.edits += 1
      reach(.edit, device)
      note("\(device.name) writes edit \(sequence) at \(layout.records[place].path)")
      run.app.use(run.engine) { $0.edit(place, sequence: sequence) }
    case .delete:
      reach(.deletion, device)
      note("\(device.name) deletes \(layout.records[place].path)")
      run.app.use(run.engine) { $0.delete(place) }
    case .deleteZone:
      note("\(device.name) deletes \(layout.records[place].zone.name)")
      run.app.use(run.engine) { $0.deleteZone(layout.zone(of: place)) }
    case .retryBlocked: run.app.use(run.engine) { $0.retryBlocked() }
    case .manualFetch:
      reach(.manualFetch, device)
      let zone = CKRecordZone.ID(
        run.app.spelled(layout.records[place].zone, .fetchScope, run.engine))
      fetch(run, random.chance(0.7) ? .all : .zoneIDs([zone]))
    case .manualSend:
      reach(.manualSend, device)
      let record = run.app.spelled(layout.records[place], .sendScope, run.engine)
      let zone = CKRecordZone.ID(record.zone)
      let scopes: [CKSyncEngine.SendChangesOptions.Scope] = [
        .all, .all, .zoneIDs([zone]), .recordIDs([CKRecord.ID(record)]),
        .allExcluding([zone]),
      ]
      send(run, random.pick(scopes))
    case .cancel:
      reach(.cancel, device)
      note("\(device.name) cancels")
      device.retryChecker.noteEnding()
      operate(run, endsWithTask: false) { await $0.cancelOperations() }
    case .poke, .crash, .offline, .account, .administration, .expiry, .serverRestart, .outage,
      .quota:
      break
    }
  }

  /// Starts a manual fetch.
  func fetch(_ run: EngineDevice.Run, _ scope: CKSyncEngine.FetchChangesOptions.Scope) {
    operate(run) { try await $0.fetchChanges(.init(scope: scope)) }
  }

  /// Starts a manual send.
  func send(_ run: EngineDevice.Run, _ scope: CKSyncEngine.SendChangesOptions.Scope) {
    operate(run) { try await $0.sendChanges(.init(scope: scope)) }
  }

  private func operate(
    _ run: EngineDevice.Run, endsWithTask: Bool = true,
    _ body: @escaping @Sendable (CKSyncEngine) async throws -> Void
  ) {
    let (engine, operations, journal, name) = (run.engine, operations, journal, run.app.name)
    let number = operations.begin(on: run.app.number)
    let task = Task.detached(executorPreference: executor) {
      do {
        try await body(engine)
      } catch {
        // What the app is told of an operation it is told in events as well.
        journal.note("\(name): an operation ends with \(error)")
      }
      operations.end(number)
    }
    if endsWithTask { operations.note(task, of: number) }
  }

  /// Cancels the task of a waiting caller for an operation.
  func cancelWaitingTask() {
    guard let (device, cancel) = operations.cancellable(&random) else { return }
    reach(.taskCancel, devices[device])
    note("a task of device\(device) is cancelled that waits for its engine")
    devices[device].retryChecker.noteEnding()
    cancel()
  }

  func changeAccount(of device: EngineDevice) {
    let next = random.below(options.accountCount + 1)
    let device = device.process
    for part in device.parts { reach(next == 0 ? .signOut : .signIn, part) }
    device.account = next == 0 ? nil : next
    device.waitingPushes = 0
    note("\(device.name): \(device.account.map { "account \($0)" } ?? "nobody") is signed in")
    post(.accountSignal(device: device.number), after: delay())
    // The system may tell it twice.
    if random.chance(0.2) { post(.accountSignal(device: device.number), after: delay()) }
  }

  /// The account of a device can't be used any more, or can again.
  private func changeAvailability(of device: EngineDevice) {
    let next = random.pick(AccountAvailability.allCases)
    journal.reach(Situation.name(next))
    setAvailability(next, of: device)
  }

  func setAvailability(_ availability: AccountAvailability, of device: EngineDevice) {
    note("\(device.name): the account is \(availability)")
    device.availability = availability
    cloud.setAvailability(availability, of: device.process.number)
    post(.accountSignal(device: device.number), after: delay())
  }

  /// A device ends without warning, and starts again some time later.
  func kill(_ device: EngineDevice) {
    let device = device.process
    note("\(device.name) is killed")
    tally.kills += 1
    let isStale = random.chance(0.9)
    if let error = device.run?.engine.stateStoreError { note("its store had failed: \(error)") }
    for part in device.parts where part.end(&random, isStale: isStale) {
      tally.staleRestarts += 1
    }
    post(.launch(device: device.number), after: delay())
  }

  /// Ends the devices whose disk stopped in the middle of a write.
  func endDevicesWithoutDisk() {
    for device in devices where device.run != nil && device.disk.isOff {
      tally.powerLosses += 1
      kill(device)
    }
  }

  /// Starts a device that is off.
  func launch(_ number: Int) {
    let device = devices[number]
    guard device.run == nil else { return }
    tally.restarts += 1
    for part in device.parts {
      note("\(part.name) starts, keeps \(part.persistence), \(part.model.policy)")
      part.launch(self, random: nextRandom())
    }
  }

  private func restartServer() {
    tally.serverRestarts += 1
    let jump = options.server.clockJump
    for device in devices { reach(.serverRestart, device) }
    note("the server restarts")
    cloud.restart(
      downtime: random.number(in: 1...30_000),
      clockJump: jump > 0 ? Double(random.number(in: -jump...jump)) : 0)
  }

  private func administer(_ action: WorldAction) throws {
    let account = random.number(in: 1...options.accountCount)
    let zone = random.below(layout.zones.count)
    if action == .administration {
      let reason = random.pick(ZoneDeletionReason.allCases)
      note("\(layout.zones[zone].name) of account \(account) goes: \(reason)")
      guard try cloud.remove(zone, of: account, reason: reason) else { return }
      for device in devices where device.account == account { reach(.init(reason), device) }
    } else {
      let trims = random.chance(0.5)
      let target = random.chance(0.3) ? nil : zone
      for device in devices where device.account == account {
        reach(trims ? .trim : .expiry, device)
      }
      note("account \(account): \(trims ? "deletions" : "tokens") are forgotten")
      try cloud.forget(target, of: account, trims: trims)
    }
  }
}
