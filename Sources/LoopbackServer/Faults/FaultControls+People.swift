import CloudMachine
public import CloudProtocol

/// The users' contact data.
extension FaultControls {
  /// Sets the contact data of the user of `account`, which is created if it does not exist.
  ///
  /// By default a user is found by two email addresses: the account's name, and the account's name
  /// with `@example.com` appended.
  /// - Parameters:
  ///   - account: the account's name.
  ///   - email: another email address; case is ignored.
  ///   - phone: a telephone number, compared exactly.
  ///   - givenName: the given name that others see.
  ///   - familyName: the family name that others see.
  public func setPerson(
    of account: String, email: String? = nil, phone: String? = nil, givenName: String? = nil,
    familyName: String? = nil
  ) throws(CloudError) {
    try executor.change { machine, storage in
      let row = try machine.account(named: account, in: storage)
      let person = AccountRow.Person(
        email: email, phone: phone, givenName: givenName, familyName: familyName)
      try machine.setPerson(person, of: row.user, in: storage)
    }
  }

  /// Erases the data of `account` in a container, as closing the account does.
  ///
  /// The account leaves the shares of others and loses its zones including their shares; its public
  /// records and the account itself remain. Throws `unknownItem` for an unknown account.
  public func eraseData(
    of account: String, container: String, environment: CloudEnvironment = .development
  ) throws(CloudError) {
    try administer(account, container, environment) { machine, database, storage, now in
      guard let user = database.owner else { return AdministrativeOutcome() }
      return try machine.eraseData(
        of: user, container: container, environment: environment, now: now, storage: storage)
    }
  }
}
