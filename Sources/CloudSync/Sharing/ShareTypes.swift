package import Records

/// What someone may do with shared records.
public enum CKShareParticipantPermission: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Nothing.
  case none = 1
  /// Read.
  case readOnly = 2
  /// Read and change.
  case readWrite = 3

  /// The permission as the vocabulary spells it.
  package var value: SharePermission { SharePermission(rawValue: UInt8(rawValue)) ?? .unknown }

  /// The permission in the form apps know.
  package init(_ value: SharePermission) { self = Self(rawValue: Int(value.rawValue)) ?? .unknown }
}

/// What someone is in a share.
public enum CKShareParticipantRole: Int, Sendable {
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

  /// The role as the vocabulary spells it.
  package var value: ShareRole { ShareRole(rawValue: UInt8(rawValue)) ?? .unknown }

  /// The role in the form apps know.
  package init(_ value: ShareRole) { self = Self(rawValue: Int(value.rawValue)) ?? .unknown }
}

/// Whether someone who was invited came.
public enum CKShareParticipantAcceptanceStatus: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Was invited.
  case pending = 1
  /// Accepted.
  case accepted = 2
  /// Left, or was removed.
  case removed = 3

  /// The status as the vocabulary spells it.
  package var value: ShareAcceptance { ShareAcceptance(rawValue: UInt8(rawValue)) ?? .unknown }

  /// The status in the form apps know.
  package init(_ value: ShareAcceptance) { self = Self(rawValue: Int(value.rawValue)) ?? .unknown }
}

/// The older form of a participant's role.
public enum CKShareParticipantType: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Whose records they are.
  case owner = 1
  /// Was invited by name.
  case privateUser = 3
  /// Came by the URL.
  case publicUser = 4
}

extension CKShare {
  /// What someone may do with shared records.
  public typealias ParticipantPermission = CKShareParticipantPermission
  /// What someone is in a share.
  public typealias ParticipantRole = CKShareParticipantRole
  /// Whether someone who was invited came.
  public typealias ParticipantAcceptanceStatus = CKShareParticipantAcceptanceStatus
  /// The older form of a participant's role.
  public typealias ParticipantType = CKShareParticipantType
  /// A person in a share.
  public typealias Participant = CKShareParticipant
  /// What can be known of a share before joining it.
  public typealias Metadata = CKShareMetadata

  /// The names of the fields of a share that show it to people.
  public enum SystemFieldKey {
    /// Its title.
    public static let title: CKRecord.FieldKey = "cloudkit.title"
    /// A small picture.
    public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
    /// A type identifier for what is shared.
    public static let shareType: CKRecord.FieldKey = "cloudkit.type"
  }
}

/// The older name of `CKShare.SystemFieldKey.title`.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.title")
public let CKShareTitleKey = CKShare.SystemFieldKey.title

/// The older name of `CKShare.SystemFieldKey.thumbnailImageData`.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.thumbnailImageData")
public let CKShareThumbnailImageDataKey = CKShare.SystemFieldKey.thumbnailImageData

/// The older name of `CKShare.SystemFieldKey.shareType`.
@available(*, deprecated, renamed: "CKShare.SystemFieldKey.shareType")
public let CKShareTypeKey = CKShare.SystemFieldKey.shareType

/// The older name of `CKShare.ParticipantAcceptanceStatus`.
public typealias CKShare_Participant_AcceptanceStatus = CKShareParticipantAcceptanceStatus
/// The older name of `CKShare.ParticipantPermission`.
public typealias CKShare_Participant_Permission = CKShareParticipantPermission
/// The older name of `CKShare.ParticipantRole`.
public typealias CKShare_Participant_Role = CKShareParticipantRole
/// The older name of `CKShare.ParticipantType`.
public typealias CKShare_Participant_ParticipantType = CKShareParticipantType
