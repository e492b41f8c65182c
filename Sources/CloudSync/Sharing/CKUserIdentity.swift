public import Foundation
package import Records

/// A person as far as the app may know.
///
/// See CS-166.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// How to look for a person.
  public typealias LookupInfo = CKUserIdentityLookupInfo

  /// The person as the vocabulary spells it.
  package let value: UserIdentity

  /// Wraps a person of the vocabulary.
  package init(_ value: UserIdentity) { self.value = value }

  /// The person's user record, once known.
  public var userRecordID: CKRecord.ID? {
    value.user.map { CKRecordID(RecordID(name: $0.rawValue, zone: .default)) }
  }

  /// How the person was looked for.
  public var lookupInfo: CKUserIdentity.LookupInfo? { value.lookup.map { .init($0) } }

  /// The person's name, where they let it be known.
  public var nameComponents: PersonNameComponents? {
    guard value.givenName != nil || value.familyName != nil else { return nil }
    var name = PersonNameComponents()
    name.givenName = value.givenName
    name.familyName = value.familyName
    return name
  }

  /// Whether the person has an account.
  public var hasiCloudAccount: Bool { value.hasAccount }

  /// Always empty: there is no address book.
  @available(*, deprecated, message: "No address book is searched.")
  public var contactIdentifiers: [String] { [] }

  /// The same person.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The same object: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The user's name in the database, never an address.
  public override var description: String {
    "<CKUserIdentity: user=\(value.user?.rawValue ?? "unknown")>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the person.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncUserIdentity", with: coder) { $0.write(value) }
  }

  /// Reads the person back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncUserIdentity", with: coder) {
      (reader) throws(ByteFormatError) in try reader.userIdentity()
    }
    guard let value else { return nil }
    self.init(value)
  }
}

/// How to look for a person: by mail address, telephone number or user record.
public final class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The search as the vocabulary spells it.
  package let value: UserLookup

  /// Wraps a search of the vocabulary.
  package init(_ value: UserLookup) { self.value = value }

  /// Looks for a mail address.
  public convenience init(emailAddress: String) { self.init(.email(emailAddress)) }

  /// Looks for a telephone number.
  public convenience init(phoneNumber: String) { self.init(.phone(phoneNumber)) }

  /// Looks for a user record.
  public convenience init(userRecordID: CKRecord.ID) {
    self.init(.user(UserID(userRecordID.recordName)))
  }

  /// Looks for each of the mail addresses.
  public class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
    emails.map { .init(emailAddress: $0) }
  }

  /// Looks for each of the telephone numbers.
  public class func lookupInfos(
    withPhoneNumbers phoneNumbers: [String]
  ) -> [CKUserIdentity.LookupInfo] {
    phoneNumbers.map { .init(phoneNumber: $0) }
  }

  /// Looks for each of the user records.
  public class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
    recordIDs.map { .init(userRecordID: $0) }
  }

  /// The mail address looked for.
  public var emailAddress: String? { if case .email(let address) = value { address } else { nil } }

  /// The telephone number looked for.
  public var phoneNumber: String? { if case .phone(let number) = value { number } else { nil } }

  /// The user record looked for.
  public var userRecordID: CKRecord.ID? {
    guard case .user(let user) = value else { return nil }
    return CKRecordID(RecordID(name: user.rawValue, zone: .default))
  }

  /// Whether the same is looked for.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The same object: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The kind of search, never what is looked for.
  public override var description: String {
    switch value {
    case .email: "<CKUserIdentityLookupInfo: by mail address>"
    case .phone: "<CKUserIdentityLookupInfo: by telephone number>"
    case .user(let user): "<CKUserIdentityLookupInfo: user=\(user.rawValue)>"
    }
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the search.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncUserLookup", with: coder) { $0.write(value) }
  }

  /// Reads the search back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncUserLookup", with: coder) {
      (reader) throws(ByteFormatError) in try reader.userLookup()
    }
    guard let value else { return nil }
    self.init(value)
  }
}
