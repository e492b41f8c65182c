public import Foundation
package import Records
import Synchronization

/// A person in a share.
///
/// The role and the permission can be changed before the share is saved. Two participants are
/// equal when they are the same person, whatever they may do. See CS-164 and CS-165.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// Names a participant within its share.
  public typealias ID = String
  /// The acceptance status of the participant.
  public typealias AcceptanceStatus = CKShareParticipantAcceptanceStatus
  /// What someone may do with shared records.
  public typealias Permission = CKShareParticipantPermission
  /// What someone is in a share.
  public typealias Role = CKShareParticipantRole
  /// The older form of a participant's role.
  public typealias ParticipantType = CKShareParticipantType

  private let state: Mutex<ShareParticipant>

  /// Wraps a participant of the vocabulary.
  package init(_ value: ShareParticipant) { state = Mutex(value) }

  /// The participant as the vocabulary spells it, as it is now.
  package var value: ShareParticipant { state.withLock { $0 } }

  /// The identity of the participant.
  public var userIdentity: CKUserIdentity { CKUserIdentity(value.identity) }

  /// What the person is in the share; a private user unless set.
  public var role: CKShare.ParticipantRole {
    get { CKShareParticipantRole(value.role) }
    set { state.withLock { $0.role = newValue.value } }
  }

  /// The older form of the role.
  public var type: CKShare.ParticipantType {
    get { CKShareParticipantType(rawValue: role.rawValue) ?? .privateUser }
    set { role = CKShareParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
  }

  /// What the person may do; to read unless set.
  public var permission: CKShare.ParticipantPermission {
    get { CKShareParticipantPermission(value.permission) }
    set { state.withLock { $0.permission = newValue.value } }
  }

  /// Whether the person accepted.
  public var acceptanceStatus: CKShare.ParticipantAcceptanceStatus {
    CKShareParticipantAcceptanceStatus(value.acceptance)
  }

  /// Names the participant within its share.
  public var participantID: CKShare.Participant.ID { value.id }

  /// Whether both are the same person: by ID, by user, or by how they were looked for.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareParticipant else { return false }
    return other === self || value.isSamePerson(as: other.value)
  }

  /// The same for all: equality has no transitive key to hash by.
  public override var hash: Int { 0 }

  /// Another object for the same person with the same rights.
  public func copy(with zone: NSZone? = nil) -> Any { CKShareParticipant(value) }

  /// The ID, role, permission and status, never an address or a name.
  public override var description: String {
    let value = value
    return "<CKShareParticipant: id=\(value.id), role=\(value.role), "
      + "permission=\(value.permission), acceptance=\(value.acceptance)>"
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the participant.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncShareParticipant", with: coder) { $0.write(value) }
  }

  /// Reads the participant back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncShareParticipant", with: coder) {
      (reader) throws(ByteFormatError) in try reader.shareParticipant()
    }
    guard let value else { return nil }
    self.init(value)
  }
}

extension ShareParticipant {
  /// Whether both are one person.
  func isSamePerson(as other: ShareParticipant) -> Bool {
    if id == other.id { return true }
    if let user = identity.user, user == other.identity.user { return true }
    if let lookup = identity.lookup, lookup == other.identity.lookup { return true }
    return false
  }
}
