public import Foundation
package import Records
import Synchronization

/// A participant of a share.
///
/// The role and the permission can be changed before the share is saved. Two participants are
/// equal when they are the same person, regardless of role and permission. See CS-164 and CS-165.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The ID of a participant, unique in its share.
  public typealias ID = String
  /// CloudKit's nested name for `CKShareParticipantAcceptanceStatus`.
  public typealias AcceptanceStatus = CKShareParticipantAcceptanceStatus
  /// CloudKit's nested name for `CKShareParticipantPermission`.
  public typealias Permission = CKShareParticipantPermission
  /// CloudKit's nested name for `CKShareParticipantRole`.
  public typealias Role = CKShareParticipantRole
  /// The older form of a participant's role.
  public typealias ParticipantType = CKShareParticipantType

  private let state: Mutex<ShareParticipant>

  /// Wraps a participant.
  package init(_ value: ShareParticipant) { state = Mutex(value) }

  /// The participant as a value.
  package var value: ShareParticipant { state.withLock { $0 } }

  /// The participant's user record and name, as far as the server discloses them.
  public var userIdentity: CKUserIdentity { CKUserIdentity(value.identity) }

  /// The role of the participant; a private user unless set.
  public var role: CKShare.ParticipantRole {
    get { CKShareParticipantRole(value.role) }
    set { state.withLock { $0.role = newValue.value } }
  }

  /// The older form of the role.
  public var type: CKShare.ParticipantType {
    get { CKShareParticipantType(rawValue: role.rawValue) ?? .privateUser }
    set { role = CKShareParticipantRole(rawValue: newValue.rawValue) ?? .unknown }
  }

  /// The permission of the participant; to read unless set.
  public var permission: CKShare.ParticipantPermission {
    get { CKShareParticipantPermission(value.permission) }
    set { state.withLock { $0.permission = newValue.value } }
  }

  /// Whether the participant has accepted the invitation; only the server changes it.
  public var acceptanceStatus: CKShare.ParticipantAcceptanceStatus {
    CKShareParticipantAcceptanceStatus(value.acceptance)
  }

  /// Names the participant within its share.
  public var participantID: CKShare.Participant.ID { value.id }

  /// Whether both are the same person: by ID, by user, or by the search that found them.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareParticipant else { return false }
    return other === self || value.isSamePerson(as: other.value)
  }

  /// The same for all, since the equality is not transitive.
  public override var hash: Int { 0 }

  /// Creates an object for the same person with the same permission.
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

  /// Decodes a participant; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncShareParticipant", with: coder) {
      try $0.shareParticipant()
    }
    guard let value else { return nil }
    self.init(value)
  }
}

extension ShareParticipant {
  /// Whether both are one person.
  func isSamePerson(as other: ShareParticipant) -> Bool {
    // A service may leave the IDs out.
    if !id.isEmpty, id == other.id { return true }
    if let user = identity.user, user == other.identity.user { return true }
    if let lookup = identity.lookup, lookup == other.identity.lookup { return true }
    return false
  }
}
