import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

@Suite("Annotations: sending, failures and limits", .timeLimit(.minutes(20)))
struct AnnotationQueueTests {
  private let modify = RequestScope(kind: .modifyRecords)

  private func batches(_ server: LoopbackServer) -> [Int] {
    server.controls.requests.filter { $0.kind == .modifyRecords }.map(\.itemCount)
  }

  @Test("R: Batches have 100 records, a request at most 400, and parents are in the first batch")
  func batchesHoldAtMost100Records() async throws {
    for (size, expected) in [
      (100, [100, 100, 51]), (400, [251]), (5_000, [400, 101]), (0, [Int](repeating: 1, count: 4)),
    ] {
      let server = LoopbackServer()
      let device = try AnnotationDevice(server, "phone", batchSize: size)
      let layer = try device.store.addLayer(named: "House").id
      let count = expected.reduce(0, +) - 1
      try device.store.add(
        (0..<count).map { AnnotationStore.Draft(title: "\($0)") }, to: layer)
      try await device.store.sync()
      #expect(batches(server) == expected, "batch size \(size)")
      #expect(try server.annotations().count == count + 1 && device.store.waitingCount == 0)
    }
    #expect(AnnotationStore.mostRecordsPerRequest == 400)
  }

  /// Proves CS-138.
  @Test("R: A request that is too large is halved, and one record that is too large is reported")
  func oversizedRequestIsHalved() async throws {
    let server = LoopbackServer()
    var limits = ServerLimits()
    limits.itemsPerRequest = 30
    limits.recordBytes = 20_000
    server.controls.setLimits(limits)
    let device = try AnnotationDevice(server, "phone")
    let layer = try device.store.addLayer(named: "House").id
    try device.store.add((0..<99).map { AnnotationStore.Draft(title: "\($0)") }, to: layer)
    let large = try device.store.add(
      .init(text: String(repeating: "x", count: 30_000)), to: layer
    ).id
    try await device.store.sync()
    #expect(try server.annotations().count == 100)
    #expect(device.store.refusals.map(\.id) == [large])
    #expect(device.store.refusals[0].code == CKError.Code.limitExceeded.rawValue)
    #expect(device.store.refusals[0].message.hasPrefix("It is too large for the cloud"))
    #expect(device.store.annotation(large)?.syncStatus == .error)
    try device.store.edit(large) { $0.content.text = "short" }
    try await device.store.sync()
    #expect(try server.annotations().count == 101 && device.store.refusals.isEmpty)
  }

  @Test("R: A file larger than the cloud's limit is refused clearly, and the rest is sent")
  func oversizedFileIsRefusedAlone() async throws {
    let server = LoopbackServer()
    var limits = ServerLimits()
    limits.assetBytes = 1_000
    server.controls.setLimits(limits)
    let device = try AnnotationDevice(server, "phone")
    let layer = try device.store.addLayer(named: "House").id
    let notes = try device.store.add([.init(), .init()], to: layer).map(\.id)
    let image = picture(width: 40, height: 40, red: 1, green: 1, blue: 1)
    try device.store.attach(device.file("a.bmp", image), to: notes[0])
    try await device.store.sync()
    #expect(try server.annotations().count == 2)
    #expect(device.store.refusals.map(\.id) == [notes[0]], "\(device.store.refusals)")
    #expect(device.store.annotation(notes[0])?.content.mediaURL != nil, "it stays here")
    try device.store.attach(device.file("b", Data(count: 900)), to: notes[0])
    try await device.store.sync()
    #expect(try server.annotations().count == 3 && device.mediaFiles.count == 1)
  }

  @Test("R: The retry manager makes three attempts for temporary failures, then the queue keeps it")
  func retryManagerTriesThreeTimes() async throws {
    let server = LoopbackServer()
    let device = try AnnotationDevice(server, "phone")
    try device.store.addLayer(named: "House")
    server.controls.fail(next: 2, with: .serviceUnavailable, in: modify)
    try await device.store.sync()
    #expect(device.clock.waits == [.seconds(1), .seconds(2)])
    #expect(try server.annotations().count == 1)
    try device.store.addLayer(named: "Garden")
    server.controls.fail(next: 3, with: .networkFailure, in: modify)
    await #expect(throws: CKError.self) { try await device.store.sync() }
    #expect(device.store.waitingCount == 1)
    server.controls.fail(with: .requestRateLimited, retryAfter: 20, in: modify)
    try await device.store.sync()
    #expect(device.clock.waits.last == .seconds(20) && device.store.waitingCount == 0)
  }

  @Test("R: Full storage is never retried; changes are sent when the user frees space and asks")
  func fullStorageWaitsForUser() async throws {
    let server = LoopbackServer()
    let device = try AnnotationDevice(server, "phone")
    let layer = try device.store.addLayer(named: "House").id
    try await device.store.sync()
    try server.controls.setQuota(1, of: "ada")
    try device.store.add([.init(title: "a"), .init(title: "b")], to: layer)
    let before = server.controls.requestCount(in: modify)
    for _ in 0..<3 {
      await #expect(throws: CKError.self) { try await device.store.sync() }
    }
    #expect(server.controls.requestCount(in: modify) == before + 1 && device.clock.waits.isEmpty)
    #expect(device.store.isStorageFull && device.store.waitingCount == 2)
    try server.controls.setQuota(nil, of: "ada")
    try await device.store.sync(askedByPerson: true)
    #expect(!device.store.isStorageFull && device.store.waitingCount == 0)
  }

  @Test("R: A save whose answer was lost is recognized and causes no conflict")
  func saveWithLostAnswerIsRecognized() async throws {
    let pair = try await AnnotationPair(.manual)
    pair.server.controls.dropAnswers(next: 1, in: modify)
    try pair.phone.store.edit(pair.note) { $0.title = "Gate" }
    let tree = try pair.phone.store.add(.init(title: "Tree"), to: pair.layer).id
    try await pair.settle()
    #expect(pair.isSame && pair.desk.titles == ["Gate", "Tree"])
    #expect(pair.phone.store.conflicts.isEmpty && pair.phone.store.metrics.conflictCount == 0)
    #expect(pair.phone.store.annotation(tree)?.syncStatus == .synced)
  }

  @Test("A new item whose answers were lost is removed for good when it is discarded or purged")
  func itemWithLostAnswersIsRemoved() async throws {
    for isDiscarded in [false, true] {
      let pair = try await AnnotationPair()
      let store = pair.phone.store
      let note = try store.add(.init(title: "Tree"), to: pair.layer).id
      try store.comment(on: note, text: "hm")
      pair.server.controls.dropAnswers(next: 3, in: modify)
      await #expect(throws: CKError.self) { try await store.sync() }
      #expect(try pair.server.annotations().count == 4)
      if isDiscarded {
        try store.discardEdits(of: note)
      } else {
        try store.deleteAnnotation(note)
        pair.time.advance(100)
        #expect(try store.emptyTrash(olderThan: 60) == 2)
      }
      #expect(store.annotation(note) == nil && store.comments().isEmpty)
      try await pair.settle()
      #expect(pair.phone.titles == ["Door"] && pair.isSame, "discarded: \(isDiscarded)")
      #expect(try pair.server.annotations().count == 2 && store.waitingCount == 0)
    }
  }

  @Test("A discarded new item that another device comments on meanwhile stays in the trash")
  func discardedItemWithCommentStaysInTrash() async throws {
    let pair = try await AnnotationPair()
    let (store, desk) = (pair.phone.store, pair.desk.store)
    let note = try store.add(.init(title: "Tree"), to: pair.layer).id
    pair.server.controls.dropAnswers(next: 3, in: modify)
    await #expect(throws: CKError.self) { try await store.sync() }
    try await desk.sync()
    try desk.comment(on: note, text: "hm")
    try await desk.sync()
    try store.discardEdits(of: note)
    try await pair.settle()
    #expect(pair.phone.titles == ["Door"] && pair.isSame && store.waitingCount == 0)
    #expect(desk.annotation(note)?.isDeleted == true)
  }

  @Test("A new item that another device removes before an answer arrives is not sent again")
  func removedItemWithLostAnswersIsNotSent() async throws {
    let pair = try await AnnotationPair(.remoteWins)
    let note = try pair.phone.store.add(.init(title: "Tree"), to: pair.layer).id
    pair.server.controls.dropAnswers(next: 3, in: modify)
    await #expect(throws: CKError.self) { try await pair.phone.store.sync() }
    try await pair.desk.store.sync()
    try pair.desk.store.deleteAnnotation(note)
    pair.time.advance(100)
    try pair.desk.store.emptyTrash(olderThan: 60)
    try await pair.desk.store.sync()
    try await pair.settle()
    #expect(pair.phone.titles == ["Door"] && pair.isSame)
    #expect(try pair.server.annotations().count == 2 && pair.phone.store.waitingCount == 0)
  }

  @Test("R: an edit back to what was is an edit, also when the answer in between was lost")
  func editBackToOldValueIsSent() async throws {
    for strategy in [ConflictStrategy.lastWriteWins, .manual] {
      let pair = try await AnnotationPair(strategy)
      let (phone, note) = (pair.phone, pair.note)
      try phone.store.deleteAnnotation(note)
      try await pair.settle()
      try phone.store.restore(note)
      pair.server.controls.dropAnswers(next: 1, in: modify)
      pair.server.controls.runAfterCommit(in: modify) { _ in
        _ = try? phone.store.deleteAnnotation(note)
      }
      try await pair.settle()
      #expect(pair.isSame && phone.titles == [] && phone.store.conflicts.isEmpty)
      #expect(phone.store.waitingCount == 0)
    }
  }

  @Test("R: an edit made while the save is under way stays, and goes with the next batch")
  func editInFlight() async throws {
    let pair = try await AnnotationPair()
    try pair.phone.store.edit(pair.note) { $0.title = "first" }
    let (phone, note) = (pair.phone, pair.note)
    pair.server.controls.runAfterCommit(in: modify) { _ in
      _ = try? phone.store.edit(note) { $0.title = "second" }
    }
    try await pair.phone.store.sync()
    try await pair.desk.store.sync()
    #expect(pair.desk.titles == ["second"] && pair.isSame && pair.phone.store.waitingCount == 0)
  }

  @Test(
    "R: With a token per zone known data is not fetched again, and an expired token recovers")
  func zoneTokensPreventRepeatedFetches() async throws {
    let pair = try await AnnotationPair()
    try await pair.settle()
    pair.server.controls.forgetRequests()
    try await pair.desk.store.sync()
    let kinds = pair.server.controls.requests.map(\.kind)
    #expect(!kinds.contains(.fetchZoneChanges) && kinds.count { $0 == .fetchDatabaseChanges } == 2)
    // Removed while the desk was away for longer than the feed remembers.
    try pair.phone.store.deleteAnnotation(pair.note)
    let tree = try pair.phone.store.add(.init(title: "Tree"), to: pair.layer).id
    try await pair.phone.store.sync()
    pair.time.advance(100)
    try pair.phone.store.emptyTrash(olderThan: 60)
    try await pair.phone.store.sync()
    for zone in [nil, ZoneID.annotations] {
      let container = AnnotationDevice.containerName
      try pair.server.controls.expireTokens(of: zone, container: container, account: "ada")
      try pair.server.controls.trimTombstones(of: zone, container: container, account: "ada")
    }
    let unsent = try pair.desk.store.add(.init(title: "Unsent"), to: pair.layer).id
    try await pair.settle()
    #expect(pair.isSame && pair.desk.titles == ["Tree", "Unsent"])
    #expect(pair.desk.store.annotation(pair.note) == nil)
    #expect([tree, unsent].allSatisfy { pair.phone.store.annotation($0)?.syncStatus == .synced })
  }

  /// Proves I21.
  @Test("R: A deleted or purged zone clears its data, and a zone without keys is filled again")
  func lostZoneIsClearedOrRefilled() async throws {
    let container = AnnotationDevice.containerName
    let losses: [(String, (FaultControls) throws -> Void, [String])] = [
      (
        "deleted",
        { try $0.deleteZone(.annotations, container: container, account: "ada") }, []
      ),
      ("purged", { try $0.purgeZone(.annotations, container: container, account: "ada") }, []),
      (
        "keys lost",
        { try $0.resetEncryptedData(.annotations, container: container, account: "ada") },
        ["Door", "Tree"]
      ),
    ]
    for (name, lose, titles) in losses {
      let pair = try await AnnotationPair()
      try pair.phone.store.add(.init(title: "Tree"), to: pair.layer)
      try lose(pair.server.controls)
      try await pair.settle()
      #expect(pair.phone.titles == titles && pair.isSame, "\(name)")
      #expect(pair.phone.store.waitingCount == 0, "\(name)")
      let layer = try pair.desk.store.addLayer(named: "New").id
      try pair.desk.store.add(.init(title: "new"), to: layer)
      try await pair.settle()
      #expect(pair.phone.titles == titles + ["new"] && pair.isSame, "\(name)")
    }
  }

  @Test("R: A zone that is removed between fetch and send clears its data, and sync goes on")
  func zoneRemovedBeforeSendIsCleared() async throws {
    let container = AnnotationDevice.containerName
    for isPurged in [false, true] {
      let pair = try await AnnotationPair()
      let controls = pair.server.controls
      try pair.phone.store.add(.init(title: "Tree"), to: pair.layer)
      controls.runAfterCommit(in: RequestScope(kind: .fetchDatabaseChanges, device: "phone")) { _ in
        if isPurged {
          try? controls.purgeZone(.annotations, container: container, account: "ada")
        } else {
          try? controls.deleteZone(.annotations, container: container, account: "ada")
        }
      }
      try await pair.settle()
      #expect(pair.phone.store.canonicalLines.isEmpty && pair.isSame, "purged: \(isPurged)")
      #expect(pair.phone.store.waitingCount == 0, "purged: \(isPurged)")
      let layer = try pair.phone.store.addLayer(named: "New").id
      try pair.phone.store.add(.init(title: "new"), to: layer)
      try await pair.settle()
      #expect(pair.desk.titles == ["new"] && pair.isSame, "purged: \(isPurged)")
      let subscriptions = try pair.server.subscriptions(container: container, account: "ada")
      #expect(subscriptions.count == 3, "purged: \(isPurged)")
    }
  }
}
