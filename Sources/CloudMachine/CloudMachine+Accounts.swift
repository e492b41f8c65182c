package import CloudProtocol
package import Records

/// Account administration, which is not available to callers.
///
/// Each method works in the transaction of `storage` that its caller runs.
extension CloudMachine {
  /// The account called `name`, created if there is none.
  ///
  /// Its user name is derived from `name`, so that the same name is the same user in every run:
  /// an underscore and 32 hexadecimal digits. Throws `invalidArguments` when the name is empty,
  /// longer than 255 bytes or holds control characters, and what the storage throws.
  @discardableResult
  package func createAccount(
    _ name: String, quota: Int? = nil, in storage: any CloudStorage
  ) throws -> AccountRow {
    guard !name.isEmpty, name.utf8.count <= limits.nameLength,
      name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
    else {
      throw CloudError(
        .invalidArguments, "an account name needs 1 to 255 bytes and no control characters")
    }
    if let row = try storage.account(named: name) { return row }
    var salt: UInt64 = 0
    while let other = try storage.account(UserID(derivedFrom: name, salt: salt)) {
      // Another process has created it since.
      if other.name == name { return other }
      salt += 1
    }
    let row = AccountRow(
      name: name, user: UserID(derivedFrom: name, salt: salt), quota: quota)
    try storage.commit([.putAccount(row)])
    return row
  }

  /// Sets the quota of each private database of `user` in bytes; `nil` removes it.
  ///
  /// Existing data is kept. Throws `unknownItem` for an unknown account.
  package func setQuota(_ quota: Int?, of user: UserID, in storage: any CloudStorage) throws {
    var row = try account(user, in: storage)
    row.quota = quota
    try storage.commit([.putAccount(row)])
  }

  /// Sets the contact data of an account.
  ///
  /// Pending invitations by address then apply to the account that has the address. Throws
  /// `unknownItem` for an unknown account.
  package func setPerson(
    _ person: AccountRow.Person, of user: UserID, in storage: any CloudStorage
  ) throws {
    var row = try account(user, in: storage)
    row.person = person
    try storage.commit([.putAccount(row)])
  }

  /// Erases the data of `user` in one environment of a container, as closing the account does:
  /// leaves the shares of others, and deletes the zones including their shares, the subscriptions,
  /// also those to the public database, and the user's receipts, also those of other containers.
  ///
  /// The account itself remains, empty; the viewers of its shares get pushes. Public records
  /// remain. Throws `unknownItem` for an unknown account.
  package func eraseData(
    of user: UserID, container: String, environment: CloudEnvironment, now: Timestamp,
    storage: any CloudStorage
  ) throws -> AdministrativeOutcome {
    let account = try account(user, in: storage)
    let home = DatabaseID(
      container: container, environment: environment, scope: .private, owner: user)
    let visits = home.shared(with: user)
    let context = RequestContext(
      storage: storage, limits: limits, database: visits,
      account: account, device: nil, now: now)
    var transaction = WriteTransaction()
    try storage.foresee { ReadPlan(changing: [home, visits]) }
    let mounts = try storage.zones(in: visits).filter { $0.deletion == nil }
    try storage.foresee {
      ReadPlan(changing: Set(mounts.map { home.home(of: UserID($0.id.owner)) }))
    }
    for mount in mounts {
      // A share that can't be left does not keep the account from being erased.
      _ = try ItemResult(mount.id) {
        try leave(mount, context.access(to: mount.id), &transaction)
      }
    }
    let position = try transaction.open(home, context)
    for zone in try storage.zones(in: home) where zone.deletion == nil {
      if zone.id == .default {
        transaction[position].count(bytes: -zone.byteCount)
        transaction[position].put(ZoneRow(id: .default, incarnation: 0, changedAt: 0))
        transaction[position].append(.removeRecords(of: .default, in: home))
      } else {
        try transaction.remove(zone, in: home, reason: .deleted, context)
      }
    }
    let pushes = try pushes(for: &transaction, context)
    let publicHome = DatabaseID(
      container: container, environment: environment, scope: .public, owner: user)
    for database in [home, visits, publicHome] {
      for subscription in try storage.subscriptions(in: database) {
        transaction[position].append(.removeSubscription(subscription.id, in: database))
      }
    }
    // They hold answers with the data.
    transaction[position].append(.removeReceipts(of: user))
    try transaction.commit(to: storage)
    return AdministrativeOutcome(pushes, transaction)
  }

  private func account(_ user: UserID, in storage: any CloudStorage) throws -> AccountRow {
    guard let row = try storage.account(user) else {
      throw CloudError(.unknownItem, "there is no such account")
    }
    return row
  }
}

extension UserID {
  /// A name that looks random but depends on `name` and `salt` only.
  fileprivate init(derivedFrom name: String, salt: UInt64) {
    var digits = "_"
    for half in 1...2 as ClosedRange<UInt64> {
      var value: UInt64 = 0xcbf2_9ce4_8422_2325 &+ half &+ (salt &* 2)
      for byte in name.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
      value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
      value ^= value >> 31
      let text = String(value, radix: 16)
      digits += String(repeating: "0", count: 16 - text.count) + text
    }
    self.init(digits)
  }
}
