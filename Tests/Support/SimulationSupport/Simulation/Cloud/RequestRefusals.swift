import CloudProtocol

/// Refuses requests before the server receives them.
struct RequestRefusals: Sendable {
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
  /// Whether requests fail with any code, and not only with those that are likely.
  var refusesWithAnyCode = false
  /// Failures that go on, by device.
  var repeated: [Int: RepeatedRefusal] = [:]
  /// Until when the server can't be reached, in milliseconds.
  var downUntil = 0

  /// Ends all refusals.
  mutating func end() {
    rates.unavailable = 0
    rates.throttled = 0
    rates.refused = 0
    rates.partial = 0
    outage = nil
    repeated = [:]
    downUntil = 0
  }

  /// The refusal of a request; `nil` if the server receives it.
  ///
  /// - Parameter isDeniable: Whether the zone that the request reads is there.
  mutating func error(
    for call: CloudCall, from device: Int, at now: Int, isDeniable: Bool = false,
    _ random: inout SeededRandom
  ) -> CloudError? {
    if now < downUntil { return CloudError(.networkFailure, "the server is restarting") }
    let asksForAccount = call.request == .fetchCurrentUser
    if let outage, now < outage.until, outage.device ?? device == device,
      !(asksForAccount && outage.sparesAccountQuestions),
      !call.request.wouldMislead(by: outage.code, isDeniable: isDeniable)
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
    if refusesWithAnyCode,
      let error = refusal(of: call.request, from: device, isDeniable: isDeniable, &random)
    {
      return error
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
      return Self.refusal(random.pick(codes), &random)
    }
    return nil
  }

  /// A refusal with `code`, which may ask for a wait where an engine has another request to send.
  static func refusal(_ code: CloudError.Code, _ random: inout SeededRandom) -> CloudError {
    let isFollowed = code == .limitExceeded || code == .changeTokenExpired
    let wait: Double? = isFollowed && random.chance(0.5) ? 1 : nil
    return CloudError(code, "refused in the simulation", retryAfter: wait)
  }

  private func retryAfter(_ random: inout SeededRandom) -> Double? {
    guard random.chance(0.7) else { return nil }
    return Double(random.number(in: 0...rates.longestRetryAfter))
  }
}

extension RequestRefusals.Outage {
  /// An outage that begins now.
  init(
    _ random: inout SeededRandom, deviceCount: Int, at now: Int, hasAnyCode: Bool = false
  ) {
    let likely: [CloudError.Code] = [
      .serviceUnavailable, .networkFailure, .requestRateLimited, .zoneBusy, .notAuthenticated,
      .accountTemporarilyUnavailable, .internalError, .quotaExceeded, .operationCancelled,
    ]
    let codes = hasAnyCode && random.chance(0.4) ? CloudError.Code.allCases : likely
    self.init(
      until: now + random.number(in: 60_000...20_000_000), code: random.pick(codes),
      device: random.chance(0.5) ? random.below(deviceCount) : nil,
      sparesAccountQuestions: random.chance(0.7))
  }
}
