import CloudMachine
import CloudProtocol
import Records

/// The server: the cloud's machine over a storage, with a door where requests are turned away, and
/// an oracle that judges every answer.
struct WorldCloud {
  /// What the server made of a request.
  struct Outcome {
    var answer: Result<CloudReply, CloudError>
    var pushes: [OutgoingPush] = []
  }

  private let seed: UInt64
  let layout: WorldLayout
  let findings: Findings
  /// The planted fault; `nil` for a correct server.
  private let bug: PlantedBug?
  var machine: CloudMachine
  /// Where the storage comes from, and comes from again after a restart.
  let place: WorldStorage
  var storage: any CloudStorage
  /// Whether requests and answers travel as JSON.
  let isWired: Bool
  var oracle: CloudOracle
  var door: CloudDoor
  /// How far its wall clock is off, in seconds.
  var clockOffset = 0.0

  init(
    seed: UInt64, layout: WorldLayout, rates: WorldOptions.ServerRates, machine: CloudMachine,
    place: WorldStorage, storage: any CloudStorage, findings: Findings, bug: PlantedBug?
  ) {
    self.seed = seed
    self.layout = layout
    door = CloudDoor(rates: rates)
    self.machine = machine
    self.place = place
    self.storage = storage
    isWired = seed % 4 == 1
    self.findings = findings
    self.bug = bug
    oracle = CloudOracle(layout: layout, findings: findings)
  }

  /// The database of an account, counted from 1.
  func database(of account: Int) -> DatabaseID {
    DatabaseID(
      container: WorldLayout.container, environment: .development, scope: .private,
      owner: layout.users[account - 1])
  }

  private func wallClock(_ now: Int) -> Timestamp {
    Timestamp(secondsSinceReferenceDate: 800_000_000 + Double(now) / 1000 + clockOffset)
  }

  /// The server begins again with what its storage kept.
  mutating func restart() throws { storage = try place.reopened(storage) }

  /// A request arrives, in some worlds as JSON.
  mutating func answer(
    _ call: CloudCall, from device: Int, name: String, account: Int?, at now: Int,
    _ random: inout SeededRandom
  ) throws -> Outcome {
    guard isWired, let wire = WorldWire(call, asText: seed % 8 == 1) else {
      return try carryOut(call, from: device, name: name, account: account, at: now, &random)
    }
    var arrived = call
    arrived.request = wire.arrived ?? call.request
    if let fault = wire.fault { findings.report("G", "\(call.requestID): \(fault)") }
    var outcome = try carryOut(
      arrived, from: device, name: name, account: account, at: now, &random)
    let answer = wire.answer(outcome.answer)
    if answer != outcome.answer {
      findings.report("G", "\(call.requestID): the answer arrives as another one")
    }
    outcome.answer = answer
    return outcome
  }

  private mutating func carryOut(
    _ call: CloudCall, from device: Int, name: String, account: Int?, at now: Int,
    _ random: inout SeededRandom
  ) throws -> Outcome {
    if let error = door.error(for: call, from: device, at: now, &random) {
      return Outcome(answer: .failure(error))
    }
    let split = SplitCall(call, rate: door.rates.partial, seed: seed)
    let caller = Caller(user: account.map { layout.users[$0 - 1] }, device: name)
    let before = try account.map { try storage.database(database(of: $0))?.sequence ?? 0 }
    var received = split.call
    if let bug { received.request = bug.altered(received.request) }
    var answer = try machine.answer(received, from: caller, now: wallClock(now), in: storage)
    if let bug { answer.result = answer.result.map(bug.altered) }
    switch answer.result {
    case .success(let reply):
      guard let account else {
        findings.report("I13", "a request without an account is answered")
        return Outcome(answer: answer.result)
      }
      if let expected = call.expectedUser, expected != caller.user {
        findings.report("I13", "a request made for another account is carried out")
      }
      let isNew = oracle.judge(split.call, account: account, device: name, reply)
      if !isNew, try storage.database(database(of: account))?.sequence ?? 0 != before {
        findings.report("I7", "\(call.requestID) changed something a second time")
      }
      return Outcome(answer: .success(split.join(reply)), pushes: answer.pushes)
    case .failure(let error):
      oracle.judge(refusal: error, of: split.call, account: account)
      return Outcome(answer: .failure(error))
    }
  }
}
