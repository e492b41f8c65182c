import CloudProtocol
import CloudSync
import Records
import SyncMachine
import Synchronization

/// A world of real engines with straight delegates and a real server.
///
/// Tasks run on one executor in an order the seed draws, and time passes only when no task can run.
final class EngineWorld: World {
  let seed: UInt64
  let options: WorldOptions
  /// The sharing between accounts; `nil` for a world without shares.
  var sharing: SharingOptions?
  let executor: SeededExecutor
  let networkQueue = NetworkQueue()
  let findings = Findings()
  let journal: WorldJournal
  let cloud: EngineCloud
  var layout: WorldLayout { cloud.layout }
  var devices: [EngineDevice] = []
  var random: SeededRandom
  var messages = MessageQueue()
  var tally = WorldTally()
  var steps = 0
  var isHealed = false
  let stepBound = 40_000
  /// A device that reads one zone by hand at its next push.
  var narrowFetch: (device: Int, zone: ZoneID)?
  /// Manual operations that have not returned.
  let operations = OperationList()
  /// The probability that a step cancels a task that waits for an operation.
  private var taskCancelRate = 0.0

  init(
    seed: UInt64, shape: WorldShape, executor: SeededExecutor, print: (@Sendable (String) -> Void)?
  ) throws {
    self.seed = seed
    self.executor = executor
    journal = WorldJournal(print: print)
    var random = SeededRandom(seed: seed)
    var options = WorldOptions(&random, shape: shape)
    var sharing = SharingOptions(seed: seed, shape: shape, options: &options)
    self.options = options
    if shape.variation > 0 { random = SeededRandom(seed: random.next() &+ shape.variation) }
    cloud = try EngineCloud(
      seed: seed, options: options, sharing: sharing, shape: shape, executor: executor,
      findings: findings, journal: journal, random: SeededRandom(seed: random.next()))
    for number in 0..<options.deviceCount {
      let device = EngineDevice(
        number: number, layout: cloud.layout, findings: findings, journal: journal,
        random: &random)
      device.apply(shape)
      device.account = random.chance(0.9) ? 1 + random.below(options.accountCount) : nil
      devices.append(device)
    }
    taskCancelRate = random.pick([0, 0.02, 0.2])
    self.random = random
    cloud.connect(deviceCount: devices.count, networkQueue: networkQueue)
    if options.server.refused > 0 { refuseBeginnings() }
    if sharing != nil { devices += guests(of: devices, shape, &sharing) }
    self.sharing = sharing
    if sharing != nil {
      (devices[0].account, devices[1].account) = (SharingOptions.owner, 2)
      beginSharing()
    }
    for device in devices { device.launch(self, random: nextRandom()) }
  }

  /// Requests that an engine sends only at its start fail in some worlds.
  private func refuseBeginnings() {
    guard random.chance(0.7) else { return }
    cloud.refuseRepeatedly(
      RequestRefusals.RepeatedRefusal(
        kind: random.pick([.account, .findSubscription, .saveSubscription, .saveSubscription]),
        code: random.pick(CloudError.Code.allCases), left: random.number(in: 1...3)),
      deviceCount: devices.count)
  }

  var now: Int { executor.clock.milliseconds }

  /// A generator of its own for something that may draw at any time.
  func nextRandom() -> SeededRandom { SeededRandom(seed: random.next()) }

  /// Runs the world to its end; what was found is in `findings`.
  func run() throws {
    if sharing?.startsQuietly == true { try startSharing() }
    while steps < options.steps, findings.isEmpty { try step() }
    if findings.isEmpty { try heal() }
    try end()
  }

  // MARK: Steps

  func step() throws {
    steps += 1
    findings.step = steps
    journal.begin(steps, at: now)
    if isHealed {
      try advance()
    } else if !actInShortStage() {
      try random.chance(options.actionRate) ? act() : advance()
    }
    if !isHealed, operations.open > 0, random.chance(taskCancelRate) { cancelWaitingTask() }
    carry()
    endDevicesWithoutDisk()
  }

  private func advance() throws {
    let isDue = messages.nextTime.map { $0 <= now } ?? false
    if executor.readyCount > 0, !isDue || random.chance(0.7) {
      _ = executor.runOne()
    } else if isDue, let message = messages.pop() {
      arrive(message)
    } else {
      for device in devices { device.retryChecker.noteRest() }
      checkAtRest()
      checkCancelled()
      try passTime()
    }
  }

  /// No task can run: advances the time until one can.
  private func passTime() throws {
    let message = messages.nextTime.map { VirtualClock.Instant(offset: .milliseconds($0)) }
    guard let next = [message, executor.clock.nextDeadline].compactMap({ $0 }).min() else {
      checkNoWorkIsPending()
      if !isHealed { try act() }
      return
    }
    executor.clock.move(to: next)
  }

  var isQuiet: Bool {
    executor.readyCount == 0 && messages.isEmpty && executor.clock.nextDeadline == nil
  }
}
