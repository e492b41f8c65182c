import CloudKit
import Testing

@Suite("Symbols of sharing, as apps use them")
struct SharingSymbolTests {
  private let identifier = "iCloud.sharing-symbols"
  private let zone = CKRecordZone(zoneName: "Lists")

  private func list(_ name: String, in database: CKDatabase) async throws -> (CKRecord, CKShare) {
    try await database.save(zone)
    let root = CKRecord(recordType: "List", recordID: .init(name, in: zone))
    let item = CKRecord(recordType: "Item", recordID: .init("\(name)-item", in: zone))
    item.parent = CKRecord.Reference(record: root, action: .none)
    let share = CKShare(rootRecord: root)
    share[CKShare.SystemFieldKey.title] = "My list" as CKRecordValue
    share.publicPermission = .none
    let results = try await database.modifyRecords(saving: [root, item, share], deleting: [])
    for result in results.saveResults.values { _ = try result.get() }
    return (root, share)
  }

  /// Proves CS-170, E6, S6.
  @Test("A share is created, accepted, edited, made read-only and left by async calls")
  func shareIsInvitedAcceptedEditedAndLeft() async throws {
    let owner = container("o", identifier, account: "olga")
    let guest = container("g", identifier, account: "gwen")
    let (root, share) = try await list("a", in: owner.privateCloudDatabase)
    let participant = try await owner.shareParticipant(
      forUserRecordID: try await guest.userRecordID())
    participant.permission = .readWrite
    share.addParticipant(participant)
    try await owner.privateCloudDatabase.save(share)
    let url = try #require(share.url)
    let metadata = try await guest.shareMetadata(for: url)
    #expect(metadata.hierarchicalRootRecordID?.recordName == root.recordID.recordName)
    #expect(metadata.share[CKShare.SystemFieldKey.title] as? String == "My list")
    #expect(metadata.participantStatus == .pending && metadata.rootRecord == nil)
    let accepted = try await guest.accept(metadata)
    #expect(accepted.currentUserParticipant?.acceptanceStatus == .accepted)
    #expect(accepted.owner.role == .owner && accepted.participants.count == 2)
    let shared = guest.sharedCloudDatabase
    let zones = try await shared.allRecordZones()
    let theirs = try #require(zones.first { $0.zoneID.zoneName == "Lists" })
    #expect(theirs.zoneID.ownerName != CKCurrentUserDefaultName)
    let item = try await shared.record(
      for: CKRecord.ID(recordName: "a-item", zoneID: theirs.zoneID))
    item.title = "by the guest"
    try await shared.save(item)
    let mine = try await owner.privateCloudDatabase.record(for: .init("a-item", in: zone))
    #expect(mine.title == "by the guest" && mine.share?.recordID == share.recordID)
    #expect(
      mine.lastModifiedUserRecordID?.recordName == participant.userIdentity.userRecordID?.recordName
    )
    // Read-only now: the next edit is refused.
    let current = try #require(
      try await owner.privateCloudDatabase.record(for: share.recordID) as? CKShare)
    for person in current.participants where person.role != .owner { person.permission = .readOnly }
    try await owner.privateCloudDatabase.save(current)
    item.title = "again"
    do {
      try await shared.save(item)
      Issue.record("a reader wrote")
    } catch let error as CKError { #expect(error.code == .permissionFailure) }
    // The guest leaves.
    try await shared.deleteRecord(
      withID: CKRecord.ID(
        recordName: share.recordID.recordName, zoneID: theirs.zoneID))
    #expect(try await shared.allRecordZones().isEmpty)
    // A person is taken out; the share goes.
    let last = try #require(
      try await owner.privateCloudDatabase.record(for: share.recordID) as? CKShare)
    for person in last.participants where person.role == .privateUser {
      last.removeParticipant(person)
    }
    try await owner.privateCloudDatabase.save(last)
    try await owner.privateCloudDatabase.deleteRecord(withID: share.recordID)
    let left = try await owner.privateCloudDatabase.record(for: root.recordID)
    #expect(left.share == nil)
  }

  /// Proves CS-166, CS-170.
  @Test("Operations share a whole zone that everyone with the link can open")
  func operationsShareWholeZoneByLink() async throws {
    let owner = container("o", identifier + "2", account: "olga")
    let guest = container("g", identifier + "2", account: "gwen")
    try await owner.privateCloudDatabase.save(zone)
    let note = CKRecord(recordType: "Item", recordID: .init("n", in: zone))
    let share = CKShare(recordZoneID: zone.zoneID)
    #expect(share.recordID.recordName == CKRecordNameZoneWideShare)
    share.publicPermission = .readOnly
    _ = try await owner.privateCloudDatabase.modifyRecords(saving: [note, share], deleting: [])
    let url = try #require(share.url)
    let metadata: CKShare.Metadata? = await withCheckedContinuation { continuation in
      let operation = CKFetchShareMetadataOperation(shareURLs: [url])
      operation.shouldFetchRootRecord = true
      var found: CKShare.Metadata?
      operation.perShareMetadataResultBlock = { _, result in found = try? result.get() }
      operation.fetchShareMetadataResultBlock = { _ in continuation.resume(returning: found) }
      guest.add(operation)
    }
    let accepted: CKShare? = await withCheckedContinuation { continuation in
      let operation = CKAcceptSharesOperation(shareMetadatas: metadata.map { [$0] } ?? [])
      var share: CKShare?
      operation.perShareResultBlock = { _, result in share = try? result.get() }
      operation.acceptSharesResultBlock = { _ in continuation.resume(returning: share) }
      guest.add(operation)
    }
    #expect(accepted?.currentUserParticipant?.role == .publicUser)
    let zones = try await guest.sharedCloudDatabase.allRecordZones()
    #expect(zones.count == 1)
    let info = CKUserIdentity.LookupInfo(userRecordID: try await owner.userRecordID())
    let person: CKShare.Participant? = await withCheckedContinuation { continuation in
      let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [info])
      var found: CKShare.Participant?
      operation.perShareParticipantResultBlock = { _, result in found = try? result.get() }
      operation.fetchShareParticipantsResultBlock = { _ in continuation.resume(returning: found) }
      guest.add(operation)
    }
    #expect(person?.userIdentity.userRecordID == (try await owner.userRecordID()))
    let unknown = CKUserIdentity.LookupInfo(emailAddress: "nobody@example.com")
    let known: Int = await withCheckedContinuation { continuation in
      let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: [info, unknown])
      var count = 0
      operation.userIdentityDiscoveredBlock = { _, _ in count += 1 }
      operation.discoverUserIdentitiesCompletionBlock = { error in
        continuation.resume(returning: error == nil ? count : -1)
      }
      guest.add(operation)
    }
    let listed: Bool = await withCheckedContinuation { continuation in
      let operation = CKDiscoverAllUserIdentitiesOperation()
      operation.discoverAllUserIdentitiesResultBlock = { result in
        continuation.resume(returning: (try? result.get()) != nil)
      }
      guest.add(operation)
    }
    #expect(known == 1 && listed)
  }

  @Test("The calls for several users leave unknown ones out, or invite them")
  func callsForSeveralUsersLeaveUnknownOnesOut() async throws {
    let owner = container("o", identifier + "3", account: "olga")
    let guest = container("g", identifier + "3", account: "gwen")
    let id = try await owner.userRecordID()
    let info = CKUserIdentity.LookupInfo(userRecordID: id)
    let unknown = CKUserIdentity.LookupInfo(emailAddress: "nobody@example.com")
    let addresses = ["nobody@example.com"]
    let found: [CKRecord.ID: CKUserIdentity] = try await guest.userIdentities(
      forUserRecordIDs: [id, CKRecord.ID(recordName: "_nobody")])
    #expect(found.map(\.key) == [id])
    #expect(try await guest.userIdentities(forEmailAddresses: addresses).isEmpty)
    #expect(try await guest.userIdentities(forPhoneNumbers: ["+1"]).isEmpty)
    let answered: [CKRecord.ID] = await withCheckedContinuation { continuation in
      guest.discoverUserIdentities(forUserRecordIDs: [id]) { result in
        continuation.resume(returning: (try? result.get()).map { Array($0.keys) } ?? [])
      }
    }
    #expect(answered == [id])
    let both = try await guest.shareParticipants(for: [info, unknown])
    #expect(both.count == 2)
  }

  @Test("The name of a participant is formatted as in an app's list of people")
  func participantNameIsFormatted() {
    var name = PersonNameComponents()
    #expect(name.formatted().isEmpty)
    name.givenName = "Ann"
    name.familyName = "Lee"
    #expect(name.formatted() == "Ann Lee" && name.formatted(.name(style: .short)) == "Ann")
    #expect(name.formatted(.name(style: .abbreviated)) == "AL")
    name.middleName = "Mary"
    #expect(name.formatted(.name(style: .long)) == "Ann Mary Lee")
  }

  @Test("Names of older versions of Swift still name the permissions")
  func olderNamesOfPermissions() {
    let block: CKContainer.Application.PermissionBlock = { _, _ in }
    let older: CKContainer_Application_PermissionBlock = block
    older(CKContainer.Application.PermissionStatus.granted, nil)
    let permissions: CKContainer.Application.Permissions = .userDiscoverability
    #expect(permissions.rawValue == 1)
  }
}
