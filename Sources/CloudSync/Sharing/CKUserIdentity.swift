public import Foundation
package import Records

/// The identity of a user, as far as the app may know it; see CS-166.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The criterion of a search for a user.
  public typealias LookupInfo = CKUserIdentityLookupInfo

  /// The identity as a value.
  package let value: UserIdentity

  /// Wraps an identity.
  package init(_ value: UserIdentity) { self.value = value }

  /// The ID of the user record, if known.
  public var userRecordID: CKRecord.ID? {
    value.user.map { CKRecordID(RecordID(name: $0.rawValue, zone: .default)) }
  }

  /// The criterion of the search that found the user.
  public var lookupInfo: CKUserIdentity.LookupInfo? { value.lookup.map { .init($0) } }

  /// The name of the user, if the user discloses it.
  public var nameComponents: PersonNameComponents? {
    guard value.givenName != nil || value.familyName != nil else { return nil }
    var name = PersonNameComponents()
    name.givenName = value.givenName
    name.familyName = value.familyName
    return name
  }

  /// Whether the user has an account.
  public var hasiCloudAccount: Bool { value.hasAccount }

  /// Always empty: there is no address book.
  @available(*, deprecated, message: "No address book is searched.")
  public var contactIdentifiers: [String] { [] }

  /// Whether `object` is an equal identity.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The user's name in the database, never an address.
  public override var description: String {
    "<CKUserIdentity: user=\(value.user?.rawValue ?? "unknown")>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the identity.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncUserIdentity", with: coder) { $0.write(value) }
  }

  /// Decodes an identity; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncUserIdentity", with: coder) { try $0.userIdentity() }
    guard let value else { return nil }
    self.init(value)
  }
}

/// The criterion of a search for a user: a mail address, a telephone number or a user record.
public final class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The criterion as a value.
  package let value: UserLookup

  /// Wraps a criterion.
  package init(_ value: UserLookup) { self.value = value }

  /// Creates a criterion from a mail address.
  public convenience init(emailAddress: String) { self.init(.email(emailAddress)) }

  /// Creates a criterion from a telephone number.
  public convenience init(phoneNumber: String) { self.init(.phone(phoneNumber)) }

  /// Creates a criterion from the ID of a user record.
  public convenience init(userRecordID: CKRecord.ID) {
    self.init(.user(UserID(userRecordID.recordName)))
  }

  /// Creates criteria from mail addresses.
  public class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
    emails.map { .init(emailAddress: $0) }
  }

  /// Creates criteria from telephone numbers.
  public class func lookupInfos(
    withPhoneNumbers phoneNumbers: [String]
  ) -> [CKUserIdentity.LookupInfo] {
    phoneNumbers.map { .init(phoneNumber: $0) }
  }

  /// Creates criteria from IDs of user records.
  public class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
    recordIDs.map { .init(userRecordID: $0) }
  }

  /// The mail address of the search.
  public var emailAddress: String? { if case .email(let address) = value { address } else { nil } }

  /// The telephone number of the search.
  public var phoneNumber: String? { if case .phone(let number) = value { number } else { nil } }

  /// The ID of the user record of the search.
  public var userRecordID: CKRecord.ID? {
    guard case .user(let user) = value else { return nil }
    return CKRecordID(RecordID(name: user.rawValue, zone: .default))
  }

  /// Whether `object` is an equal criterion.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The kind of search, never its value.
  public override var description: String {
    switch value {
    case .email: "<CKUserIdentityLookupInfo: by mail address>"
    case .phone: "<CKUserIdentityLookupInfo: by telephone number>"
    case .user(let user): "<CKUserIdentityLookupInfo: user=\(user.rawValue)>"
    }
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the criterion.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncUserLookup", with: coder) { $0.write(value) }
  }

  /// Decodes a criterion; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncUserLookup", with: coder) { try $0.userLookup() }
    guard let value else { return nil }
    self.init(value)
  }
}
