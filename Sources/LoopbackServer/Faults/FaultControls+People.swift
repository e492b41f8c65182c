import CloudMachine
public import CloudProtocol

/// The people behind accounts.
extension FaultControls {
  /// Says how others find and see the person behind `account`, which is made when it is new.
  ///
  /// Without this a person is found by an address for mail: the account's name, or that with
  /// `@example.com` behind it.
  /// - Parameters:
  ///   - email: another address for mail; upper and lower case are the same.
  ///   - phone: a telephone number, found as it is written here.
  ///   - givenName: what others see of the person's name.
  ///   - familyName: likewise.
  public func setPerson(
    of account: String, email: String? = nil, phone: String? = nil, givenName: String? = nil,
    familyName: String? = nil
  ) throws(CloudError) {
    try room.inspect { machine, storage in
      let row = try machine.createAccount(account, in: storage)
      let person = AccountRow.Person(
        email: email, phone: phone, givenName: givenName, familyName: familyName)
      try machine.setPerson(person, of: row.user, in: storage)
    }
  }

  /// Erases what `account` has in a container, as closing the account does.
  ///
  /// It leaves what others share and loses its zones with what is shared of them; its public
  /// records stay, and so does the account itself. Throws `unknownItem` when there is none.
  public func eraseData(
    of account: String, container: String, environment: CloudEnvironment = .development
  ) throws(CloudError) {
    let now = wallClock()
    let pushes = try room.administer(
      container: container, environment: environment, account: account
    ) { machine, database, storage in
      guard let user = database.owner else { return [] }
      return try machine.eraseData(
        of: user, container: container, environment: environment, now: now, storage: storage)
    }
    tell(pushes, container, environment, account)
  }
}
