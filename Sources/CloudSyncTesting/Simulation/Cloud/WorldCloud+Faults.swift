import CloudMachine
import CloudProtocol
import Records

/// What goes wrong at the server, and what others do to its zones.
extension WorldCloud {
  /// Why a request is turned away before the machine sees it.
  func errorAtTheDoor(
    _ call: CloudCall, _ device: Int, _ now: Int, _ random: inout SeededRandom
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

  /// Somebody else, or the user in the settings, removes a zone.
  mutating func remove(
    _ zone: Int, of account: Int, reason: ZoneDeletionReason, at now: Int
  ) throws -> [PushOrder] {
    let id = layout.zones[zone]
    let database = database(of: account)
    let time = Timestamp(secondsSinceReferenceDate: 800_000_000 + Double(now) / 1000)
    guard try storage.zone(id, in: database)?.deletion == nil,
      try storage.zone(id, in: database) != nil
    else { return [] }
    oracle.remove(zone, of: account, reason: reason)
    switch reason {
    case .deleted:
      return try machine.deleteZone(id, in: database, now: time, storage: storage)
    case .purged:
      return try machine.purgeZone(id, in: database, now: time, storage: storage)
    case .encryptedDataReset:
      return try machine.resetEncryptedData(id, in: database, now: time, storage: storage)
    }
  }

  /// The server forgets tokens, or deletions with the tokens that have not seen them.
  mutating func forget(
    _ zone: Int?, of account: Int, trims: Bool, at now: Int
  ) throws {
    let database = database(of: account)
    let time = Timestamp(secondsSinceReferenceDate: 800_000_000 + Double(now) / 1000)
    if let zone {
      guard let row = try storage.zone(layout.zones[zone], in: database), row.deletion == nil
      else { return }
    }
    let id = zone.map { layout.zones[$0] }
    if trims {
      oracle.trim(zone, of: account)
      _ = try machine.trimTombstones(of: id, in: database, now: time, storage: storage)
    } else {
      _ = try machine.expireTokens(of: id, in: database, now: time, storage: storage)
    }
  }
}
