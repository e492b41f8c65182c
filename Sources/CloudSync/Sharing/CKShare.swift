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

    /// Makes objects for `current`, unless there are objects for the same values.
    mutating func follow(_ current: [ShareParticipant]) {
      guard source != current else { return }
      let known = Dictionary(zip(source.map(\.id), people).filter { !$0.0.isEmpty }) { first, _ in
        first
      }
      people = current.map { value in
        guard let person = known[value.id], person.value == value else {
          return CKShareParticipant(value)
        }
        return person
      }
      source = current
    }
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

  /// Decodes a share.
  ///
  /// As in CloudKit it is not failable. If the archive is damaged, or of another record, the share
  /// is one of the default zone without participants, which no server has; on Apple's platforms the
  /// coder gets the error.
  public required init(coder: NSCoder) {
    if let state = CKRecord.decodeState(with: coder), state.record.sharing != nil {
      super.init(state: state)
      return
    }
    #if canImport(ObjectiveC)
      coder.failWithError(
        CKError(.invalidArguments, "The archive is damaged, or not one of a share."))
    #endif
    var record = Record(
      id: RecordID(name: CKRecordNameZoneWideShare, zone: .default), type: ShareDetails.recordType)
    record.sharing = ShareDetails(root: nil)
    super.init(state: CKRecord.State(record: record))
  }

  /// Always true.
  ///
  /// Foundation on Apple's platforms asks each class that overrides `init(coder:)`.
  public override class var supportsSecureCoding: Bool { true }

  /// Whether the share was decoded from an archive that can be read; every share has an owner.
  var isReadable: Bool { state.withLock { $0.record.sharing?.participants.isEmpty == false } }

  /// The permission of everyone who knows the URL; `none` by default.
  ///
  /// Setting a public permission removes participants who have not accepted; removing it
  /// removes all but the owner.
  public var publicPermission: CKShare.ParticipantPermission {
    get { CKShareParticipantPermission(details.publicPermission) }
    set {
      change { people, details in
        guard newValue.value != details.publicPermission else { return }
        details.publicPermission = newValue.value
        people.removeAll { person in
          guard person.role != .owner else { return false }
          return newValue == .none || person.acceptanceStatus != .accepted
        }
      }
    }
  }

  /// The URL for accepting the share; `nil` before the first save.
  public var url: URL? { details.url.flatMap { URL(string: $0) } }

  /// The participants, the owner first.
  public var participants: [CKShare.Participant] {
    state.withLock { state in
      participantObjects.withLock { objects in
        objects.follow(state.record.sharing?.participants ?? [])
        return objects.people
      }
    }
  }

  /// The owner of the records.
  public var owner: CKShare.Participant {
    participants.first { $0.role == .owner }
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
    return participants.first { $0.participantID == id }
  }

  /// Adds a participant; the entry of one who is a participant already takes the role and
  /// permission.
  ///
  /// A share with a public permission takes no invitations: the call then has no effect.
  public func addParticipant(_ participant: CKShare.Participant) {
    change { people, details in
      guard details.publicPermission == .none else { return }
      guard let known = people.first(where: { $0.isEqual(participant) }) else {
        return people.append(participant)
      }
      if known.role == .owner { return }
      (known.role, known.permission) = (participant.role, participant.permission)
    }
  }

  /// Removes a participant from the share.
  public func removeParticipant(_ participant: CKShare.Participant) {
    change { people, _ in people.removeAll { $0.role != .owner && $0.isEqual(participant) } }
  }

  /// Always `nil`: this server has no URLs for a single user.
  public func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? { nil }

  /// Creates a share object with the same contents and the same unsaved changes.
  public override func copy(with zone: NSZone? = nil) -> Any {
    takeOverChanges()
    return CKShare(state: state.withLock { $0 })
  }

  /// Archives the whole share, unsaved changes included.
  public override func encode(with coder: NSCoder) {
    takeOverChanges()
    super.encode(with: coder)
  }

  /// Archives the system fields of the share, including its participants and its URL.
  public override func encodeSystemFields(with coder: NSCoder) {
    takeOverChanges()
    super.encodeSystemFields(with: coder)
  }

  override var sharingToSave: ShareDetails? {
    takeOverChanges()
    return details
  }

  private var details: ShareDetails {
    state.withLock { $0.record.sharing ?? ShareDetails(root: nil) }
  }

  /// Takes over the app's changes of the participant objects.
  private func takeOverChanges() { change { _, _ in } }

  /// Calls `body` with the participants and the other details, and keeps what it changes; one
  /// change at a time.
  ///
  /// The participants are objects, which stay the same until the server sends other participants.
  private func change<Value: Sendable>(
    _ body: (inout [CKShareParticipant], inout ShareDetails) -> Value
  ) -> Value {
    state.withLock { state in
      var details = state.record.sharing ?? ShareDetails(root: nil)
      let value = participantObjects.withLock { objects in
        objects.follow(details.participants)
        let value = body(&objects.people, &details)
        details.participants = objects.people.map(\.value)
        objects.source = details.participants
        return value
      }
      state.record.sharing = details
      return value
    }
  }
}
