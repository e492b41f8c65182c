import CloudMachine
public import CloudProtocol
public import Records

/// What an administrator, the user's settings or a server's housekeeping do.
///
/// Each names a private database by container and account. All throw `unknownItem` when the
/// server knows no such account, the zone's own error when there is no such zone, and
/// `networkFailure` after the server was closed.
extension FaultControls {
  /// Deletes `zone` as an app on another device would; the account's devices are told.
  public func deleteZone(
    _ zone: ZoneID, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      try machine.deleteZone(zone, in: database, now: now, storage: storage)
    }
  }

  /// Deletes `zone` as the user does in the settings; the account's devices are told.
  public func purgeZone(
    _ zone: ZoneID, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      try machine.purgeZone(zone, in: database, now: now, storage: storage)
    }
  }

  /// Deletes `zone` as a reset of encrypted data does; the account's devices are told.
  public func resetEncryptedData(
    _ zone: ZoneID, container: String, account: String,
    environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      try machine.resetEncryptedData(zone, in: database, now: now, storage: storage)
    }
  }

  /// Makes all tokens handed out for `zone`, or for the database when `nil`, expire.
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

  /// Lets each private database of `account` hold `bytes`; `nil` sets no bound.
  ///
  /// The account is made when it does not exist yet.
  public func setQuota(_ bytes: Int?, of account: String) throws(CloudError) {
    try room.inspect { machine, storage in
      let row = try machine.createAccount(account, in: storage)
      try machine.setQuota(bytes, of: row.user, in: storage)
    }
  }

  /// Sets how much the server takes at once from now on.
  public func setLimits(_ limits: ServerLimits) { room.setLimits(limits) }

  private func administer(
    _ account: String, _ container: String, _ environment: CloudEnvironment,
    _ work: (CloudMachine, DatabaseID, any CloudStorage, Timestamp) throws -> [PushOrder]
  ) throws(CloudError) {
    let now = wallClock()
    let pushes = try room.administer(
      container: container, environment: environment, account: account
    ) { machine, database, storage in try work(machine, database, storage, now) }
    tell(pushes, container, environment, account)
  }

  /// Sends the pushes and says that something changed, in case no device is told.
  func tell(
    _ pushes: [MachineRoom.AddressedPush], _ container: String, _ environment: CloudEnvironment,
    _ account: String?
  ) {
    post.send(pushes)
    events.add(
      .administration(container: container, environment: environment, account: account))
  }
}

/// What can go wrong with pushes.
extension FaultControls {
  /// Loses the next `count` pushes, to one device or to any.
  public func dropPushes(next count: Int = 1, to device: String? = nil) {
    if count > 0 { post.drop(next: count, device: device) }
  }

  /// Keeps all pushes from now on, until `releasePushes()`.
  public func holdPushes() { post.hold() }

  /// Delivers the pushes kept, oldest first, and keeps no more.
  public func releasePushes() { post.release() }

  /// How many pushes are kept.
  public var heldPushCount: Int { post.heldCount }

  /// Delivers `push` to the device called `device`, however old or wrong it is.
  public func deliver(_ push: CloudPush, to device: String) { post.deliver(push, to: device) }

  /// The latest pushes and what became of them, oldest first; at least the last 10,000.
  public var pushes: [PushEntry] { post.log }
}
