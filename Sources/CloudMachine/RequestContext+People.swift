import CloudProtocol
import Records

/// Finding users.
///
/// An email address matches the account that it was set for; otherwise the account whose name it
/// is, or whose name precedes `@example.com`.
extension RequestContext {
  /// Accounts by their addresses.
  struct AddressBook {
    fileprivate var byPhone: [String: AccountRow] = [:]
    fileprivate var byEmail: [String: AccountRow] = [:]

    fileprivate init(_ accounts: [AccountRow]) {
      for account in accounts.reversed() {
        if let phone = account.person.phone { byPhone[phone] = account }
        if let email = account.person.email { byEmail[email.lowercased()] = account }
      }
    }
  }

  /// The addresses of all accounts.
  func addressBook() throws -> AddressBook { AddressBook(try storage.accounts()) }

  /// The account that `lookup` finds.
  ///
  /// - Parameter book: the addresses of all accounts; `nil` reads them if needed.
  func account(for lookup: UserLookup, in book: AddressBook? = nil) throws -> AccountRow? {
    switch lookup {
    case .user(let user):
      return user.rawValue == ZoneID.currentOwner ? account : try storage.account(user)
    case .phone(let number):
      return try (book ?? addressBook()).byPhone[number]
    case .email(let address):
      let address = address.lowercased()
      if let found = try (book ?? addressBook()).byEmail[address] { return found }
      if let found = try storage.account(named: address) { return found }
      let suffix = "@example.com"
      guard address.hasSuffix(suffix) else { return nil }
      return try storage.account(named: String(address.dropLast(suffix.count)))
    }
  }

  /// The identity of an account that is visible to others, with `lookup` if it was found by one.
  func identity(of account: AccountRow, lookup: UserLookup? = nil) -> UserIdentity {
    let isKey = account.name.hasPrefix(AccountRow.serverKeyPrefix)
    return UserIdentity(
      user: account.user, lookup: lookup, givenName: account.person.givenName,
      familyName: isKey ? nil : account.person.familyName)
  }

  /// Whether `identity` is the user of `account`.
  func isPerson(_ identity: UserIdentity, _ account: AccountRow) throws -> Bool {
    if let user = identity.user { return user == account.user }
    return try identity.lookup.map { try self.account(for: $0)?.user == account.user } ?? false
  }
}
