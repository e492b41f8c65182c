import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

@Suite("Annotations: files, accounts and other versions", .timeLimit(.minutes(20)))
struct AnnotationFileTests {
  private func journal(_ device: AnnotationDevice) -> URL {
    device.folder.url.appendingPathComponent("annotations/annotations.journal")
  }

  @Test("R: A crash between any two steps of a sync loses nothing and repeats no change wrongly")
  func crashBetweenSyncStepsLosesNothing() async throws {
    // The journal after each transaction is what a crash could leave.
    let pair = try await AnnotationPair()
    let note = try pair.phone.store.add(.init(title: "Tree"), to: pair.layer).id
    try pair.phone.store.attach(pair.phone.file("f", Data("file".utf8)), to: note)
    try pair.phone.store.edit(pair.note) { $0.title = "Gate" }
    try pair.desk.store.edit(pair.note) { $0.scale = 2 }
    try await pair.desk.store.sync()
    let before = try Data(contentsOf: journal(pair.phone))
    try await pair.phone.store.sync()
    let lines = try Data(contentsOf: journal(pair.phone)).dropFirst(before.count)
      .split(separator: UInt8(ascii: "\n"))
    #expect(lines.count >= 4)
    let media = pair.phone.store.media.directory
    for kept in 0...lines.count {
      let folder = try TemporaryFolder()
      let place = folder.url.appendingPathComponent("annotations")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: media, to: place.appendingPathComponent("media"))
      var data = before
      for line in lines.prefix(kept) { data.append(line + [UInt8(ascii: "\n")]) }
      // And half of the next line, as a cut write leaves it.
      if kept < lines.count { data.append(lines[kept].prefix(lines[kept].count / 2)) }
      try data.write(to: place.appendingPathComponent("annotations.journal"))
      let again = try AnnotationDevice(
        pair.server, "phone after \(kept)", folder: folder, time: pair.time)
      try await again.store.sync()
      try await pair.desk.store.sync()
      #expect(again.store.canonicalLines == pair.desk.store.canonicalLines, "after \(kept)")
      #expect(again.store.waitingCount == 0 && again.store.metrics.conflictCount == 0)
      #expect(pair.desk.titles == ["Gate", "Tree"])
    }
  }

  @Test(
    "R: A damaged file is a clear error and left alone, or is set aside and fetched again")
  func damagedFileIsKeptOrRefetched() async throws {
    let pair = try await AnnotationPair()
    let file = journal(pair.desk)
    let good = try Data(contentsOf: file)
    var flipped = good
    flipped[good.count / 2] ^= 1
    for bytes in [flipped, Data("notes 2\n".utf8), Data("x".utf8)] {
      try bytes.write(to: file)
      do {
        _ = try AnnotationDevice(pair.server, "desk, damaged", folder: pair.desk.folder)
        Issue.record("a damaged file was read")
      } catch let error as FileError {
        #expect(error.step == .understand && error.url.lastPathComponent == "annotations.journal")
        #expect("\(error)".contains("Nothing was changed"))
      }
      #expect(try Data(contentsOf: file) == bytes)
      let again = try AnnotationDevice(
        pair.server, "desk, anew", folder: pair.desk.folder, recovering: true)
      let recovery = try #require(again.store.recovery)
      #expect(again.store.canonicalLines.isEmpty)
      #expect(try Data(contentsOf: recovery.copy) == bytes)
      try await again.store.sync()
      #expect(again.store.canonicalLines == pair.phone.store.canonicalLines)
    }
    try Data("annotations 2\n".utf8).write(to: file)
    do {
      _ = try AnnotationDevice(
        pair.server, "desk, old", folder: pair.desk.folder, recovering: true)
      Issue.record("a file of a newer version was read, or set aside")
    } catch let error as FileError { #expect(error.step == .use) }
    try good.write(to: file)
    #expect(
      try AnnotationDevice(pair.server, "desk, healed", folder: pair.desk.folder)
        .store.canonicalLines == pair.phone.store.canonicalLines)
  }

  @Test("R: Unknown fields stay on a record that is saved again, and missing ones have defaults")
  func unknownFieldsSurviveSavingAgain() async throws {
    let pair = try await AnnotationPair()
    let database = pair.server.annotationDatabase()
    let recordID = AnnotationZone.recordID(pair.note, owner: nil)
    let record = try await database.record(for: recordID)
    record["colour"] = "blue"
    record["weights"] = ["a", "b"]
    record["when"] = testDate(3)
    try await database.save(record)
    try await pair.phone.store.sync()
    try pair.phone.store.edit(pair.note) { $0.title = "Gate" }
    try await pair.phone.store.sync()
    let after = try await database.record(for: recordID)
    #expect(after["title"] as? String == "Gate" && after["colour"] as? String == "blue")
    #expect(after["weights"] as? [String] == ["a", "b"] && after["when"] as? Date == testDate(3))
    // The zone is made anew: unknown fields come from this device then.
    try pair.server.controls.resetEncryptedData(
      .annotations, container: AnnotationDevice.containerName, account: "ada")
    try await pair.phone.store.sync()
    #expect(try await database.record(for: recordID)["colour"] as? String == "blue")

    let bare = CKRecord(
      recordType: "Annotation", recordID: AnnotationZone.recordID(testID(1), owner: nil))
    bare["layerID"] = CKRecord.Reference(
      recordID: AnnotationZone.recordID(pair.layer, owner: nil), action: .none)
    try await database.save(bare)
    try await pair.settle()
    let found = try #require(pair.phone.store.annotation(testID(1)))
    #expect(
      found.type == .text && found.title == nil && found.scale == 1 && found.position == .zero)
    #expect(
      pair.isSame && pair.phone.store.annotations(on: pair.layer).contains { $0.id == testID(1) })
  }

  @Test(
    "R: Records that are newer, invalid or of an unknown type are kept and not shown")
  func unreadableRecordsAreKeptHidden() async throws {
    let pair = try await AnnotationPair()
    let database = pair.server.annotationDatabase()
    func record(_ number: Int, _ type: String, _ fields: [String: any CKRecordValueProtocol])
      -> CKRecord
    {
      let record = CKRecord(
        recordType: type, recordID: AnnotationZone.recordID(testID(number), owner: nil))
      record["layerID"] = CKRecord.Reference(
        recordID: AnnotationZone.recordID(pair.layer, owner: nil), action: .none)
      for (key, value) in fields { record[key] = value }
      return record
    }
    let lacking = record(3, "Annotation", [:])
    lacking.setObject(nil, forKey: "layerID")
    let strange = [
      record(1, "Annotation", ["type": "hologram"]), record(2, "Annotation", ["schemaVersion": 2]),
      lacking, record(4, "Annotation", ["id": testID(5).uuidString]),
      record(6, "Sticker", ["title": "x"]),
      CKRecord(
        recordType: "Annotation",
        recordID: CKRecord.ID(recordName: "no name of ours", zoneID: AnnotationZone.own)),
    ]
    _ = try await database.modifyRecords(saving: strange, deleting: [])
    try await pair.settle()
    #expect(pair.phone.titles == ["Door"] && pair.isSame)
    #expect(pair.phone.store.unreadableCount == 4)
    #expect(throws: AnnotationError.notFound(testID(1))) {
      try pair.phone.store.edit(testID(1)) { $0.title = "x" }
    }
    try pair.phone.store.deleteLayer(pair.layer)
    try await pair.settle()
    #expect(try pair.server.annotations().count == 8, "all of them are where they were")
    let kept = try await database.record(for: strange[0].recordID)
    #expect(kept["type"] as? String == "hologram" && kept["isDeleted"] == nil)
    let again = try AnnotationDevice(pair.server, "phone, again", folder: pair.phone.folder)
    #expect(again.store.unreadableCount == 4)
  }

  @Test("R: After a switch or sign-out no byte of the old account stays in memory or files")
  func accountSwitchLeavesNoOldData() async throws {
    for signsOut in [false, true] {
      let server = LoopbackServer()
      let device = try AnnotationDevice(server, "phone", account: "ada")
      let secret = "the words of ada"
      let layer = try device.store.addLayer(named: secret).id
      let note = try device.store.add(.init(title: secret, text: secret), to: layer).id
      try device.store.attach(device.file("f", Data(secret.utf8)), to: note)
      try FileManager.default.removeItem(at: device.folder.url.appendingPathComponent("f"))
      try device.store.setStrategy(.manual)
      try await device.store.sync()
      try device.store.edit(note) { $0.content.text = secret + ", unsent" }
      let user = try #require(device.store.account)
      #expect(try !device.folder.filesContaining(secret).isEmpty)
      if signsOut { device.link.signOut() } else { device.link.signIn(as: "ben") }
      device.store.accountMayHaveChanged()
      if signsOut {
        await #expect(throws: CKError.self) { try await device.store.sync() }
      } else {
        try await device.store.sync()
      }
      #expect(device.store.canonicalLines.isEmpty && device.store.waitingCount == 0)
      #expect(device.store.account != user && device.store.metrics.uploadCount == 0)
      #expect(try device.folder.filesContaining(secret).isEmpty)
      #expect(try device.folder.filesContaining(user).isEmpty)
      #expect(device.mediaFiles.isEmpty && device.store.strategy == .manual)
      if !signsOut { #expect(try server.annotations(of: "ben").isEmpty) }
      device.link.signIn(as: "ada")
      device.store.accountMayHaveChanged()
      try await device.store.sync()
      #expect(device.titles == [secret] && device.store.annotation(note)?.content.text == secret)
    }
  }

  @Test("The strategy is kept also if the removal of an account's data stops half-way")
  func strategySurvivesFailedRemoval() async throws {
    for name in ["annotations.journal.damaged-1", "annotations.journal"] {
      let server = LoopbackServer()
      let device = try AnnotationDevice(server, "phone")
      try device.store.addLayer(named: "House")
      try device.store.setStrategy(.manual)
      try await device.store.sync()
      // A folder can't be removed as a file.
      let obstacle = device.folder.url.appendingPathComponent("annotations/\(name)/x")
      try? FileManager.default.removeItem(at: obstacle.deletingLastPathComponent())
      try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
      device.link.signIn(as: "ben")
      await #expect(throws: FileError.self) { try await device.store.sync() }
      #expect(device.store.canonicalLines.isEmpty && device.store.strategy == .manual)
      try FileManager.default.removeItem(at: obstacle.deletingLastPathComponent())
      if name == "annotations.journal" { try await device.store.sync() }
      // As after a crash.
      let again = try AnnotationDevice(server, "phone, again", folder: device.folder)
      #expect(again.store.canonicalLines.isEmpty && again.store.strategy == .manual, "\(name)")
    }
  }

  @Test("A damaged file is set aside with the files that it names, and all go with the account")
  func filesAreSetAsideAndGo() async throws {
    let server = LoopbackServer()
    let device = try AnnotationDevice(server, "phone")
    let layer = try device.store.addLayer(named: "House").id
    let note = try device.store.add(.init(title: "Door"), to: layer).id
    try device.store.attach(device.file("f", Data("unsent".utf8)), to: note)
    let name = try #require(device.mediaFiles.first)
    try Data("x".utf8).write(to: journal(device))
    let again = try AnnotationDevice(server, "phone", folder: device.folder, recovering: true)
    let copy = try #require(again.store.recovery?.copy)
    let aside = copy.deletingLastPathComponent().appendingPathComponent("media.damaged-1")
    #expect(try Data(contentsOf: aside.appendingPathComponent(name)) == Data("unsent".utf8))
    #expect(again.mediaFiles.isEmpty)
    try await again.store.sync()
    #expect(FileManager.default.fileExists(atPath: aside.path), "they are the account's")
    // A folder in the place of the new file: the old one can't be erased yet.
    let obstacle = journal(device).appendingPathExtension("new")
    try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
    again.link.signIn(as: "ben")
    await #expect(throws: FileError.self) { try await again.store.sync() }
    for gone in [aside, copy] { #expect(!FileManager.default.fileExists(atPath: gone.path)) }
  }

  @Test("R: the account changes in the middle of a sync: nothing of one reaches the other")
  func switchInFlight() async throws {
    // The app may say so at once, late, or not at all.
    for (kind, isTold) in [
      (RequestKind.fetchDatabaseChanges, true), (.fetchZoneChanges, true), (.modifyRecords, true),
      (.fetchDatabaseChanges, false), (.fetchZoneChanges, false), (.modifyRecords, false),
    ] {
      let server = LoopbackServer()
      let other = try AnnotationDevice(server, "ben's desk", account: "ben")
      let theirs = try other.store.addLayer(named: "Ben's").id
      try await other.store.sync()
      let device = try AnnotationDevice(server, "phone", account: "ada")
      let layer = try device.store.addLayer(named: "Ada's").id
      try await device.store.sync()
      try device.store.add(.init(title: "unsent of ada"), to: layer)
      try device.store.addLayer(named: "unsent layer of ada")
      let desk = try AnnotationDevice(server, "ada's desk", account: "ada")
      try await desk.store.sync()
      try desk.store.add(.init(title: "of ada"), to: layer)
      try await desk.store.sync()
      server.controls.runAfterCommit(in: RequestScope(kind: kind, device: "phone")) { _ in
        device.link.signIn(as: "ben")
        if isTold { device.store.accountMayHaveChanged() }
      }
      try await device.store.sync()
      if !isTold { try await device.store.sync() }
      #expect(device.store.layers.map(\.id) == [theirs], "\(kind)")
      #expect(try device.folder.filesContaining("of ada").isEmpty, "\(kind)")
      #expect(try server.annotations(of: "ben").count == 1, "\(kind)")
    }
  }

  @Test("R: 10,000 annotations are made, sent, fetched and opened without quadratic cost")
  func tenThousandAnnotationsScaleLinearly() async throws {
    let server = LoopbackServer()
    let phone = try AnnotationDevice(server, "phone", batchSize: 400)
    let desk = try AnnotationDevice(server, "desk")
    let clock = ContinuousClock()
    let layer = try phone.store.addLayer(named: "House").id
    // One by one, as a person or an import would: each write must cost its own size only.
    func add(_ count: Int) throws -> Duration {
      try clock.measure {
        for number in 0..<count {
          try phone.store.add(.init(title: "\(number)", text: "some words"), to: layer)
        }
      }
    }
    let early = try add(1_000)
    try phone.store.add(
      (0..<8_000).map { AnnotationStore.Draft(title: "\($0)", text: "some words") }, to: layer)
    let late = try add(1_000)
    #expect(late < early * 8 + .seconds(2), "the last thousand took \(late), the first \(early)")
    server.controls.forgetRequests()
    try await phone.store.sync()
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 26)
    try await desk.store.sync()
    #expect(desk.store.canonicalLines == phone.store.canonicalLines)
    #expect(desk.store.annotations(on: layer).count == 10_000)
    let again = try AnnotationDevice(server, "desk, again", folder: desk.folder)
    #expect(again.store.canonicalLines.count == 10_001)
  }

  @Test("R: The file of an earlier version is read, with its queue, conflicts and shares")
  func earlierFileIsRead() async throws {
    let folder = try TemporaryFolder()
    let files = try FirstVersionTests.copy("annotations")
    try FileManager.default.copyItem(
      at: files.url, to: folder.url.appendingPathComponent("annotations"))
    let server = LoopbackServer()
    let device = try AnnotationDevice(server, "phone", folder: folder)
    let store = device.store
    let layer = try #require(store.layers.first)
    #expect(layer.name == "House" && store.canonicalLines.count == 5)
    #expect(device.titles == ["", "large", "mine"] && store.comments().map(\.text) == ["said"])
    let note = try #require(store.annotations().first { $0.title == "mine" })
    #expect(note.position == [1, 2, 3] && note.scale == 2 && note.ownerID == store.account)
    #expect(try Data(contentsOf: #require(note.content.mediaURL)) == Data("a file".utf8))
    let conflict = try #require(store.conflicts.first)
    #expect(conflict.id == note.id && store.conflicts.count == 1)
    #expect(conflict.fields.map(\.ancestor) == ["Door"] && conflict.fields[0].theirs == "theirs")
    #expect(store.pendingOperations.map(\.type) == [.delete, .update])
    #expect(store.strategy == .perField(["title": .manual]).orElse(.lastWriteWins))
    #expect(store.participants(of: layer.id).map(\.isOwner) == [true, false])
    #expect(store.shareURL(of: layer.id) != nil && store.lastSyncTime != nil)
    // What it writes then is read again; and it belongs to another account.
    try store.edit(note.id) { $0.scale = 3 }
    let again = try AnnotationDevice(server, "phone, again", account: "ben", folder: folder)
    #expect(again.store.canonicalLines == store.canonicalLines)
    #expect(again.store.pendingOperations == store.pendingOperations)
    try await again.store.sync()
    #expect(again.store.canonicalLines.isEmpty && again.store.waitingCount == 0)
  }
}
