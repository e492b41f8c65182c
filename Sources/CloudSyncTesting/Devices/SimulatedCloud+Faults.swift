import CloudProtocol
public import CloudSync
public import LoopbackServer
import Records
import Synchronization

/// Fault injection. Faults apply to the next requests in their scope, in the order of arrival;
/// `server.controls` has further functions, such as holding requests and pushes.
extension SimulatedCloud {
  /// Fails the next `count` requests with `code`; they never reach the database.
  ///
  /// - Parameters:
  ///   - count: the number of requests that fail.
  ///   - code: the error's code.
  ///   - retryAfter: the number of seconds that the error asks the client to wait.
  ///   - kind: only requests of this kind.
  ///   - device: only requests of the device with this name.
  public func fail(
    next count: Int = 1, with code: CKError.Code, retryAfter: Double? = nil,
    of kind: RequestKind? = nil, from device: String? = nil
  ) {
    server.controls.fail(
      next: count, with: code, retryAfter: retryAfter,
      in: RequestScope(kind: kind, device: device))
  }

  /// Carries out the next `count` requests but loses their replies.
  public func loseAnswers(
    next count: Int = 1, of kind: RequestKind? = .modifyRecords, from device: String? = nil
  ) {
    server.controls.dropAnswers(next: count, in: RequestScope(kind: kind, device: device))
  }

  /// Rejects the next `count` saves with `code` and accepts the other changes of their requests.
  ///
  /// In an atomic batch the other changes of the zone fail with `batchRequestFailed`, as on the
  /// server. It concerns simulated devices only, not those of `server.device(_:signedInAs:)`.
  /// - Parameters:
  ///   - count: the number of saves that fail.
  ///   - name: only saves of the record of this name.
  ///   - code: the error's code.
  ///   - device: only saves by the device of this name.
  public func refuseSaves(
    next count: Int = 1, of name: String? = nil, with code: CKError.Code,
    from device: String? = nil
  ) {
    refuse(code, name, isDeletion: false, device, count)
  }

  /// Rejects the next `count` deletions with `code` and accepts the other changes of their
  /// requests, as `refuseSaves` does.
  ///
  /// - Parameters:
  ///   - count: the number of deletions that fail.
  ///   - name: only deletions of the record of this name.
  ///   - code: the error's code.
  ///   - device: only deletions by the device of this name.
  public func refuseDeletions(
    next count: Int = 1, of name: String? = nil, with code: CKError.Code,
    from device: String? = nil
  ) {
    refuse(code, name, isDeletion: true, device, count)
  }

  private func refuse(
    _ code: CKError.Code, _ name: String?, isDeletion: Bool, _ device: String?, _ count: Int
  ) {
    refusals.add(
      RefusalRules.Rule(
        error: CloudError(code, "a fault set up by the test"), name: name,
        isDeletion: isDeletion,
        device: device, remaining: count))
  }

  /// Limits each account to `requests` requests in `seconds` of the clock; `nil` removes the limit.
  public func throttle(to requests: Int?, per seconds: Double = 60) {
    var limits = server.controls.limits
    limits.throttle = requests.map { ServerLimits.Throttle(requests: $0, seconds: seconds) }
    server.controls.setLimits(limits)
  }

  /// Expires all change tokens of `account`, of one zone or of the database and all its zones.
  ///
  /// - Parameters:
  ///   - account: the account's name.
  ///   - zone: the zone; `nil` for the database and all its zones.
  ///   - forgettingDeletions: whether the server also forgets its deletions, as after a long time;
  ///     it then can't report them to any device.
  public func expireTokens(
    of account: String, zone: CKRecordZone.ID? = nil, forgettingDeletions: Bool = false
  ) throws {
    let zones = try zone.map { [$0.value] } ?? zones(of: account)
    for zone in zones.map(Optional.some) + (zone == nil ? [nil] : []) {
      try server.controls.expireTokens(
        of: zone, container: containerIdentifier, account: account)
      if forgettingDeletions, zone != nil {
        try server.controls.trimTombstones(
          of: zone, container: containerIdentifier, account: account)
      }
    }
  }

  private func zones(of account: String) throws -> [ZoneID] {
    try server.zones(container: containerIdentifier, account: account).filter { $0 != .default }
  }

  /// Deletes a zone with its records, as another app, the user in the settings, or a reset of
  /// encrypted data does; devices of the account receive a push.
  public func removeZone(
    _ zone: CKRecordZone.ID, of account: String,
    reason: CKDatabase.DatabaseChange.Deletion.Reason = .deleted
  ) throws {
    switch reason {
    case .deleted:
      try server.controls.deleteZone(
        zone.value, container: containerIdentifier, account: account)
    case .purged:
      try server.controls.purgeZone(
        zone.value, container: containerIdentifier, account: account)
    case .encryptedDataReset:
      try server.controls.resetEncryptedData(
        zone.value, container: containerIdentifier, account: account)
    }
  }

  /// Sets the quota of `account` in bytes for each of its private databases.
  ///
  /// With 0 every save fails with `quotaExceeded`; `nil` removes the limit.
  ///
  /// - Throws: `unknownItem` when no device was created with the account, and it has never made a
  ///   request.
  public func setQuota(_ bytes: Int?, of account: String) throws {
    if !deviceAccounts.withLock({ $0.contains(account) }) { _ = try zones(of: account) }
    try server.controls.setQuota(bytes, of: account)
  }

  /// Removes all faults that have not occurred yet.
  ///
  /// Their past effects, a quota and a request limit remain.
  public func endFaults() {
    refusals.clear()
    server.controls.clear()
  }
}
