import CloudMachine
package import CloudProtocol
package import Records

/// The interface for servers that accept requests from outside of this process.
extension LoopbackServer {
  /// The device called `name` of `account`; devices of different accounts are distinct even if they
  /// share a name.
  ///
  /// - Parameter account: The account of the device; `nil` for anonymous requests.
  package func remoteDevice(_ name: String, account: String?) -> LoopbackDevice {
    let key = DeviceKey(name: name, remoteAccount: account ?? "")
    return LoopbackDevice(
      state: pushDispatcher.device(key, account: account).state, dispatcher: dispatcher)
  }

  /// The user record name of `account`, which is created if it does not exist.
  /// - Throws: `invalidArguments` for an invalid name, `networkFailure` after the server was
  ///   closed.
  package func user(of account: String) throws(CloudError) -> UserID {
    try executor.user(of: account)
  }

  /// The share URL of a root record of `user`, even before the share exists.
  ///
  /// - Throws: `networkFailure` after the server was closed.
  package func shareURL(
    ofRoot root: RecordID, container: String, environment: CloudEnvironment, user: UserID?
  ) throws(CloudError) -> String {
    try executor.inspect { machine, storage in
      try machine.shareURL(
        ofRoot: root,
        in: DatabaseID(
          container: container, environment: environment, scope: .private, owner: user), storage)
    }
  }

  /// How the storage was used since the server was opened, and is used now.
  package var storageUse: StorageUse { executor.storageUse }

  /// Sets what is called when the storage begins to fail, with the reason for the operator of the
  /// server, and with `nil` when it works again.
  ///
  /// Each kind of failure is reported once until it ends: one of a connection to a database with
  /// the next request, one of a file with the next request that stores a change, damage never.
  /// Called on any thread, while requests wait; it must return at once, and must not call the
  /// server.
  package func observeStorage(_ observer: @escaping @Sendable (_ failure: String?) -> Void) {
    executor.health.observe(observer)
  }

  /// Checks whether the storage can be read.
  ///
  /// - Throws: Why not.
  package func checkStorage() async throws(CloudError) {
    _ = try await executor.storages.run { [executor] () throws(CloudError) in
      try executor.inspect { _, storage in try storage.identity() }
    }
  }

  /// The server's limits.
  package var limits: ServerLimits { executor.limits }

  /// The prefix of the names of accounts that belong to server-to-server keys.
  package static var serverKeyPrefix: String { AccountRow.serverKeyPrefix }

  /// The given name and the family name of an account's user; `nil` if there is no such account.
  package func person(
    of account: String
  ) throws(CloudError) -> (givenName: String?, familyName: String?)? {
    try executor.inspect { _, storage in
      try storage.account(named: account).map { ($0.person.givenName, $0.person.familyName) }
    }
  }

  /// The storage's secret, from which the key for signing tokens is derived.
  package struct SigningSecret: Hashable, Sendable {
    fileprivate let secret: StorageSecret

    /// The key, the same for the same secret.
    package var key: [UInt8] {
      var writer = ByteWriter()
      writer.write("keys of what is sealed for other processes")
      writer.write(fixed: secret.first)
      writer.write(fixed: secret.second)
      return SHA256.digest(of: writer.bytes)
    }
  }

  /// The secret for signing tokens, stable across restarts, until an import with a secret or a
  /// reset replaces it, here or at another server on the same data.
  ///
  /// A copy in memory; a change by another process is known after the next check for foreign
  /// changes.
  ///
  /// - Throws: `networkFailure` after the server was closed.
  package func signingSecret() throws(CloudError) -> SigningSecret {
    SigningSecret(secret: try executor.secret())
  }

  /// One push of each subscription of an account in a container, for a device that may have missed
  /// some.
  ///
  /// If it is the account's first device here, no pushes are sent for earlier changes.
  ///
  /// - Throws: `networkFailure` after the server was closed, and errors of the storage.
  package func pushes(
    ofSubscriptionsOf account: String, container: String, _ environment: CloudEnvironment
  ) throws(CloudError) -> [CloudPush] {
    try executor.inspect { _, storage in
      guard let user = try storage.account(named: account)?.user else { return [] }
      try executor.watch(account, storage)
      return try DatabaseScope.allCases.flatMap { scope in
        let home = DatabaseID(
          container: container, environment: environment, scope: scope, owner: user)
        return try storage.subscriptions(in: home).map { subscription in
          CloudPush(
            container: container, database: scope, subscription: subscription.id,
            zone: subscription.kind.zone, environment: environment)
        }
      }
    }
  }

  /// Notes that an account may get its first device here, which gets no pushes for earlier changes.
  ///
  /// - Throws: `networkFailure` after the server was closed, and errors of the storage.
  package func expectDevice(of account: String) throws(CloudError) {
    guard executor.storages.isShared else { return }
    try executor.inspect { _, storage in try executor.watch(account, storage) }
  }

  /// The notification info of a push's subscription; `nil` if the subscription was deleted.
  package func notificationInfo(
    of push: CloudPush, account: String, _ environment: CloudEnvironment
  ) throws(CloudError) -> Subscription.NotificationInfo? {
    try executor.inspect { _, storage in
      var home = try MachineExecutor.database(
        container: push.container, environment: environment, account: account, storage)
      home.scope = push.database
      return try storage.subscription(push.subscription, in: home)?.notificationInfo
    }
  }
}

extension Subscription.Kind {
  /// The zone that the subscription names; `nil` if it names none.
  fileprivate var zone: ZoneID? {
    switch self {
    case .database: nil
    case .zone(let zone, _): zone
    case .query(let query): query.zone
    }
  }
}
