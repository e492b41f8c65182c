import CloudProtocol
import CloudSync
import Records
import SyncMachine
import Synchronization

/// A whole world on one thread: real engines with straight delegates, a real server, and between
/// them a network that loses, doubles and delays.
///
/// Tasks run on one lane in an order the seed draws, time passes only when nobody can run, and
/// every other choice comes from one generator. So the seed decides everything.
final class EngineWorld {
  /// What the network carries, and what is due later.
  enum Message {
    case request(CloudCall, device: Int, run: Int, number: Int, account: Int?, isAnswered: Bool)
    case answer(Result<CloudReply, CloudError>, device: Int, run: Int, number: Int)
    case push(CloudPush, device: Int, account: Int)
    case accountSignal(device: Int)
    case launch(device: Int)
    /// Nothing; time stops here.
    case pause
  }

  let seed: UInt64
  let options: WorldOptions
  /// How accounts share; `nil` for a world without shares.
  var sharing: SharingOptions?
  let lane: SerialLane
  let mailbox = Mailbox()
  let findings = Findings()
  let journal: EngineJournal
  let cloud: EngineCloud
  var layout: WorldLayout { cloud.layout }
  var devices: [EngineDevice] = []
  var random: SeededRandom
  var messages = MessageQueue<Message>()
  var tally = EngineTally()
  var steps = 0
  var isHealed = false
  /// A device that reads one zone by hand at its next push.
  var narrowFetch: (device: Int, zone: CKRecordZone.ID)?
  /// Manual operations that have not returned.
  let operations = OperationList()
  /// How often a step cancels the task of somebody who waits for an operation.
  private var taskCancelRate = 0.0

  init(
    seed: UInt64, shape: WorldShape, lane: SerialLane, print: (@Sendable (String) -> Void)?
  ) throws {
    self.seed = seed
    self.lane = lane
    journal = EngineJournal(print: print)
    var random = SeededRandom(seed: seed)
    var options = WorldOptions(&random, shape: shape)
    var sharing = SharingOptions(seed: seed, shape: shape, options: &options)
    self.options = options
    if shape.variation > 0 { random = SeededRandom(seed: random.next() &+ shape.variation) }
    cloud = try EngineCloud(
      seed: seed, options: options, sharing: sharing, shape: shape, lane: lane,
      findings: findings, journal: journal, random: SeededRandom(seed: random.next()))
    for number in 0..<options.deviceCount {
      let device = EngineDevice(
        number: number, layout: cloud.layout, findings: findings, journal: journal,
        random: &random)
      device.forgo(shape)
      device.account = random.chance(0.9) ? 1 + random.below(options.accountCount) : nil
      devices.append(device)
    }
    taskCancelRate = random.pick([0, 0.02, 0.2])
    self.random = random
    cloud.connect(deviceCount: devices.count, mailbox: mailbox)
    if options.server.refused > 0 { refuseBeginnings() }
    if sharing != nil { devices += guests(of: devices, shape, &sharing) }
    self.sharing = sharing
    if sharing != nil {
      (devices[0].account, devices[1].account) = (SharingOptions.owner, 2)
      beginSharing()
    }
    for device in devices { device.launch(self, random: nextRandom()) }
  }

  /// What an engine asks only at its beginning fails in some worlds.
  private func refuseBeginnings() {
    guard random.chance(0.7) else { return }
    cloud.insist(
      CloudDoor.Insistence(
        kind: random.pick([.account, .findSubscription, .saveSubscription, .saveSubscription]),
        code: random.pick(CloudError.Code.allCases), left: random.number(in: 1...3)),
      deviceCount: devices.count)
  }

  /// Milliseconds since the world began.
  var now: Int { lane.clock.milliseconds }

  /// A generator of its own for something that may draw at any time.
  func nextRandom() -> SeededRandom { SeededRandom(seed: random.next()) }

  func note(_ text: @autoclosure () -> String) { journal.note(text()) }

  /// Runs the world to its end; what was found is in `findings`.
  func run() throws {
    if sharing?.startsQuietly == true { try startSharing() }
    while steps < options.steps, findings.isEmpty { try step() }
    if findings.isEmpty { try heal() }
    try end()
  }

  // MARK: Steps

  /// One step: something that somebody does, or the next thing that can happen.
  func step() throws {
    steps += 1
    findings.step = steps
    journal.begin(steps, at: now)
    if isHealed {
      try advance()
    } else if !meetShortMoment() {
      try random.chance(options.actionRate) ? act() : advance()
    }
    if !isHealed, operations.open > 0, random.chance(taskCancelRate) { cancelWaitingTask() }
    carry()
    endDevicesWithoutDisk()
  }

  private func advance() throws {
    let isDue = messages.nextTime.map { $0 <= now } ?? false
    if lane.readyCount > 0, !isDue || random.chance(0.7) {
      _ = lane.runOne()
    } else if isDue, let message = messages.pop() {
      arrive(message)
    } else {
      for device in devices { device.patience.noteRest() }
      checkAtRest()
      checkCancelled()
      try passTime()
    }
  }

  /// Nobody can run: time passes until somebody can.
  private func passTime() throws {
    let message = messages.nextTime.map { VirtualClock.Instant(offset: .milliseconds($0)) }
    guard let next = [message, lane.clock.nextDeadline].compactMap({ $0 }).min() else {
      checkNothingIsOwed()
      if !isHealed { try act() }
      return
    }
    lane.clock.move(to: next)
  }

  /// Whether nothing will ever happen by itself.
  var isQuiet: Bool {
    lane.readyCount == 0 && messages.isEmpty && lane.clock.nextDeadline == nil
  }
}
