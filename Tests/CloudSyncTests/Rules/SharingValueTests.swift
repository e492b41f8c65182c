import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

/// Participants, people and new shares as objects.
///
/// See CS-164 to CS-166.
@Suite("Shares and people as objects")
struct SharingValueTests {
  private func participant(
    _ id: String, user: String? = nil, email: String? = nil,
    role: ShareRole = .privateUser
  ) -> CKShare.Participant {
    CKShareParticipant(
      ShareParticipant(
        id: id,
        identity: UserIdentity(
          user: user.map { UserID($0) }, lookup: email.map { .email($0) }), role: role))
  }

  /// Proves CS-164.
  @Test("Participants are equal by ID, by user, or by the value they were looked up with")
  func participantsAreMatchedByIdentity() {
    let table: [(CKShare.Participant, CKShare.Participant, Bool)] = [
      (participant("1"), participant("1", role: .administrator), true),
      (participant("1", user: "_a"), participant("2", user: "_a"), true),
      (participant("1", email: "a@b.org"), participant("2", email: "a@b.org"), true),
      (participant("1", user: "_a"), participant("2", user: "_b"), false),
      (participant("1", email: "a@b.org"), participant("2", email: "c@b.org"), false),
      (participant("1"), participant("2"), false), (participant(""), participant(""), false),
      (participant("", user: "_a"), participant("", user: "_a"), true),
    ]
    for (first, second, isSame) in table {
      #expect(first.isEqual(second) == isSame && second.isEqual(first) == isSame)
    }
  }

  /// Proves CS-165.
  @Test("A new share is closed and belongs to its owner, and an added participant may read")
  func newShareIsPrivateToOwner() {
    let root = CKRecord(
      recordType: "T",
      recordID: CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z")))
    let share = CKShare(rootRecord: root)
    #expect(share.publicPermission == .none && share.url == nil)
    #expect(share.owner.role == .owner && share.owner.permission == .readWrite)
    #expect(share.recordID.zoneID == root.recordID.zoneID)
    #expect(CKShare(rootRecord: root, shareID: root.recordID).recordID == root.recordID)
    let guest = CKShareParticipant(
      ShareParticipant(id: "g", identity: UserIdentity(lookup: .email("g@b.org"))))
    #expect(guest.role == .privateUser && guest.permission == .readOnly)
    #expect(guest.acceptanceStatus == .pending)
    share.addParticipant(guest)
    share.addParticipant(participant("other", email: "g@b.org"))
    #expect(share.participants.count == 2, "the same person is there once")
    share.removeParticipant(guest)
    #expect(share.participants.count == 1)
  }

  /// Proves CS-250.
  @Test("A participant who is added again keeps the entry, which takes the role and permission")
  func addedParticipantChangesTheEntry() throws {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
    for name in ["ann", "bob"] { share.addParticipant(participant(name, user: "_\(name)")) }
    let entry = try #require(share.participants.dropFirst().first)
    let found = participant("found", user: "_ann")
    found.permission = .readWrite
    share.addParticipant(found)
    #expect(share.participants.map(\.participantID).suffix(2) == ["ann", "bob"])
    #expect(share.participants[1] === entry && entry.permission == .readWrite)
    let owner: CKShare.Participant = share.owner
    owner.permission = .readWrite
    let same = CKShareParticipant(owner.value)
    same.permission = .readOnly
    share.addParticipant(same)
    #expect(share.owner.permission == .readWrite, "the owner's entry stays")
  }

  /// A share of a zone with a guest who accepted and one who was only invited.
  private func shareWithGuests() -> CKShare {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
    for (name, acceptance) in [("ann", ShareAcceptance.accepted), ("bob", .pending)] {
      share.addParticipant(
        CKShareParticipant(
          ShareParticipant(
            id: name, identity: UserIdentity(user: UserID("_\(name)")), acceptance: acceptance)))
    }
    return share
  }

  private func guests(of share: CKShare) -> [String] {
    share.participants.filter { $0.role != .owner }.map(\.participantID)
  }

  @Test("A share opened to everyone loses who has not accepted, and a closed one all but its owner")
  func publicPermissionTakesPeopleOut() {
    let share = shareWithGuests()
    share.publicPermission = .none
    #expect(guests(of: share) == ["ann", "bob"], "nothing was changed")
    share.publicPermission = .readOnly
    #expect(guests(of: share) == ["ann"])
    share.publicPermission = .readWrite
    #expect(guests(of: share) == ["ann"])
    share.publicPermission = .none
    #expect(share.participants.map(\.role) == [.owner])
  }

  @Test("A share for everyone takes no invitation, and its owner cannot be removed")
  func publicShareTakesNoInvitation() {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
    share.publicPermission = .readOnly
    share.addParticipant(participant("ann", user: "_ann"))
    #expect(guests(of: share).isEmpty)
    share.removeParticipant(share.owner)
    #expect(share.participants.map(\.role) == [.owner])
  }

  @Test("A change of a participant's object is in each copy and archive of the share")
  func participantChangeIsInCopiesAndArchives() throws {
    func changed(_ copy: (CKShare) throws -> CKShare?) rethrows -> CKShare.ParticipantPermission? {
      let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
      let guest = participant("ann", user: "_ann")
      share.addParticipant(guest)
      guest.permission = .readWrite
      return try copy(share)?.participants.last?.permission
    }
    #expect(changed { $0.copy() as? CKShare } == .readWrite)
    for encode in [CKShare.encode(with:), CKShare.encodeSystemFields(with:)] {
      let permission = try changed { share in
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        encode(share)(archiver)
        return CKShare(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
      }
      #expect(permission == .readWrite)
    }
  }

  @Test("The owner is the current user of a share only until the server has said who is")
  func currentUserOfNewShareIsItsOwner() {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
    #expect(share.currentUserParticipant?.role == .owner)
    let save = share.pendingSave()
    var saved = share.value
    saved.sharing = save.sharing
    saved.sharing?.url = "https://example.org/share"
    share.didSave(saved, of: save)
    #expect(share.currentUserParticipant == nil)
  }

  @Test("The share of one container is not accepted in another, which is not asked")
  func shareOfAnotherContainerIsRefused() async throws {
    let server = LoopbackServer()
    func container(_ identifier: String, _ account: String) -> CKContainer {
      let device = server.device(account, signedInAs: account)
      return CKContainer(identifier: identifier, transport: device)
    }
    let anna = container("iCloud.first", "anna")
    let zone = try await anna.privateCloudDatabase.save(CKRecordZone(zoneName: "Z"))
    let share = CKShare(recordZoneID: zone.zoneID)
    share.publicPermission = .readOnly
    _ = try await anna.privateCloudDatabase.save(share)
    let url = try #require(share.url)
    let metadata = try await container("iCloud.first", "bob").shareMetadata(for: url)
    server.controls.forgetRequests()
    let other = container("iCloud.second", "bob")
    let refused = await #expect(throws: CKError.self) { _ = try await other.accept(metadata) }
    #expect(refused?.code == .badContainer && server.controls.requestCount() == 0)
    server.close()
  }

  @Test("An archive that is not one of a share makes a share that no server has")
  func archiveOfAnotherRecordIsNoShare() throws {
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r"))
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encode(with: archiver)
    let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    let share = CKShare(coder: coder)
    #expect(share.recordID.recordName == CKRecordNameZoneWideShare && share.participants.isEmpty)
    #expect(share.owner.role == .owner && share.owner.acceptanceStatus == .accepted)
  }

  /// Proves CS-247.
  @Test("An address without an account is invited, and joins once an account has it")
  func addressWithoutAccountIsInvited() async throws {
    let server = LoopbackServer()
    func container(_ account: String) -> CKContainer {
      let device = server.device(account, signedInAs: account)
      return CKContainer(identifier: "iCloud.invited", transport: device)
    }
    let (anna, bob) = (container("anna"), container("bob"))
    let guest = try await anna.shareParticipant(forEmailAddress: "friend@mail.example")
    #expect(!guest.userIdentity.hasiCloudAccount && guest.userIdentity.userRecordID == nil)
    await #expect(throws: CKError.self) {
      try await anna.shareParticipant(forUserRecordID: CKRecord.ID(recordName: "_x"))
    }
    let zone = try await anna.privateCloudDatabase.save(CKRecordZone(zoneName: "Z"))
    let share = CKShare(recordZoneID: zone.zoneID)
    share.addParticipant(guest)
    _ = try await anna.privateCloudDatabase.save(share)
    // The title after the URL is no part of it.
    let url = try #require(share.url.flatMap { URL(string: $0.absoluteString + "#Our_zone") })
    let early = await #expect(throws: CKError.self) { try await bob.shareMetadata(for: url) }
    #expect(early?.code == .participantMayNeedVerification)
    try server.controls.setPerson(of: "bob", email: "friend@mail.example")
    _ = try await bob.accept(try await bob.shareMetadata(for: url))
    #expect(try await bob.sharedCloudDatabase.allRecordZones().count == 1)
  }

  /// Proves CS-245.
  @Test("What the app changes in a share while it is saved is kept, and sent by the next save")
  func changesDuringSaveAreKept() throws {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
    let (kept, gone) = (participant("kept", user: "_k"), participant("gone", user: "_g"))
    for person in [kept, gone] { share.addParticipant(person) }
    let save = share.pendingSave()
    kept.permission = .readWrite
    share.removeParticipant(gone)
    share.addParticipant(participant("new", user: "_n"))
    var saved = share.value
    saved.changeTag = ChangeTag("t1")
    saved.sharing = save.sharing
    saved.sharing?.url = "https://example.org/share"
    saved.sharing?.participants[1].acceptance = .accepted
    saved.sharing?.participants.append(
      ShareParticipant(id: "other", identity: UserIdentity(user: UserID("_o"))))
    share.didSave(saved, of: save)
    #expect(share.url != nil && share.recordChangeTag == "t1")
    let people = share.participants.dropFirst()
    #expect(people.map(\.participantID) == ["kept", "other", "new"])
    #expect(people.first?.permission == .readWrite)
    #expect(people.first?.acceptanceStatus == .accepted)
    #expect(share.pendingSave().sharing?.participants.count == 4)
    let open = share.pendingSave()
    share.publicPermission = .readOnly
    share.didSave(share.value, of: open)
    #expect(share.publicPermission == .readOnly)
  }

  @Test("Participants that several threads add are all there, and so are changes of their objects")
  func participantsAddedAtOnceAreAllThere() async {
    let root = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r"))
    let share = CKShare(rootRecord: root)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        let person = participant("\(number)")
        group.addTask {
          share.addParticipant(person)
          person.permission = .readWrite
          if number.isMultiple(of: 2) { share.removeParticipant(person) }
        }
      }
    }
    let others = share.participants.filter { $0.role != .owner }
    let expected = (0..<64).filter { !$0.isMultiple(of: 2) }.map { "\($0)" }
    #expect(Set(others.map(\.participantID)) == Set(expected))
    #expect(others.allSatisfy { $0.permission == .readWrite })
  }

  /// Proves CS-166.
  @Test("People are looked up by address, number and user, one or many")
  func participantsAreFoundByAddressNumberAndUser() {
    typealias Info = CKUserIdentity.LookupInfo
    let user = CKRecord.ID(recordName: "_u")
    #expect(Info.lookupInfos(withEmails: ["a", "b"]).map(\.emailAddress) == ["a", "b"])
    #expect(Info.lookupInfos(withPhoneNumbers: ["1"]).map(\.phoneNumber) == ["1"])
    #expect(Info.lookupInfos(with: [user]).map(\.userRecordID) == [user])
    let info = Info(emailAddress: "a@b.org")
    #expect(info.phoneNumber == nil && info.userRecordID == nil)
  }

  private func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
  }

  @Test("Sharing options begin with all allowed, and each is kept by copies and archives")
  func sharingOptionsSurviveCopyAndArchive() throws {
    let standard = CKAllowedSharingOptions.standard
    #expect(standard.allowedParticipantPermissionOptions == .any)
    #expect(standard.allowedParticipantAccessOptions == .any)
    #expect(standard.allowsParticipantsToInviteOthers && standard.allowsAccessRequests)
    for mayInvite in [true, false] {
      let options = CKAllowedSharingOptions(
        allowedParticipantPermissionOptions: .readOnly,
        allowedParticipantAccessOptions: .specifiedRecipientsOnly)
      options.allowsParticipantsToInviteOthers = mayInvite
      options.allowsAccessRequests = !mayInvite
      let copy = try #require(options.copy() as? CKAllowedSharingOptions)
      for found in [copy, try archived(options)] {
        #expect(found.allowedParticipantPermissionOptions == .readOnly)
        #expect(found.allowedParticipantAccessOptions == .specifiedRecipientsOnly)
        #expect(found.allowsParticipantsToInviteOthers == mayInvite)
        #expect(found.allowsAccessRequests == !mayInvite)
      }
    }
    for key in ["permissions", "access"] {
      let archiver = NSKeyedArchiver(requiringSecureCoding: true)
      archiver.encode(Int64(1), forKey: key)
      let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
      #expect(CKAllowedSharingOptions(coder: coder) == nil, "only \(key)")
    }
  }

  @Test("An identity has the names that are known, and its description shows no address")
  func identityHasKnownNames() throws {
    let names: [(given: String?, family: String?)] = [
      (nil, nil), ("Ada", nil), (nil, "Byron"), ("Ada", "Byron"),
    ]
    for (given, family) in names {
      let value = UserIdentity(
        user: UserID("_a"), lookup: .phone("+15550100"), givenName: given, familyName: family,
        hasAccount: false)
      let identity = CKUserIdentity(value)
      #expect((identity.nameComponents == nil) == (given == nil && family == nil))
      #expect(identity.nameComponents?.givenName == given)
      #expect(identity.nameComponents?.familyName == family)
      #expect(identity.userRecordID?.recordName == "_a" && !identity.hasiCloudAccount)
      #expect(identity.lookupInfo?.phoneNumber == "+15550100")
      #expect(identity.description == "<CKUserIdentity: user=_a>")
      let read = try archived(identity)
      #expect(read.value == value && read.isEqual(identity))
    }
    let unknown = CKUserIdentity(UserIdentity())
    #expect(unknown.userRecordID == nil && unknown.lookupInfo == nil)
    #expect(!unknown.isEqual(CKUserIdentity(UserIdentity(user: UserID("_b")))))
  }

  @Test("Criteria of a search differ by kind and value, and their descriptions show no address")
  func lookupsDifferByKindAndValue() throws {
    typealias Info = CKUserIdentity.LookupInfo
    let user = CKRecord.ID(recordName: "_u")
    let infos = [
      Info(emailAddress: "a@b.org"), Info(phoneNumber: "+15550100"), Info(userRecordID: user),
      Info(emailAddress: "c@b.org"),
    ]
    for (index, info) in infos.enumerated() {
      #expect(try archived(info).value == info.value)
      for (other, second) in infos.enumerated() {
        #expect(info.isEqual(second) == (index == other))
      }
      #expect(!info.description.contains("@") && !info.description.contains("555"))
    }
    #expect(infos[2].userRecordID == user && infos[2].emailAddress == nil)
    #expect(infos[2].description == "<CKUserIdentityLookupInfo: user=_u>")
  }

  @Test("Metadata describe the share, its root and the user, with the older names too")
  func metadataDescribeShareAndUser() throws {
    let zone = ZoneID(name: "Z", owner: "_o")
    let root = RecordID(name: "r", zone: zone)
    let share = Record(
      id: RecordID(name: "s", zone: zone), type: ShareDetails.recordType,
      sharing: ShareDetails(root: root))
    func metadata(_ root: RecordID?, _ role: ShareRole) -> CKShare.Metadata {
      CKShareMetadata(
        ShareMetadata(
          container: "iCloud.c", share: share, rootID: root,
          owner: UserIdentity(user: UserID("_o")), role: role, acceptance: .pending,
          permission: .readWrite))
    }
    let types: [(ShareRole, CKShare.ParticipantType)] = [
      (.unknown, .unknown), (.owner, .owner), (.administrator, .privateUser),
      (.privateUser, .privateUser), (.publicUser, .publicUser),
    ]
    for (role, type) in types {
      let found = metadata(root, role)
      #expect(found.participantType == type && found.participantRole.value == role)
      #expect(try archived(found).value == found.value)
    }
    let found = metadata(root, .privateUser)
    #expect(found.participantStatus == .pending && found.participantPermission == .readWrite)
    #expect(found.containerIdentifier == "iCloud.c" && found.rootRecord == nil)
    #expect(found.ownerIdentity.userRecordID?.recordName == "_o")
    #expect(found.hierarchicalRootRecordID == CKRecordID(root))
    #expect(found.rootRecordID == CKRecordID(root) && found.share.value == share)
    let whole = metadata(nil, .privateUser)
    #expect(whole.hierarchicalRootRecordID == nil && whole.rootRecordID == CKRecordID(share.id))
    #expect(!whole.isEqual(found) && found.isEqual(metadata(root, .privateUser)))
    #expect(found.description.hasPrefix("<CKShareMetadata: container=iCloud.c, share="))
  }

  @Test("A participant's older type follows its role, and its description shows no address")
  func participantTypeFollowsRole() throws {
    let guest = participant("g", email: "g@b.org")
    let types: [(CKShare.ParticipantType, CKShare.ParticipantRole)] = [
      (.unknown, .unknown), (.owner, .owner), (.publicUser, .publicUser),
      (.privateUser, .privateUser),
    ]
    for (type, role) in types {
      guest.type = type
      #expect(guest.role == role && guest.type == type)
    }
    guest.role = .administrator
    #expect(guest.type == .privateUser && !guest.isEqual("g"))
    #expect(try archived(guest).value == guest.value)
    #expect(
      guest.description
        == "<CKShareParticipant: id=g, role=administrator, permission=readOnly, acceptance=pending>"
    )
  }

  @Test("The owner of a new share has an account and has accepted, and no URL is for one user")
  func ownerOfNewShareHasAccepted() {
    let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
    #expect(share.owner.acceptanceStatus == .accepted)
    #expect(share.owner.userIdentity.hasiCloudAccount)
    #expect(share.owner.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName)
    #expect(share.oneTimeURL(for: share.owner.participantID) == nil)
  }
}
