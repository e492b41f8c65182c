import CloudMachine
package import CloudProtocol
package import Records

/// What whoever brings requests from outside of this process needs.
extension LoopbackServer {
  /// The device called `name` of `account`, which no other account's device is, whatever its name.
  ///
  /// - Parameter account: Who asks; `nil` for nobody in particular.
  package func remoteDevice(_ name: String, account: String?) -> LoopbackDevice {
    let key = DeviceKey(name: name, visitor: account ?? "")
    return LoopbackDevice(state: post.device(key, account: account).state, office: office)
  }

  /// The user record name of `account`, which is made when there is none.
  /// - Throws: `invalidArguments` when nobody can be called so, `networkFailure` after the server
  ///   was closed.
  package func user(of account: String) throws(CloudError) -> UserID {
    try room.user(of: account)
  }

  /// Where the share of a record of `user` is found, also before there is one.
  ///
  /// - Throws: `networkFailure` after the server was closed.
  package func shareURL(
    ofRoot root: RecordID, container: String, environment: CloudEnvironment, user: UserID?
  ) throws(CloudError) -> String {
    try room.inspect { machine, storage in
      try machine.shareURL(
        ofRoot: root,
        in: DatabaseID(
          container: container, environment: environment, scope: .private, owner: user), storage)
    }
  }

  /// How much the server takes at once.
  package var limits: ServerLimits { room.limits }

  /// A key that only this server's storage knows, the same after it was opened again.
  ///
  /// - Throws: `networkFailure` after the server was closed.
  package func sealingKey() throws(CloudError) -> [UInt8] {
    try room.inspect { _, storage in
      let secret = try storage.secret()
      var writer = ByteWriter()
      writer.write("keys of what is sealed for other processes")
      writer.write(fixed: secret.first)
      writer.write(fixed: secret.second)
      var hash = SHA256()
      hash.update(writer.bytes)
      return hash.digest()
    }
  }

  /// How the subscription of a push wants it to look; `nil` when it is not there any more.
  package func notificationInfo(
    of push: CloudPush, account: String, _ environment: CloudEnvironment
  ) throws(CloudError) -> Subscription.NotificationInfo? {
    try room.inspect { _, storage in
      var home = try MachineRoom.database(
        container: push.container, environment: environment, account: account, storage)
      home.scope = push.database
      return try storage.subscription(push.subscription, in: home)?.notificationInfo
    }
  }
}
