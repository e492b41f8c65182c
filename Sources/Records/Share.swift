/// What a share record carries beyond the fields of a record.
///
/// See CS-153 to CS-165.
public struct ShareDetails: Hashable, Sendable, Codable {
  /// The record at the top of the shared hierarchy; `nil` when the whole zone is shared.
  public var root: RecordID?

  /// What everyone who knows the URL may do.
  public var publicPermission: SharePermission

  /// Where the share can be accepted; given by the server at the first save.
  public var url: String?

  /// Everyone in it, the owner first.
  public var participants: [ShareParticipant]

  /// Which of them is the user the server answers; `nil` in what is stored or sent to it.
  public var currentParticipant: String?

  /// Describes a share.
  public init(
    root: RecordID?, publicPermission: SharePermission = .none, url: String? = nil,
    participants: [ShareParticipant] = [], currentParticipant: String? = nil
  ) {
    self.root = root
    self.publicPermission = publicPermission
    self.url = url
    self.participants = participants
    self.currentParticipant = currentParticipant
  }

  /// The record type of every share.
  public static let recordType = "cloudkit.share"

  /// The record name of the share of a whole zone.
  public static let zoneWideName = "cloudkit.zoneshare"
}

/// What someone may do with shared records; the numbers are CloudKit's.
public enum SharePermission: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// Not known.
  case unknown = 0
  /// Nothing.
  case none = 1
  /// The participant may read the shared records.
  case readOnly = 2
  /// Read and change.
  case readWrite = 3
}

/// What someone is in a share; the numbers are CloudKit's.
public enum ShareRole: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// Not known.
  case unknown = 0
  /// Whose records they are.
  case owner = 1
  /// May manage the other participants.
  case administrator = 2
  /// Was invited by name.
  case privateUser = 3
  /// Came by the URL.
  case publicUser = 4
}

/// Whether someone who was invited came.
public enum ShareAcceptance: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// Not known.
  case unknown = 0
  /// Was invited.
  case pending = 1
  /// The participant has accepted the invitation.
  case accepted = 2
  /// Left, or was removed.
  case removed = 3
}

/// One person in a share.
public struct ShareParticipant: Hashable, Sendable, Codable {
  /// Names the participant within the share.
  public var id: String

  /// Who it is.
  public var identity: UserIdentity

  /// What the person is in the share.
  public var role: ShareRole

  /// What the person may do.
  public var permission: SharePermission

  /// Whether the person accepted.
  public var acceptance: ShareAcceptance

  /// Describes a person in a share.
  public init(
    id: String, identity: UserIdentity, role: ShareRole = .privateUser,
    permission: SharePermission = .readOnly, acceptance: ShareAcceptance = .pending
  ) {
    self.id = id
    self.identity = identity
    self.role = role
    self.permission = permission
    self.acceptance = acceptance
  }
}

/// A way to find a person.
public enum UserLookup: Hashable, Sendable, Codable {
  /// By an address for mail.
  case email(String)
  /// By a telephone number.
  case phone(String)
  /// By the name of the user record.
  case user(UserID)
}

/// A person as far as the asker may know.
public struct UserIdentity: Hashable, Sendable, Codable {
  /// The user record, known once the person has an account here.
  public var user: UserID?

  /// How the person was looked for.
  public var lookup: UserLookup?

  /// The given name, where the person lets it be known.
  public var givenName: String?

  /// The family name, where the person lets it be known.
  public var familyName: String?

  /// Whether there is an account.
  public var hasAccount: Bool

  /// Describes a person.
  public init(
    user: UserID? = nil, lookup: UserLookup? = nil, givenName: String? = nil,
    familyName: String? = nil, hasAccount: Bool = true
  ) {
    self.user = user
    self.lookup = lookup
    self.givenName = givenName
    self.familyName = familyName
    self.hasAccount = hasAccount
  }
}
