import CloudProtocol

/// What turns requests away before the server sees them.
struct CloudDoor: Sendable {
  /// A time in which every request of some kind fails.
  struct Outage: Sendable {
    var until: Int
    var code: CloudError.Code
    /// The one device it concerns; `nil` for all.
    var device: Int?
    var sparesAccountQuestions: Bool
  }

  var rates: WorldOptions.ServerRates
  var outage: Outage?
  /// Until when the server can't be reached, in milliseconds.
  var downUntil = 0

  /// Lets everything in from now on.
  mutating func open() {
    rates.unavailable = 0
    rates.throttled = 0
    rates.refused = 0
    rates.partial = 0
    outage = nil
    downUntil = 0
  }

  /// Why a request is turned away before the machine sees it.
  func error(
    for call: CloudCall, from device: Int, at now: Int, _ random: inout SeededRandom
  ) -> CloudError? {
    if now < downUntil { return CloudError(.networkFailure, "the server is restarting") }
    let asksForAccount = call.request == .fetchCurrentUser
    if let outage, now < outage.until, outage.device ?? device == device,
      !(asksForAccount && outage.sparesAccountQuestions)
    {
      return CloudError(outage.code, "an outage of the simulation")
    }
    if random.chance(rates.unavailable) {
      return CloudError(
        .serviceUnavailable, "unavailable in the simulation", retryAfter: retryAfter(&random))
    }
    if random.chance(rates.throttled) {
      let code: CloudError.Code = random.pick([.requestRateLimited, .zoneBusy])
      return CloudError(code, "throttled in the simulation", retryAfter: retryAfter(&random))
    }
    if random.chance(rates.refused) {
      let codes: [CloudError.Code] =
        asksForAccount
        ? [.accountTemporarilyUnavailable, .networkFailure, .serviceUnavailable, .internalError]
        : [
          .notAuthenticated, .accountTemporarilyUnavailable, .internalError, .quotaExceeded,
          .limitExceeded, .serverResponseLost, .operationCancelled, .permissionFailure,
          .changeTokenExpired,
        ]
      return CloudError(random.pick(codes), "refused in the simulation")
    }
    return nil
  }

  private func retryAfter(_ random: inout SeededRandom) -> Double? {
    guard random.chance(0.7) else { return nil }
    return Double(random.number(in: 0...rates.longestRetryAfter))
  }
}

extension CloudDoor.Outage {
  /// An outage that begins now.
  init(_ random: inout SeededRandom, deviceCount: Int, at now: Int) {
    let codes: [CloudError.Code] = [
      .serviceUnavailable, .networkFailure, .requestRateLimited, .zoneBusy, .notAuthenticated,
      .accountTemporarilyUnavailable, .internalError, .quotaExceeded, .operationCancelled,
    ]
    self.init(
      until: now + random.number(in: 60_000...20_000_000), code: random.pick(codes),
      device: random.chance(0.5) ? random.below(deviceCount) : nil,
      sparesAccountQuestions: random.chance(0.7))
  }
}
