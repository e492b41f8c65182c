import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// A world of state machines on one thread.
final class MachineWorld: World {
  let seed: UInt64
  var options: WorldOptions
  var random: SeededRandom
  let layout: WorldLayout
  var cloud: MachineCloud
  var devices: [MachineDevice]
  var messages = MessageQueue()
  let findings = Findings()
  let journal: WorldJournal
  var now = 0
  var steps = 0
  var isHealed = false
  let stepBound = 20_000

  init(
    seed: UInt64, shape: WorldShape, bug: PlantedBug?, print: (@Sendable (String) -> Void)?
  ) throws {
    self.seed = seed
    journal = WorldJournal(print: print)
    var random = shape.choices(of: seed)
    let options = WorldOptions(&random, shape: shape)
    var limits = CloudLimits()
    limits.itemsPerRequest = options.server.itemLimit
    limits.zoneChangesPage = options.server.zonePage
    limits.databaseChangesPage = options.server.databasePage
    let machine = CloudMachine(limits: limits)
    let place = WorldStorage(seed: seed)
    let storage = try place.open()
    let users = try (0..<options.accountCount).map {
      try machine.createAccount("account\($0)", in: storage).user
    }
    let layout = WorldLayout(
      zoneCount: options.zoneCount, recordsPerZone: options.recordsPerZone, users: users)
    self.layout = layout
    self.options = options
    let findings = findings
    cloud = MachineCloud(
      seed: seed, layout: layout, rates: options.server, machine: machine, place: place,
      storage: storage, findings: findings, bug: bug)
    devices = (0..<options.deviceCount).map {
      MachineDevice(number: $0, layout: layout, findings: findings, random: &random)
    }
    for device in devices {
      if seed % 8 == 6 { device.fileLog = DeviceLog(seed: seed &+ UInt64(device.number) << 32) }
      device.fault.bug = bug
      device.account = random.chance(0.9) ? 1 + random.below(options.accountCount) : nil
    }
    self.random = random
    for device in devices { device.start(from: SyncState(), at: 0) }
  }

  /// The current time, as the machines know it.
  var moment: Moment { Moment(.milliseconds(now)) }

  /// Runs the world to its end; violations are in `findings`.
  func run() throws {
    while steps < options.steps, findings.isEmpty { try step() }
    guard findings.isEmpty else { return }
    try heal()
  }

  private func heal() throws {
    isHealed = true
    random.beginStep(isHealing: true)
    note("faults end")
    cloud.refusals.end()
    for account in 1...options.accountCount { try setQuota(nil, of: account) }
    for device in devices {
      launch(device.number)
      device.isOnline = true
      device.scopeRate = 0
      device.retryChecker.noteCause()
      settleAccount(of: device)
    }
    try settle(limits)
    for device in devices { tellNetworkReturned(to: device) }
    try retryEverywhere()
    for device in devices where !device.openWaiters.isEmpty {
      findings.report("I17", "\(device.name): an operation never ends")
    }
  }

  // MARK: Steps

  func step() throws {
    steps += 1
    findings.step = steps
    journal.begin(steps, at: now)
    random.beginStep(isHealing: isHealed)
    if !isHealed, random.chance(options.actionRate) { return try act() }
    try advance()
  }

  /// One action, chosen by the weights of this world.
  private func act() throws {
    // Actions take time, so that a world whose messages wait for hours still moves.
    now += random.below(random.chance(0.1) ? 30_000 : 20)
    journal.mix(200)
    let action = options.action(among: WorldAction.allCases, &random)
    try perform(action, on: devices[random.below(devices.count)])
  }

  /// Handles one of the due events; without one, advances the time to the next.
  private func advance() throws {
    var due = devices.indices.filter { devices[$0].isReady(at: now) }
    let hasMessage = messages.nextTime.map { $0 <= now } ?? false
    if due.isEmpty, !hasMessage {
      guard let next = nextTime else {
        if !isHealed { try act() }
        return
      }
      now = max(now, next)
      return
    }
    if hasMessage { due.append(-1) }
    let choice = due.count == 1 ? due[0] : random.pick(due)
    if choice < 0 {
      if let message = messages.pop() { try arrive(message) }
    } else {
      stepDevice(choice)
    }
  }

  /// The time of the next event; `nil` if there is none.
  private var nextTime: Int? {
    (devices.compactMap { $0.isRunning ? $0.wakeAt : nil }
      + [messages.nextTime].compactMap { $0 })
      .min()
  }

  var isQuiet: Bool {
    messages.isEmpty && nextTime == nil && !devices.contains { $0.isReady(at: now) }
  }

  private func stepDevice(_ number: Int) {
    let device = devices[number]
    journal.mix(number)
    let isBusy = device.callback != nil
    let request = device.step(at: now, journal, &random)
    if !isBusy { note("\(device.name) \(device.summary)") }
    if let request { send(request, from: device) }
  }
}
