import CloudMachine
import CloudProtocol
import Records

/// The server: the cloud's machine over a storage, with a door where requests are turned away, and
/// an oracle that judges every answer.
struct WorldCloud {
  /// A time in which every request of some kind fails.
  struct Outage {
    var until: Int
    var code: CloudError.Code
    /// The one device it concerns; `nil` for all.
    var device: Int?
    var sparesAccountQuestions: Bool
  }

  /// What the server made of a request.
  struct Outcome {
    var answer: Result<CloudReply, CloudError>
    var pushes: [PushOrder] = []
  }

  private let seed: UInt64
  let layout: WorldLayout
  let findings: Findings
  var machine: CloudMachine
  /// Where the storage comes from, and comes from again after a restart.
  let place: WorldStorage
  var storage: any CloudStorage
  /// Whether requests and answers travel as JSON.
  let isWired: Bool
  var oracle: CloudOracle
  var outage: Outage?
  /// Until when it can't be reached, in milliseconds.
  var downUntil = 0
  /// How far its wall clock is off, in seconds.
  var clockOffset = 0.0
  var rates: WorldOptions.ServerRates

  init(
    seed: UInt64, layout: WorldLayout, rates: WorldOptions.ServerRates, machine: CloudMachine,
    place: WorldStorage, storage: any CloudStorage, findings: Findings
  ) {
    self.seed = seed
    self.layout = layout
    self.rates = rates
    self.machine = machine
    self.place = place
    self.storage = storage
    isWired = seed % 4 == 1
    self.findings = findings
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
    if let error = errorAtTheDoor(call, device, now, &random) {
      return Outcome(answer: .failure(error))
    }
    let split = split(call)
    let caller = Caller(user: account.map { layout.users[$0 - 1] }, device: name)
    let before = try account.map { try storage.database(database(of: $0))?.sequence ?? 0 }
    let answer = try machine.answer(split.call, from: caller, now: wallClock(now), in: storage)
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

  // MARK: Failures of single items

  /// Holds back some items of a request, which fail by themselves; the same ones whenever the
  /// same request comes again.
  private func split(_ call: CloudCall) -> SplitCall {
    guard rates.partial > 0, case .modifyRecords(var request) = call.request, !request.isAtomic
    else { return SplitCall(call: call) }
    var hash = TraceHash()
    hash.mix(call.requestID)
    var random = SeededRandom(seed: seed ^ hash.value)
    guard random.chance(rates.partial) else { return SplitCall(call: call) }
    let codes: [CloudError.Code] = [
      .zoneBusy, .serviceUnavailable, .requestRateLimited, .quotaExceeded, .internalError,
      .serverRejectedRequest, .serverResponseLost,
    ]
    let code = random.pick(codes)
    var error = CloudError(code, "a fault of the simulation")
    if code.isRetriedByEngine, random.chance(0.5) { error.retryAfter = 1 }
    var split = SplitCall(call: call)
    split.error = error
    split.waits =
      code.isRetriedByEngine && random.chance(0.5) ? [20, 1] : [error.retryAfter]
    split.order = request
    request.save.removeAll { _ in random.chance(0.4) }
    request.delete.removeAll { _ in random.chance(0.4) }
    split.call.request = .modifyRecords(request)
    return split
  }

  /// A request of which some items are held back.
  private struct SplitCall {
    var call: CloudCall
    var error: CloudError?
    /// What the items' errors ask to wait, in turn.
    var waits: [Double?] = [nil]
    var order: ModifyRecords?

    init(call: CloudCall) { self.call = call }

    /// The answer to the whole request.
    func join(_ reply: CloudReply) -> CloudReply {
      guard let order, let error, case .recordsModified(let saved, let deleted) = reply else {
        return reply
      }
      var held = 0
      func refusal() -> CloudError {
        var refusal = error
        refusal.retryAfter = waits[held % waits.count]
        held += 1
        return refusal
      }
      return .recordsModified(
        saved: order.save.map { save in
          saved.first { $0.id == save.id } ?? ItemResult(id: save.id, .failure(refusal()))
        },
        deleted: order.delete.map { id in
          deleted.first { $0.id == id } ?? ItemResult(id: id, .failure(refusal()))
        })
    }
  }
}
