import CloudProtocol
import Records

/// Finding users.
///
/// An email address matches the account that it was set for; otherwise the account whose name it
/// is, or whose name precedes `@example.com`. Capital letters make no difference, unless two names
/// differ by them alone.
extension RequestContext {
  /// The addresses of all accounts, which are read once for a request.
  final class AddressBook {
    private var accounts: Accounts?

    fileprivate func accounts(in storage: any CloudStorage) throws -> Accounts {
      if let accounts { return accounts }
      let read = Accounts(try storage.accounts())
      accounts = read
      return read
    }
  }

  /// Accounts by their addresses and names; names by their bytes, as storages compare them.
  fileprivate struct Accounts {
    var byPhone: [String: AccountRow] = [:]
    var byEmail: [String: AccountRow] = [:]
    var byName: [[UInt8]: AccountRow] = [:]
    var byLowercasedName: [[UInt8]: AccountRow] = [:]

    init(_ accounts: [AccountRow]) {
      for account in accounts.reversed() {
        if let phone = account.person.phone { byPhone[phone] = account }
        if let email = account.person.email { byEmail[email.lowercased()] = account }
        byName[Array(account.name.utf8)] = account
        byLowercasedName[Array(account.name.lowercased().utf8)] = account
      }
    }

    subscript(name name: some StringProtocol) -> AccountRow? {
      byName[Array(name.utf8)] ?? byLowercasedName[Array(name.lowercased().utf8)]
    }
  }

  /// The account that `lookup` finds.
  func account(for lookup: UserLookup) throws -> AccountRow? {
    switch lookup {
    case .user(let user):
      return user.rawValue == ZoneID.currentOwner ? account : try storage.account(user)
    case .phone(let number):
      return try book.accounts(in: storage).byPhone[number]
    case .email(let address):
      let accounts = try book.accounts(in: storage)
      if let found = accounts.byEmail[address.lowercased()] ?? accounts[name: address] {
        return found
      }
      let suffix = "@example.com"
      guard address.lowercased().hasSuffix(suffix) else { return nil }
      return accounts[name: address.dropLast(suffix.count)]
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
