import CloudMachine
public import CloudProtocol
public import Records

/// Actions of an administrator, of the user's settings and of server maintenance.
///
/// Each method takes the container and the account of a private database. All throw `unknownItem`
/// for an unknown account, the zone's error for an unknown zone, and `networkFailure` after the
/// server was closed.
extension FaultControls {
  /// Deletes `zone` as an app on another device would; the account's devices get a push.
  public func deleteZone(
    _ zone: ZoneID, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try remove(zone, for: .deleted, container, account, environment)
  }

  /// Deletes `zone` as the user does in the settings; the account's devices get a push.
  public func purgeZone(
    _ zone: ZoneID, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try remove(zone, for: .purged, container, account, environment)
  }

  /// Deletes `zone` as a reset of encrypted data does; the account's devices get a push.
  public func resetEncryptedData(
    _ zone: ZoneID, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try remove(zone, for: .encryptedDataReset, container, account, environment)
  }

  private func remove(
    _ zone: ZoneID, for reason: ZoneDeletionReason, _ container: String, _ account: String,
    _ environment: CloudEnvironment
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      try machine.removeZone(zone, for: reason, in: database, now: now, storage: storage)
    }
  }

  /// Expires all tokens issued for `zone`, or for the database when `nil`.
  public func expireTokens(
    of zone: ZoneID? = nil, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      try machine.expireTokens(of: zone, in: database, now: now, storage: storage)
    }
  }

  /// Forgets the deletions in `zone`, or the deleted zones when `nil`; older tokens expire.
  public func trimTombstones(
    of zone: ZoneID? = nil, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      try machine.trimTombstones(of: zone, in: database, now: now, storage: storage)
    }
  }

  /// Sets the quota of each private database of `account` to `bytes`; `nil` removes it.
  ///
  /// The account is created if it does not exist.
  public func setQuota(_ bytes: Int?, of account: String) throws(CloudError) {
    try executor.change { machine, storage in
      let row = try machine.account(named: account, in: storage)
      try machine.setQuota(bytes, of: row.user, in: storage)
    }
  }

  /// Sets the server's limits from now on.
  ///
  /// On PostgreSQL they hold at all servers; the limits with which this server was started give
  /// each server its own ones again.
  public func setLimits(_ limits: ServerLimits) {
    let shared = limits == executor.firstLimits ? nil : limits
    change { $0.limits = shared }
  }

  /// Changes a private database, sends the pushes, and adds an administration event, which is
  /// needed when no device gets a push.
  func administer(
    _ account: String, _ container: String, _ environment: CloudEnvironment,
    _ work: (CloudMachine, DatabaseID, any CloudStorage, Timestamp) throws -> AdministrativeOutcome
  ) throws(CloudError) {
    let now = wallClock()
    let pushes = try executor.administer(
      container: container, environment: environment, account: account
    ) { machine, database, storage in try work(machine, database, storage, now) }
    pushDispatcher.send(pushes)
    events.add(
      .administration(container: container, environment: environment, account: account))
  }
}

/// Faults of pushes.
extension FaultControls {
  /// Drops the next `count` pushes, to one device or to any.
  public func dropPushes(next count: Int = 1, to device: String? = nil) {
    guard count > 0 else { return }
    change { $0.pushLosses.append(PendingPushLoss(device: device, remaining: count)) }
  }

  /// Holds all pushes from now on, until `releasePushes()`.
  public func holdPushes() { change { $0.holdsPushes = true } }

  /// Delivers the held pushes, oldest first, and stops holding pushes.
  public func releasePushes() {
    change { faults in
      faults.holdsPushes = false
      faults.give(.releasePushes)
    }
  }

  /// The number of held pushes.
  public var heldPushCount: Int { pushDispatcher.heldCount }

  /// Delivers `push` to the device called `device`, even if the push is stale or wrong.
  public func deliver(_ push: CloudPush, to device: String) {
    change { $0.give(.deliver(push, to: device)) }
  }

  /// The latest pushes with their outcomes, oldest first; at least the last 10,000.
  public var pushes: [PushEntry] { pushDispatcher.log }
}
