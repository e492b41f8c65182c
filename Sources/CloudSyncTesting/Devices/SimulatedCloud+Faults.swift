import CloudProtocol
public import CloudSync
public import LoopbackServer
import Records

/// What can go wrong, in one line each. Faults meet the next requests in their scope, in the order
/// in which they arrive; `server.controls` has more, such as holding requests and pushes.
extension SimulatedCloud {
  /// Fails the next `count` requests with `code`; they never reach the database.
  ///
  /// - Parameters:
  ///   - retryAfter: the seconds the error tells the client to wait.
  ///   - kind: only requests of this kind.
  ///   - device: only requests of the device of this name.
  public func fail(
    next count: Int = 1, with code: CKError.Code, retryAfter: Double? = nil,
    of kind: RequestKind? = nil, from device: String? = nil
  ) {
    server.controls.fail(
      next: count, with: code.value, retryAfter: retryAfter,
      in: RequestScope(kind: kind, device: device))
  }

  /// Carries out the next `count` requests but loses their answers.
  public func loseAnswers(
    next count: Int = 1, of kind: RequestKind? = .modifyRecords, from device: String? = nil
  ) {
    server.controls.dropAnswers(next: count, in: RequestScope(kind: kind, device: device))
  }

  /// Refuses the next `count` saves with `code`, and takes what else is in their requests.
  ///
  /// In an atomic batch the rest fails with `batchRequestFailed`, as on the server.
  /// - Parameters:
  ///   - name: only saves of the record of this name.
  ///   - device: only saves by the device of this name.
  public func refuseSaves(
    next count: Int = 1, of name: String? = nil, with code: CKError.Code,
    from device: String? = nil
  ) {
    refuse(code, name, isDeletion: false, device, count)
  }

  /// Refuses the next `count` deletions with `code`, and takes what else is in their requests.
  ///
  /// - Parameters:
  ///   - name: only deletions of the record of this name.
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
        error: CloudError(code.value, "a fault set up by the test"), name: name,
        isDeletion: isDeletion,
        device: device, remaining: count))
  }

  /// Lets each account ask only `requests` times in `seconds` of the clock; `nil` sets no bound.
  public func throttle(to requests: Int?, per seconds: Double = 60) {
    var limits = server.controls.limits
    limits.throttle = requests.map { ServerLimits.Throttle(requests: $0, seconds: seconds) }
    server.controls.setLimits(limits)
  }

  /// Makes all change tokens of `account` expire, of one zone or of the database and all its
  /// zones.
  ///
  /// - Parameter forgettingDeletions: whether the server also forgets what was deleted, as it does
  ///   after a long time; then no device can be told of it any more.
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

  /// Removes a zone with all it holds, as another app, the user in the settings, or a reset of
  /// encrypted data does; devices of the account are told.
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

  /// Leaves `account` so many bytes for each of its private databases; 0 lets every save end in
  /// `quotaExceeded`, `nil` sets no bound.
  public func setQuota(_ bytes: Int?, of account: String) throws {
    try server.controls.setQuota(bytes, of: account)
  }

  /// Ends all faults that still wait; what they did, a quota and a throttle stay.
  public func endFaults() {
    refusals.clear()
    server.controls.clear()
  }
}
