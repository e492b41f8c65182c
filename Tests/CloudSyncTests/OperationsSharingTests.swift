import CloudSync
import Foundation
import LoopbackServer
import Testing

/// Operations that look up shares and people, and accept shares, with both families of blocks.
@Suite("Operations of shares")
struct OperationsSharingTests {
  private typealias World = OperationsWorld

  /// A container of another account on the same server.
  private static func olga(_ world: OperationsWorld) -> CKContainer {
    CKContainer(
      identifier: world.container.containerIdentifier ?? "",
      transport: world.server.device("tablet", signedInAs: "olga"))
  }

  /// A list of olga with two fields, which everyone with the link may read.
  private static func share(_ world: OperationsWorld) async throws -> CKShare {
    let database = olga(world).privateCloudDatabase
    try await database.save(CKRecordZone(zoneName: "L"))
    let root = World.record("list", "milk", zone: "L")
    root["count"] = 2
    let share = CKShare(rootRecord: root, shareID: World.id("share", "L"))
    share.publicPermission = .readOnly
    let results = try await database.modifyRecords(saving: [root, share], deleting: [])
    for result in results.saveResults.values { _ = try result.get() }
    return share
  }

  private static func run(_ operation: CKOperation, _ world: OperationsWorld) async {
    await world.finish(operation) { world.container.add(operation) }
  }

  static let stories = [
    OperationStory(
      "the metadata of a share have its root only if it is wanted, with the fields wanted",
      expect: [
        "list none", "result", "list count text", "result", "list text", "result", "list ",
        "result",
      ]
    ) { world in
      let url = try #require(try await share(world).url)
      for (isWanted, keys) in [(false, ["text"]), (true, nil), (true, ["text"]), (true, [])]
        as [(Bool, [String]?)]
      {
        let operation = CKFetchShareMetadataOperation(shareURLs: [url])
        operation.shouldFetchRootRecord = isWanted
        operation.rootRecordDesiredKeys = keys
        operation.perShareMetadataResultBlock = { _, result in
          let metadata = try? result.get()
          let fields = metadata?.rootRecord?.allKeys().sorted().joined(separator: " ")
          world.note(
            "\(metadata?.hierarchicalRootRecordID?.recordName ?? "nil") \(fields ?? "none")")
        }
        operation.fetchShareMetadataResultBlock = { world.note("result", $0) }
        await run(operation, world)
      }
    },
    OperationStory(
      "metadata, newer blocks", expect: ["true", "false: unknownItem", "result", "completion"]
    ) { world in
      let url = try #require(try await share(world).url)
      let other = try #require(URL(string: url.absoluteString + "x"))
      let operation = CKFetchShareMetadataOperation(shareURLs: [url, other, url])
      operation.perShareMetadataResultBlock = { world.note("\($0 == url)", $1) }
      operation.perShareMetadataBlock = { _, _, _ in world.note("suppressed") }
      operation.fetchShareMetadataResultBlock = { world.note("result", $0) }
      operation.fetchShareMetadataCompletionBlock = { _ in world.note("completion") }
      await run(operation, world)
    },
    OperationStory(
      "metadata, older blocks",
      expect: [
        "true true", "false false: unknownItem", "completion: partialFailure [unknown unknownItem]",
      ]
    ) { world in
      let url = try #require(try await share(world).url)
      let other = try #require(URL(string: url.absoluteString + "x"))
      let operation = CKFetchShareMetadataOperation(shareURLs: [url, other])
      operation.perShareMetadataBlock = { asked, metadata, error in
        world.note("\(asked == url) \(metadata?.share.recordID.recordName == "share")", error)
      }
      operation.fetchShareMetadataCompletionBlock = { world.note("completion", $0) }
      await run(operation, world)
    },
    OperationStory(
      "shares are accepted, older blocks; one that is gone fails alone",
      expect: [
        "true share", "completion", "true nil: unknownItem",
        "completion: partialFailure [unknown unknownItem]",
      ]
    ) { world in
      let url = try #require(try await share(world).url)
      let metadata = try await world.container.shareMetadata(for: url)
      for isGone in [false, true] {
        if isGone {
          try await olga(world).privateCloudDatabase.deleteRecord(withID: World.id("share", "L"))
        }
        let operation = CKAcceptSharesOperation(shareMetadatas: [metadata])
        operation.perShareCompletionBlock = { asked, share, error in
          world.note("\(asked == metadata) \(share?.recordID.recordName ?? "nil")", error)
        }
        operation.acceptSharesCompletionBlock = { world.note("completion", $0) }
        await run(operation, world)
      }
    },
    OperationStory(
      "people are found, older blocks; an unknown user fails alone",
      expect: ["person false", "completion: partialFailure [unknown unknownItem]"]
    ) { world in
      let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [
        .init(emailAddress: "friend@mail.example"),
        .init(userRecordID: CKRecord.ID(recordName: "_unknown")),
      ])
      operation.shareParticipantFetchedBlock = {
        world.note("person \($0.userIdentity.hasiCloudAccount)")
      }
      operation.fetchShareParticipantsCompletionBlock = { world.note("completion", $0) }
      await run(operation, world)
    },
    OperationStory(
      "a telephone number without an account makes a participant, newer blocks",
      expect: ["+15550100", "result"]
    ) { world in
      let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [
        .init(phoneNumber: "+15550100")
      ])
      operation.perShareParticipantResultBlock = { world.note($0.phoneNumber ?? "nil", $1) }
      operation.shareParticipantFetchedBlock = { _ in world.note("suppressed") }
      operation.fetchShareParticipantsResultBlock = { world.note("result", $0) }
      await run(operation, world)
    },
    OperationStory(
      "users are found by the older API; a user who is not found is no error",
      expect: ["found true true", "result", "completion"]
    ) { world in
      let id = try await olga(world).userRecordID()
      let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: [
        .init(emailAddress: "unknown@mail.example"), .init(userRecordID: id),
      ])
      operation.userIdentityDiscoveredBlock = { identity, lookup in
        world.note("found \(identity.userRecordID == id) \(lookup.userRecordID == id)")
      }
      operation.discoverUserIdentitiesResultBlock = { world.note("result", $0) }
      operation.discoverUserIdentitiesCompletionBlock = { world.note("completion", $0) }
      await run(operation, world)
    },
    OperationStory(
      "an operation of shares without items makes no request",
      expect: ["metadata", "accepted", "participants", "identities", "all", "0 requests"]
    ) { world in
      let metadata = CKFetchShareMetadataOperation()
      metadata.fetchShareMetadataResultBlock = { world.note("metadata", $0) }
      let accepting = CKAcceptSharesOperation()
      accepting.acceptSharesResultBlock = { world.note("accepted", $0) }
      let participants = CKFetchShareParticipantsOperation()
      participants.fetchShareParticipantsResultBlock = { world.note("participants", $0) }
      let identities = CKDiscoverUserIdentitiesOperation()
      identities.discoverUserIdentitiesResultBlock = { world.note("identities", $0) }
      let all = CKDiscoverAllUserIdentitiesOperation()
      all.discoverAllUserIdentitiesCompletionBlock = { world.note("all", $0) }
      for operation in [metadata, accepting, participants, identities, all] as [CKOperation] {
        await run(operation, world)
      }
      world.note("\(world.server.controls.requestCount()) requests")
    },
  ]

  @Test("An operation of shares calls its blocks with the expected values", arguments: stories)
  func shareOperationCallsExpectedBlocks(_ story: OperationStory) async throws {
    try await story.check()
  }
}
