import CloudMachine
import CloudProtocol
import Records
import SyncMachine

/// A world of state machines on one thread: devices, accounts, a server and the network.
///
/// Every choice comes from one generator, every order is explicit, and time is a number. So the
/// seed decides everything, and a run can be had again.
final class World {
  let seed: UInt64
  var options: WorldOptions
  var random: SeededRandom
  let layout: WorldLayout
  var cloud: WorldCloud
  var devices: [WorldDevice]
  var messages = MessageQueue<Message>()
  let findings = Findings()
  var trace = TraceHash()
  /// Milliseconds since the world began.
  var now = 0
  var steps = 0
  /// Counts edits.
  var lastSequence = 0
  /// Whether faults have ended.
  var isHealed = false
  /// Prints everything that happens, if set.
  let print: ((String) -> Void)?

  init(
    seed: UInt64, shape: WorldShape, bug: PlantedBug?, print: ((String) -> Void)? = nil
  ) throws {
    self.seed = seed
    self.print = print
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
    cloud = WorldCloud(
      seed: seed, layout: layout, rates: options.server, machine: machine, place: place,
      storage: storage, findings: findings, bug: bug)
    devices = (0..<options.deviceCount).map {
      WorldDevice(number: $0, layout: layout, findings: findings, random: &random)
    }
    for device in devices {
      if seed % 8 == 6 { device.fileLog = DeviceLog(seed: seed &+ UInt64(device.number) << 32) }
      device.fault.bug = bug
      device.account = random.chance(0.9) ? 1 + random.below(options.accountCount) : nil
    }
    self.random = random
    for device in devices { device.start(from: SyncState(), at: 0) }
  }

  /// Notes what happens, for people and for the hash.
  func note(_ text: @autoclosure () -> String) {
    if let print { print("\(steps)\t\(now)ms\t\(text())") }
  }

  /// Runs the world to its end; violations are in `findings`.
  func run() throws {
    while steps < options.steps, findings.isEmpty { try step() }
    guard findings.isEmpty else { return }
    try heal()
  }

  // MARK: Steps

  /// One step: an action, or the next event that is due.
  func step() throws {
    steps += 1
    findings.step = steps
    trace.mix(now)
    random.beginStep(isHealing: isHealed)
    if !isHealed, random.chance(options.actionRate) { return try act() }
    try advance()
  }

  /// Handles one of the due events; without one, advances the time to the next.
  func advance() throws {
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
  var nextTime: Int? {
    (devices.compactMap { $0.machine == nil ? nil : $0.wakeAt }
      + [messages.nextTime].compactMap { $0 })
      .min()
  }

  private func stepDevice(_ number: Int) {
    let device = devices[number]
    trace.mix(number)
    let before = device.callback == nil
    let outcome = device.step(at: now, lastSequence: lastSequence, &random, &trace)
    if print != nil, before { note("\(device.name) \(device.summary)") }
    if case .send(let request) = outcome { send(request, from: device) }
  }
}
