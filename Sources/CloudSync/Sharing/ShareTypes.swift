package import Records

/// What a participant may do with the shared records.
public enum CKShareParticipantPermission: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// Nothing.
  case none = 1
  /// The participant may read the shared records.
  case readOnly = 2
  /// Read and change.
  case readWrite = 3

  /// The permission as a value.
  package var value: SharePermission { SharePermission(rawValue: UInt8(rawValue)) ?? .unknown }

  /// Converts a permission.
  package init(_ value: SharePermission) { self = Self(rawValue: Int(value.rawValue)) ?? .unknown }
}

/// How a participant came to the share, and whether it may manage it.
public enum CKShareParticipantRole: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// The owner of the records.
  case owner = 1
  /// A participant who may manage the others.
  case administrator = 2
  /// A participant who was invited by name.
  case privateUser = 3
  /// A participant who joined with the URL.
  case publicUser = 4

  /// The role as a value.
  package var value: ShareRole { ShareRole(rawValue: UInt8(rawValue)) ?? .unknown }

  /// Converts a role.
  package init(_ value: ShareRole) { self = Self(rawValue: Int(value.rawValue)) ?? .unknown }
}

/// Whether a participant has accepted the invitation.
public enum CKShareParticipantAcceptanceStatus: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// The participant was invited.
  case pending = 1
  /// The participant accepted.
  case accepted = 2
  /// The participant left or was removed.
  case removed = 3

  /// The status as a value.
  package var value: ShareAcceptance { ShareAcceptance(rawValue: UInt8(rawValue)) ?? .unknown }

  /// Converts a status.
  package init(_ value: ShareAcceptance) { self = Self(rawValue: Int(value.rawValue)) ?? .unknown }
}

/// The older form of a participant's role.
public enum CKShareParticipantType: Int, Sendable {
  /// Not known.
  case unknown = 0
  /// The owner of the records.
  case owner = 1
  /// A participant who was invited by name.
  case privateUser = 3
  /// A participant who joined with the URL.
  case publicUser = 4
}

extension CKShare {
  /// The permission of a participant.
  public typealias ParticipantPermission = CKShareParticipantPermission
  /// The role of a participant.
  public typealias ParticipantRole = CKShareParticipantRole
  /// The acceptance status of a participant.
  public typealias ParticipantAcceptanceStatus = CKShareParticipantAcceptanceStatus
  /// The older form of a participant's role.
  public typealias ParticipantType = CKShareParticipantType
  /// A participant of a share.
  public typealias Participant = CKShareParticipant
  /// The metadata of a share.
  public typealias Metadata = CKShareMetadata

  /// The names of the fields that describe a share to users.
  public enum SystemFieldKey {
    /// The title that the invitation shows.
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
