package import CloudProtocol
public import Foundation
import Records

/// What can be known of a share before joining it.
///
/// See CS-163.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The description as the vocabulary spells it.
  package let value: ShareMetadata

  /// Wraps a description of the vocabulary.
  package init(_ value: ShareMetadata) { self.value = value }

  /// The container the share lives in.
  public var containerIdentifier: String { value.container }

  /// The share; each reading gives an object of its own.
  public var share: CKShare {
    CKShare(state: CKRecord.State(record: value.share, base: value.share.fields))
  }

  /// The record at the top of the hierarchy; `nil` when a whole zone is shared.
  public var hierarchicalRootRecordID: CKRecord.ID? { value.rootID.map { CKRecordID($0) } }

  /// That record, where it was asked for; each reading gives an object of its own.
  public var rootRecord: CKRecord? { value.root.map { CKRecord.face(of: $0) } }

  /// The owner of the records.
  public var ownerIdentity: CKUserIdentity { CKUserIdentity(value.owner) }

  /// What the user is, or would be, in the share.
  public var participantRole: CKShare.ParticipantRole { CKShareParticipantRole(value.role) }

  /// Whether the user accepted.
  public var participantStatus: CKShare.ParticipantAcceptanceStatus {
    CKShareParticipantAcceptanceStatus(value.acceptance)
  }

  /// What the user may do, or could do.
  public var participantPermission: CKShare.ParticipantPermission {
    CKShareParticipantPermission(value.permission)
  }

  /// The older form of `hierarchicalRootRecordID`; the share's own ID for a zone.
  public var rootRecordID: CKRecord.ID { CKRecordID(value.rootID ?? value.share.id) }

  /// The older form of `participantRole`.
  public var participantType: CKShare.ParticipantType {
    CKShareParticipantType(rawValue: participantRole.rawValue) ?? .privateUser
  }

  /// Whether both describe the same of the same share.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// Agrees with `isEqual`.
  public override var hash: Int { value.share.id.hashValue }

  /// The same object: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The container and the share's ID.
  public override var description: String {
    "<CKShareMetadata: container=\(value.container), share=\(CKRecordID(value.share.id))>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the description.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncShareMetadata", with: coder) { $0.write(value) }
  }

  /// Reads the description back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncShareMetadata", with: coder) {
      (reader) throws(ByteFormatError) in try reader.shareMetadata()
    }
    guard let value else { return nil }
    self.init(value)
  }
}
