package import CloudProtocol
public import Foundation
import Records

/// The metadata of a share, which a user can read before accepting it; see CS-163.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The metadata as a value.
  package let value: ShareMetadata

  /// Wraps metadata.
  package init(_ value: ShareMetadata) { self.value = value }

  /// The identifier of the container to accept the share in, such as `iCloud.com.example.notes`.
  public var containerIdentifier: String { value.container }

  /// The share; each access creates an object.
  public var share: CKShare { CKShare(value.share) }

  /// The ID of the root record; `nil` when a whole zone is shared.
  public var hierarchicalRootRecordID: CKRecord.ID? { value.rootID.map { CKRecordID($0) } }

  /// The root record, if it was requested; each access creates an object.
  public var rootRecord: CKRecord? { value.root.map { CKRecord.face(of: $0) } }

  /// The owner of the records.
  public var ownerIdentity: CKUserIdentity { CKUserIdentity(value.owner) }

  /// The role of the user in the share.
  public var participantRole: CKShare.ParticipantRole { CKShareParticipantRole(value.role) }

  /// The acceptance status of the user.
  public var participantStatus: CKShare.ParticipantAcceptanceStatus {
    CKShareParticipantAcceptanceStatus(value.acceptance)
  }

  /// The permission of the user.
  public var participantPermission: CKShare.ParticipantPermission {
    CKShareParticipantPermission(value.permission)
  }

  /// The older form of `hierarchicalRootRecordID`; the share's own ID for a zone.
  public var rootRecordID: CKRecord.ID { CKRecordID(value.rootID ?? value.share.id) }

  /// The older form of `participantRole`.
  public var participantType: CKShare.ParticipantType {
    CKShareParticipantType(rawValue: participantRole.rawValue) ?? .privateUser
  }

  /// Whether `object` is equal metadata.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.share.id.hashValue }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The container and the share's ID.
  public override var description: String {
    "<CKShareMetadata: container=\(value.container), share=\(CKRecordID(value.share.id))>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the metadata.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncShareMetadata", with: coder) { $0.write(value) }
  }

  /// Decodes metadata; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncShareMetadata", with: coder) {
      try $0.shareMetadata()
    }
    guard let value else { return nil }
    self.init(value)
  }
}
