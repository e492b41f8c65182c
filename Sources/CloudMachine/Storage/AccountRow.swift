public import Records

/// An account.
public struct AccountRow: Hashable, Sendable, Codable {
  /// The account name, such as `alice`.
  public var name: String
  /// The user record name.
  public var user: UserID
  /// The quota of its private databases in bytes; `nil` for no quota.
  public var quota: Int?
  /// The contact data of the user.
  public var person: Person

  /// The contact data of a user, by which others find and see the user.
  public struct Person: Hashable, Sendable, Codable {
    /// An email address, besides those derived from the account's name.
    public var email: String?
    /// The telephone number.
    public var phone: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var familyName: String?

    /// Creates contact data, empty by default.
    public init(
      email: String? = nil, phone: String? = nil, givenName: String? = nil,
      familyName: String? = nil
    ) {
      self.email = email
      self.phone = phone
      self.givenName = givenName
      self.familyName = familyName
    }
  }

  /// Creates the row of an account.
  public init(name: String, user: UserID, quota: Int? = nil, person: Person = Person()) {
    self.name = name
    self.user = user
    self.quota = quota
    self.person = person
  }
}

extension AccountRow {
  /// The prefix of the names of accounts that belong to server-to-server keys.
  ///
  /// The family name of such an account is the public key, which is not part of its identity.
  package static let serverKeyPrefix = "server-key-"
}
