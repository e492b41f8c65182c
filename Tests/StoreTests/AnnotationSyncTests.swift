import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

@Suite("Annotations between devices", .timeLimit(.minutes(20)))
struct AnnotationSyncTests {
  @Test("R: Annotations made on one device reach the other, field for field and file for file")
  func annotationsReachOtherDeviceUnchanged() async throws {
    let server = LoopbackServer()
    let phone = try AnnotationDevice(server, "phone")
    let desk = try AnnotationDevice(server, "desk")
    let layer = try phone.store.addLayer(named: "House").id
    let note = try phone.store.add(
      .init(type: .image, title: "Door", text: "grün", position: [0.1, -2, 3e10], scale: 0.25),
      to: layer
    ).id
    try phone.store.comment(on: note, text: "Nice")
    let image = picture(width: 9, height: 3, red: 1, green: 2, blue: 3)
    try phone.store.attach(phone.file("a.bmp", image), to: note)
    try await phone.store.sync()
    try await desk.store.sync()
    #expect(phone.store.canonicalLines == desk.store.canonicalLines)
    let there = try #require(desk.store.annotation(note))
    #expect(
      there.position == [0.1, -2, 3e10] && there.scale == 0.25 && there.content.text == "grün")
    #expect(there.ownerID == phone.store.account && !there.ownerID.isEmpty)
    #expect(there.syncStatus == .synced && there.cloudKitRecordName == note.uuidString)
    #expect(try Data(contentsOf: #require(there.content.mediaURL)) == image)
    #expect(desk.mediaFiles == phone.mediaFiles && desk.store.comments().map(\.text) == ["Nice"])
    #expect(phone.store.metrics.uploadCount == 3 && desk.store.metrics.downloadCount == 3)
    #expect(phone.store.waitingCount == 0 && phone.store.lastSyncTime == phone.time.date)
    // The other way round, and without a file again.
    desk.time.advance()
    try desk.store.detach(from: note)
    try desk.store.edit(note) { $0.title = nil }
    try await desk.store.sync()
    try await phone.store.sync()
    #expect(phone.store.canonicalLines == desk.store.canonicalLines)
    #expect(phone.mediaFiles.isEmpty && phone.store.annotation(note)?.title == nil)
  }

  @Test("R: Edits of different fields are both kept, under every strategy")
  func differentFieldEditsAreBothKept() async throws {
    for strategy: ConflictStrategy in [.lastWriteWins, .remoteWins, .localWins, .manual] {
      let pair = try await AnnotationPair(strategy)
      try pair.phone.store.edit(pair.note) { $0.title = "Gate" }
      pair.time.advance()
      try pair.desk.store.edit(pair.note) { $0.position = [7, 8, 9] }
      try await pair.settle()
      let note = try #require(pair.desk.store.annotation(pair.note))
      #expect(note.title == "Gate" && note.position == [7, 8, 9], "\(strategy)")
      #expect(pair.isSame && pair.desk.store.metrics.conflictCount == 0, "\(strategy)")
    }
  }

  /// The phone writes first by the clock, the desk later; the phone sends first or last.
  private func contradiction(
    _ strategy: ConflictStrategy, phoneFirst: Bool
  ) async throws -> (title: String?, isSame: Bool, conflicts: Int) {
    let pair = try await AnnotationPair(strategy)
    try pair.phone.store.edit(pair.note) { $0.title = "early" }
    pair.time.advance()
    try pair.desk.store.edit(pair.note) { $0.title = "late" }
    if !phoneFirst { try await pair.desk.store.sync() }
    try await pair.settle()
    return (
      pair.phone.store.annotation(pair.note)?.title, pair.isSame,
      pair.phone.store.metrics.conflictCount + pair.desk.store.metrics.conflictCount
    )
  }

  @Test("R: Last write wins, remote wins and local wins decide conflicts alike in either order")
  func conflictStrategyDecidesWinner() async throws {
    let table: [(ConflictStrategy, Bool, String)] = [
      (.lastWriteWins, true, "late"), (.lastWriteWins, false, "late"),
      (.remoteWins, true, "early"), (.remoteWins, false, "late"),
      (.localWins, true, "late"), (.localWins, false, "early"),
      (.perField(["title": .remoteWins]).orElse(.localWins), true, "early"),
    ]
    for (strategy, phoneFirst, title) in table {
      let end = try await contradiction(strategy, phoneFirst: phoneFirst)
      #expect(
        end.title == title && end.isSame && end.conflicts == 1,
        "\(strategy), phone first \(phoneFirst): \(end)")
    }
  }

  @Test("R: A position is one unit and is never mixed from two edits")
  func positionIsNeverMixed() async throws {
    let pair = try await AnnotationPair()
    try pair.phone.store.edit(pair.note) { $0.position.x = 100 }
    pair.time.advance()
    try pair.desk.store.edit(pair.note) { $0.position.z = 300 }
    try await pair.settle()
    #expect(pair.isSame && pair.phone.store.annotation(pair.note)?.position == [1, 2, 300])
  }

  @Test(
    "R: Manual conflicts are kept for the user, also over a restart: mine, theirs or merged"
  )
  func manualConflictsSurviveRestart() async throws {
    let ends: [(ConflictResolution, String)] = [
      (.mine, "my lines\ngreen"), (.theirs, "green\ntheir line"),
      (.merged, "my lines\ngreen\ntheir line"),
    ]
    for (resolution, text) in ends {
      let pair = try await AnnotationPair(.perField(["content": .manual]).orElse(.remoteWins))
      try pair.phone.store.edit(pair.note) { $0.content.text = "green\ntheir line" }
      try pair.desk.store.edit(pair.note) {
        $0.content.text = "my lines\ngreen"
        $0.scale = 4
      }
      try await pair.phone.store.sync()
      try await pair.desk.store.sync()
      let again = try AnnotationDevice(
        pair.server, "desk, again", folder: pair.desk.folder, time: pair.time)
      let conflict = try #require(again.store.conflicts.first)
      #expect(again.store.conflicts.count == 1 && conflict.id == pair.note)
      let field = try #require(conflict.fields.first)
      #expect(field.name == "content" && field.ancestor == "green")
      #expect(field.mine == "my lines\ngreen" && field.theirs == "green\ntheir line")
      let sides = try #require(again.store.sides(of: pair.note))
      #expect(sides.mine?.content.text == field.mine && sides.theirs?.content.text == field.theirs)
      #expect(again.store.annotation(pair.note)?.syncStatus == .conflict)
      #expect(again.store.waitingCount == 1, "the edit would be lost with the account")
      try await again.store.sync()
      try await pair.phone.store.sync()
      #expect(pair.phone.store.annotation(pair.note)?.scale == 1, "nothing is sent before")
      pair.time.advance()
      try again.store.resolve(pair.note, use: resolution)
      #expect(again.store.conflicts.isEmpty)
      try await again.store.sync()
      try await pair.phone.store.sync()
      let note = try #require(pair.phone.store.annotation(pair.note))
      #expect(note.content.text == text && note.scale == 4, "\(resolution)")
      #expect(again.store.canonicalLines == pair.phone.store.canonicalLines)
    }
  }

  @Test(
    "R: while a person thinks, further edits of both sides count, and agreement ends the conflict")
  func manualConflictFollowsFurtherEdits() async throws {
    let pair = try await AnnotationPair(.manual)
    try pair.phone.store.edit(pair.note) { $0.title = "p1" }
    try pair.desk.store.edit(pair.note) { $0.title = "d1" }
    try await pair.phone.store.sync()
    try await pair.desk.store.sync()
    #expect(pair.desk.store.conflicts.first?.fields.map(\.theirs) == ["p1"])
    pair.time.advance()
    try pair.phone.store.edit(pair.note) {
      $0.title = "p2"
      $0.scale = 3
    }
    try pair.desk.store.edit(pair.note) { $0.content.text = "red" }
    try await pair.phone.store.sync()
    try await pair.desk.store.sync()
    let field = try #require(pair.desk.store.conflicts.first?.fields.first)
    #expect(pair.desk.store.conflicts.first?.fields.count == 1)
    #expect(field.ancestor == "Door" && field.mine == "d1" && field.theirs == "p2")
    #expect(pair.desk.store.annotation(pair.note)?.scale == 3, "what is undisputed is taken over")
    #expect(pair.desk.store.metrics.conflictCount == 1)
    try pair.phone.store.edit(pair.note) { $0.title = "d1" }
    try await pair.settle()
    #expect(pair.desk.store.conflicts.isEmpty && pair.isSame)
    #expect(pair.phone.store.annotation(pair.note)?.content.text == "red")
  }

  @Test("R: Only changed keys are saved, with if-unchanged where the other version counts")
  func onlyChangedKeysAreSaved() async throws {
    #expect(AnnotationStore.savePolicy(.localWins) == .changedKeys)
    for strategy: ConflictStrategy in [.lastWriteWins, .remoteWins, .manual] {
      #expect(AnnotationStore.savePolicy(strategy) == .ifServerRecordUnchanged)
    }
    let pair = try await AnnotationPair(.localWins)
    try pair.phone.store.edit(pair.note) { $0.title = "Gate" }
    let item = try #require(pair.phone.store.state.withLock { $0.tables.items[pair.note] })
    let record = pair.phone.store.record(item, signedBy: "_x")
    #expect(record.changedKeys().sorted() == ["title", "updatedAt"])
    // Between this device's fetch and its save another one saves: its other fields stay.
    let other = try pair.desk.store.edit(pair.note) { $0.scale = 6 }
    pair.server.controls.hold(in: RequestScope(kind: .modifyRecords, device: "phone"))
    async let sync: Void = pair.phone.store.sync()
    await pair.server.controls.waitForHeldRequests()
    try await pair.desk.store.sync()
    pair.server.controls.clear()
    pair.server.controls.release()
    try await sync
    try await pair.settle()
    let note = try #require(pair.desk.store.annotation(pair.note))
    #expect(note.title == "Gate" && note.scale == other.scale && pair.isSame)
  }

  @Test("R: Deleting a layer while another device adds to it leaves an orphan, not a loss")
  func editInDeletedLayerLeavesOrphan() async throws {
    let pair = try await AnnotationPair()
    try pair.phone.store.deleteLayer(pair.layer)
    let late = try pair.desk.store.add(.init(title: "late"), to: pair.layer).id
    try await pair.settle()
    for device in [pair.phone, pair.desk] {
      #expect(device.store.annotations().isEmpty && device.store.layers.isEmpty)
      #expect(device.store.orphans.map(\.id) == [late])
    }
    let other = try pair.phone.store.addLayer(named: "Garden").id
    try pair.phone.store.move(late, to: other)
    try await pair.settle()
    #expect(pair.isSame && pair.desk.titles == ["late"])
  }

  @Test("R: A child that arrives before its parent is held, and shown when the parent arrives")
  func childIsHeldUntilParentArrives() async throws {
    let pair = try await AnnotationPair()
    let store = pair.desk.store
    let layer = try pair.phone.store.addLayer(named: "Garden").id
    let note = try pair.phone.store.add(.init(title: "Tree"), to: layer).id
    try await pair.phone.store.sync()
    let recordID = AnnotationZone.recordID(note, owner: nil)
    try await store.syncRecord(recordID)
    #expect(store.heldCount == 1 && store.annotation(note) != nil)
    #expect(!store.annotations().contains { $0.id == note } && store.orphans.map(\.id) == [note])
    var news = store.changes().makeAsyncIterator()
    try await store.syncRecord(AnnotationZone.recordID(layer, owner: nil))
    #expect(await news.next() == [layer, note] && store.heldCount == 0)
    #expect(pair.isSame)
    try await store.sync()
    #expect(pair.isSame)
  }

  @Test("R: The trash is emptied in the cloud and on all devices, children first")
  func emptiedTrashIsDeletedEverywhere() async throws {
    let pair = try await AnnotationPair()
    try pair.phone.store.comment(on: pair.note, text: "hm")
    try pair.phone.store.deleteLayer(pair.layer)
    try await pair.settle()
    pair.time.advance(100)
    #expect(try pair.phone.store.emptyTrash(olderThan: 60) == 3)
    #expect(pair.phone.store.pendingOperations.map(\.type) == [.delete, .delete, .delete])
    try await pair.settle()
    #expect(try pair.server.annotations().isEmpty)
    for device in [pair.phone, pair.desk] {
      #expect(device.store.layer(pair.layer) == nil && device.store.annotation(pair.note) == nil)
      #expect(device.store.waitingCount == 0)
    }
  }

  @Test("R: what hangs under an item in the trash keeps it there, and nothing waits for ever")
  func keptInTrash() async throws {
    let pair = try await AnnotationPair()
    let sticker = CKRecord(
      recordType: "Sticker", recordID: AnnotationZone.recordID(testID(1), owner: nil))
    sticker.setParent(AnnotationZone.recordID(pair.note, owner: nil))
    let database = pair.server.annotationDatabase()
    _ = try await database.save(sticker)
    try pair.phone.store.deleteLayer(pair.layer)
    pair.time.advance(100)
    #expect(try pair.phone.store.emptyTrash(olderThan: 60) == 2)
    try await pair.settle()
    #expect(pair.phone.store.waitingCount == 0 && pair.phone.store.refusals.isEmpty)
    #expect(pair.isSame && pair.phone.titles == [])
    _ = try await database.deleteRecord(withID: sticker.recordID)
    #expect(try pair.phone.store.emptyTrash(olderThan: 60) == 2)
    try await pair.settle()
    #expect(try pair.server.annotations().isEmpty && pair.isSame)
    #expect(pair.phone.store.waitingCount == 0)
  }

  @Test("R: an unsent edit of what was removed for good: kept, dropped, or the person's to decide")
  func removedForGood() async throws {
    let table: [(ConflictStrategy, Bool)] = [
      (.lastWriteWins, true), (.localWins, true), (.remoteWins, false), (.manual, true),
    ]
    for (strategy, stays) in table {
      let pair = try await AnnotationPair(strategy)
      try pair.phone.store.deleteAnnotation(pair.note)
      try await pair.phone.store.sync()
      try await pair.desk.store.sync()
      pair.time.advance(100)
      try pair.phone.store.emptyTrash(olderThan: 60)
      try pair.desk.store.restore(pair.note)
      try await pair.phone.store.sync()
      try await pair.desk.store.sync()
      if strategy == .manual {
        #expect(pair.desk.store.conflicts.map(\.isGoneThere) == [true])
        try pair.desk.store.resolve(pair.note, use: .mine)
      }
      try await pair.settle()
      #expect(pair.isSame && pair.phone.titles == (stays ? ["Door"] : []), "\(strategy)")
    }
  }

  @Test(
    "R: An account that can't be used keeps all annotations; a sign-out removes them",
    arguments: [AccountAvailability.restricted, .couldNotDetermine, .temporarilyUnavailable])
  func unusableAccountKeepsAnnotations(_ availability: AccountAvailability) async throws {
    let server = LoopbackServer()
    let phone = try AnnotationDevice(server, "phone")
    let layer = try phone.store.addLayer(named: "House").id
    try await phone.store.sync()
    _ = try phone.store.add(.init(type: .image, title: "unsent"), to: layer)
    phone.link.setAvailability(availability)
    await #expect(throws: (any Error).self) { try await phone.store.sync() }
    #expect(phone.titles == ["unsent"] && phone.store.waitingCount == 1)
    phone.link.setAvailability(.available)
    try await phone.store.sync()
    #expect(phone.titles == ["unsent"] && phone.store.waitingCount == 0)
    phone.link.signOut()
    await #expect(throws: CKError.self) { try await phone.store.sync() }
    #expect(phone.titles.isEmpty)
  }

  @Test("R: Parents are sent before their children, and cycles of parents lose nothing")
  func parentsPrecedeChildren() async throws {
    let server = LoopbackServer()
    let device = try AnnotationDevice(server, "phone", batchSize: 1)
    let (first, second) = (
      try device.store.addLayer(named: "1"), try device.store.addLayer(named: "2")
    )
    let note = try device.store.add(.init(title: "a"), to: first.id).id
    let remark = try device.store.comment(on: note, text: "hm").id
    // Now the parents are the youngest changes.
    try device.store.rename(second.id, to: "two")
    try device.store.move(note, to: second.id)
    try await device.store.sync()
    #expect(try server.annotations().count == 4 && device.store.waitingCount == 0)
    #expect(device.store.metrics.errorCount == 0 && device.store.refusals.isEmpty)
    // A newer version of the app, or a faulty one, made items that are their own parents.
    let database = server.annotationDatabase()
    for number in 1...2 {
      let record = CKRecord(
        recordType: "Annotation", recordID: AnnotationZone.recordID(testID(number), owner: nil))
      record["title"] = "knot"
      record["layerID"] = CKRecord.Reference(
        recordID: AnnotationZone.recordID(testID(3 - number), owner: nil), action: .none)
      _ = try await database.modifyRecords(
        saving: [record], deleting: [], savePolicy: .allKeys, atomically: false)
    }
    try await device.store.sync()
    let knots = Set(device.store.orphans.map(\.id))
    #expect(knots.isSubset(of: [testID(1), testID(2)]) && !knots.isEmpty)
    #expect(device.titles == ["a"] && device.store.comments().map(\.id) == [remark])
    for knot in knots { try device.store.deleteAnnotation(knot) }
    device.time.advance(100)
    #expect(try device.store.emptyTrash(olderThan: 60) == knots.count)
    try await device.store.sync()
    #expect(try server.annotations().count == 4 && device.store.waitingCount == 0)
  }
}
