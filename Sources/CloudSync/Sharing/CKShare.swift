public import Foundation
import Records
import Synchronization

/// A share of a root record with its descendants, or of a whole zone.
///
/// A hierarchical share is saved together with its root the first time. Its URL comes with the
/// first save. See CS-153 to CS-156.
///
/// `@unchecked` for the reason `CKRecord` gives; the property it adds is a `Mutex`.
public final class CKShare: CKRecord, @unchecked Sendable {
  /// The participant objects, kept so that a change of one is a change of the share.
  private struct ParticipantObjects {
    var source: [ShareParticipant] = []
    var people: [CKShareParticipant] = []
  }

  private let participantObjects = Mutex(ParticipantObjects())

  /// Creates a share object with a state.
  package override init(state: CKRecord.State) { super.init(state: state) }

  /// Creates a share of `rootRecord` and its descendants, with a new name in the same zone.
  public convenience init(rootRecord: CKRecord) {
    self.init(
      rootRecord: rootRecord,
      shareID: CKRecord.ID(
        recordName: "Share-\(UUID().uuidString)", zoneID: rootRecord.recordID.zoneID))
  }

  /// Creates a share of `rootRecord` and its descendants, with the ID `shareID`.
  public convenience init(rootRecord: CKRecord, shareID: CKRecord.ID) {
    self.init(id: shareID, root: rootRecord.recordID.value)
  }

  /// The older spelling of `init(rootRecord:shareID:)`.
  public convenience init(rootRecord: CKRecord, share shareID: CKRecord.ID) {
    self.init(rootRecord: rootRecord, shareID: shareID)
  }

  /// Creates a share of the zone `recordZoneID`.
  public convenience init(recordZoneID: CKRecordZone.ID) {
    self.init(
      id: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID), root: nil)
  }

  private convenience init(id: CKRecord.ID, root: RecordID?) {
    let owner = ShareParticipant(
      id: UUID().uuidString,
      identity: UserIdentity(user: UserID(id.zoneID.ownerName), hasAccount: true),
      role: .owner, permission: .readWrite, acceptance: .accepted)
    var record = Record(id: id.value, type: ShareDetails.recordType)
    record.sharing = ShareDetails(root: root, participants: [owner])
    self.init(state: CKRecord.State(record: record))
  }

  /// Decodes a share; returns `nil` if the archive is damaged or of another record.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard state.withLock({ $0.record.sharing != nil }) else { return nil }
  }

  /// The permission of everyone who knows the URL; `none` by default.
  ///
  /// Setting a public permission removes participants who have not accepted; removing it
  /// removes all but the owner.
  public var publicPermission: CKShare.ParticipantPermission {
    get { CKShareParticipantPermission(details.publicPermission) }
    set {
      guard newValue.value != details.publicPermission else { return }
      change { details in
        details.publicPermission = newValue.value
        details.participants.removeAll { person in
          guard person.role != .owner else { return false }
          return newValue == .none || person.acceptance != .accepted
        }
      }
    }
  }

  /// The URL for accepting the share; `nil` before the first save.
  public var url: URL? { details.url.flatMap { URL(string: $0) } }

  /// The participants, the owner first.
  public var participants: [CKShare.Participant] { people() }

  /// The owner of the records.
  public var owner: CKShare.Participant {
    people().first { $0.role == .owner }
      ?? CKShareParticipant(
        ShareParticipant(
          id: "", identity: UserIdentity(user: UserID(recordID.zoneID.ownerName)), role: .owner,
          permission: .readWrite, acceptance: .accepted))
  }

  /// The participant that is the signed-in user; `nil` where the server does not say.
  public var currentUserParticipant: CKShare.Participant? {
    let details = details
    guard let id = details.currentParticipant else {
      return details.url == nil ? owner : nil
    }
    return people().first { $0.participantID == id }
  }

  /// Adds a participant, or changes the permission of an existing one.
  ///
  /// A share with a public permission takes no invitations: the call then has no effect.
  public func addParticipant(_ participant: CKShare.Participant) {
    guard details.publicPermission == .none else { return }
    let people = people().filter { !$0.isEqual(participant) || $0.role == .owner }
    if people.contains(where: { $0.isEqual(participant) }) { return }
    settle(people + [participant])
  }

  /// Removes a participant from the share.
  public func removeParticipant(_ participant: CKShare.Participant) {
    settle(people().filter { $0.role == .owner || !$0.isEqual(participant) })
  }

  /// Always `nil`: this server has no URLs for a single user.
  public func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? { nil }

  /// Creates a share object with the same contents and the same unsaved changes.
  public override func copy(with zone: NSZone? = nil) -> Any {
    flush()
    return CKShare(state: state.withLock { $0 })
  }

  /// Archives the whole share, unsaved changes included.
  public override func encode(with coder: NSCoder) {
    flush()
    super.encode(with: coder)
  }

  /// Archives the system fields of the share, including its participants and its URL.
  public override func encodeSystemFields(with coder: NSCoder) {
    flush()
    super.encodeSystemFields(with: coder)
  }

  override var sharingToSave: ShareDetails? {
    flush()
    return details
  }

  private var details: ShareDetails {
    state.withLock { $0.record.sharing ?? ShareDetails(root: nil) }
  }

  private func change(_ body: (inout ShareDetails) -> Void) {
    flush()
    state.withLock { state in
      var details = state.record.sharing ?? ShareDetails(root: nil)
      body(&details)
      state.record.sharing = details
    }
  }

  /// The participants as objects, which stay the same until the server sends other participants.
  private func people() -> [CKShareParticipant] {
    let current = details.participants
    return participantObjects.withLock { participantObjects in
      if participantObjects.source != current {
        let known = Dictionary(
          zip(participantObjects.source.map(\.id), participantObjects.people).filter {
            !$0.0.isEmpty
          }
        ) { first, _ in first }
        participantObjects.people = current.map { value in
          guard let person = known[value.id], person.value == value else {
            return CKShareParticipant(value)
          }
          return person
        }
        participantObjects.source = current
      }
      return participantObjects.people
    }
  }

  private func settle(_ people: [CKShareParticipant]) {
    let values = people.map(\.value)
    participantObjects.withLock { $0 = ParticipantObjects(source: values, people: people) }
    state.withLock { $0.record.sharing?.participants = values }
  }

  /// Takes over the app's changes of the participant objects.
  private func flush() {
    let people = people()
    let values = people.map(\.value)
    participantObjects.withLock { $0.source = values }
    state.withLock { $0.record.sharing?.participants = values }
  }
}
