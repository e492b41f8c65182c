import CloudMachine
import CloudProtocol
import Records

/// The server: a `CloudMachine` with its storage, behind injected refusals, with an oracle that
/// checks every answer.
struct MachineCloud {
  private let seed: UInt64
  let layout: WorldLayout
  let findings: Findings
  /// The planted fault; `nil` for a correct server.
  private let bug: PlantedBug?
  var machine: CloudMachine
  /// The source of the storage, also after a restart.
  let place: WorldStorage
  var storage: any CloudStorage
  /// Whether requests and answers travel as JSON.
  let isWired: Bool
  var oracle: CloudOracle
  var refusals: RequestRefusals
  /// The error of its wall clock, in seconds.
  var clockOffset = 0.0

  init(
    seed: UInt64, layout: WorldLayout, rates: WorldOptions.ServerRates, machine: CloudMachine,
    place: WorldStorage, storage: any CloudStorage, findings: Findings, bug: PlantedBug?
  ) {
    self.seed = seed
    self.layout = layout
    refusals = RequestRefusals(rates: rates)
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
  ) throws -> CloudAnswer {
    guard isWired, let wire = JSONExchange(call, asText: seed % 8 == 1) else {
      return try carryOut(call, from: device, name: name, account: account, at: now, &random)
    }
    var arrived = call
    arrived.request = wire.arrived ?? call.request
    if let fault = wire.fault { findings.report("G", "\(call.requestID): \(fault)") }
    var outcome = try carryOut(
      arrived, from: device, name: name, account: account, at: now, &random)
    let answer = wire.answer(outcome.result)
    if answer != outcome.result {
      findings.report("G", "\(call.requestID): the answer arrives as another one")
    }
    outcome.result = answer
    return outcome
  }

  private mutating func carryOut(
    _ call: CloudCall, from device: Int, name: String, account: Int?, at now: Int,
    _ random: inout SeededRandom
  ) throws -> CloudAnswer {
    if let error = refusals.error(for: call, from: device, at: now, &random) {
      return CloudAnswer(result: .failure(error))
    }
    let split = PartiallyFailingCall(call, rate: refusals.rates.partial, seed: seed)
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
        return CloudAnswer(result: answer.result)
      }
      if let expected = call.expectedUser, expected != caller.user {
        findings.report("I13", "a request made for another account is carried out")
      }
      let isNew = oracle.check(split.call, account: account, device: name, reply)
      if !isNew, try storage.database(database(of: account))?.sequence ?? 0 != before {
        findings.report("I7", "\(call.requestID) changed something a second time")
      }
      return CloudAnswer(result: .success(split.join(reply)), pushes: answer.pushes)
    case .failure(let error):
      oracle.check(refusal: error, of: split.call, account: account)
      return CloudAnswer(result: .failure(error))
    }
  }
}
