import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import SyncMachine

/// The actions that only a world of engines has, and how its devices carry out the others.
extension EngineWorld {
  func act() throws {
    if let rate = sharing?.rate, random.chance(rate) { return share() }
    let action = options.action(among: WorldAction.allCases.filter { $0 != .poke }, &random)
    try perform(action, on: devices[random.below(devices.count)])
  }

  func reach(_ fault: Situation.Fault, _ device: EngineDevice) {
    guard let run = device.run else { return }
    tally.situations["\(fault) \(run.engine.stage)", default: 0] += 1
  }

  // MARK: What devices are told

  func tellNetworkReturned(to device: EngineDevice) {
    device.run?.link.tell(.networkReturned)
    deliverWaitingPushes(to: device)
  }

  /// A device that is online again gets the pushes that it missed, as one.
  func deliverWaitingPushes(to device: EngineDevice) {
    guard device.processState.waitingPushes > 0 else { return }
    device.processState.waitingPushes = 0
    device.retryChecker.noteCause()
    push(to: device)
  }

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

  func actOnAccount(of device: EngineDevice) {
    guard random.chance(0.4) else { return changeAccount(of: device) }
    let next = random.pick(AccountAvailability.allCases)
    journal.reach("account \(next)")
    setAvailability(next, of: device)
  }

  /// The account of a device can't be used any more, or can again.
  func setAvailability(_ availability: AccountAvailability, of device: EngineDevice) {
    note("\(device.name): the account is \(availability)")
    device.processState.availability = availability
    cloud.setAvailability(availability, of: device.process.number)
    post(.accountSignal(device: device.number), after: delay())
  }

  // MARK: Operations

  func fetch(_ device: EngineDevice, _ scope: FetchScope) {
    operate(device) { try await $0.fetchChanges(.init(scope: .init(machine: scope))) }
  }

  func send(_ device: EngineDevice, _ scope: SendScope) {
    operate(device) { try await $0.sendChanges(.init(scope: .init(machine: scope))) }
  }

  func cancelOperations(of device: EngineDevice) {
    device.retryChecker.noteEnding()
    operate(device, endsWithTask: false) { await $0.cancelOperations() }
  }

  private func operate(
    _ device: EngineDevice, endsWithTask: Bool = true,
    _ body: @escaping @Sendable (CKSyncEngine) async throws -> Void
  ) {
    guard let run = device.run else { return }
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

  // MARK: Ends and starts

  func crash(_ device: EngineDevice) {
    guard device.isRunning else { return launch(device.process.number) }
    if device.persistence == .stateLog, random.chance(0.5) {
      reach(.power, device)
      note("\(device.name) will lose power while it writes")
      device.losePower(afterCalls: random.number(in: 1...12))
    } else {
      reach(.kill, device)
      kill(device)
    }
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

  func launch(_ number: Int) {
    let device = devices[number]
    guard device.run == nil else { return }
    tally.restarts += 1
    for part in device.parts {
      note("\(part.name) starts, keeps \(part.persistence), \(part.model.policy)")
      part.launch(self, random: nextRandom())
    }
  }

  // MARK: The server

  func restartServer(downtime: Int, clockJump: Double) {
    tally.serverRestarts += 1
    cloud.restart(downtime: downtime, clockJump: clockJump)
  }

  func beginOutage() -> CloudError.Code? { cloud.beginOutage(deviceCount: options.deviceCount) }

  func setQuota(_ bytes: Int?, of account: Int) throws { try cloud.setQuota(bytes, of: account) }

  func remove(_ zone: Int, of account: Int, reason: ZoneDeletionReason) throws -> Bool {
    try cloud.remove(zone, of: account, reason: reason)
  }

  func forget(_ zone: Int?, of account: Int, trims: Bool) throws {
    try cloud.forget(zone, of: account, trims: trims)
  }

  func storedRecords(in zone: Int, of account: Int) throws -> [Record] {
    try cloud.records(in: zone, of: account)
  }

  func records(for account: Int, _ scope: DatabaseScope) -> [Record?] {
    cloud.records(for: account, scope)
  }
}
