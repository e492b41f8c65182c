import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Testing

@testable import AnnotationStore

@Suite("Annotations on one device", .timeLimit(.minutes(20)))
struct AnnotationStoreTests {
  private let server = LoopbackServer()

  @Test("R: Syncable records have position, scale, layer reference, owner, dates and the rest")
  func annotationRecordsHaveRequiredFields() throws {
    let date = testDate(5)
    var annotation = Annotation(
      id: testID(1), type: .drawing, title: "T", content: AnnotationContent(text: "words"),
      position: [1.5, -2, 3.25], scale: 0.5, layerID: testID(2), ownerID: "_ada", createdAt: date)
    let record = try annotation.toCKRecord()
    #expect(record.recordType == "Annotation" && record.recordID.recordName == testID(1).uuidString)
    #expect(record.recordID.zoneID == AnnotationZone.own)
    let texts = ["id": testID(1).uuidString, "type": "drawing", "title": "T", "content": "words"]
    for (key, text) in texts { #expect(record[key] as? String == text, "\(key)") }
    let numbers = ["positionX": 1.5, "positionY": -2, "positionZ": 3.25, "scale": 0.5]
    for (key, number) in numbers { #expect(record[key] as? Double == number, "\(key)") }
    let layer = record["layerID"] as? CKRecord.Reference
    #expect(
      layer?.recordID.recordName == testID(2).uuidString
        && layer?.action == CKRecord.ReferenceAction.none)
    #expect(record["ownerID"] as? String == "_ada" && record["isDeleted"] as? Int == 0)
    #expect(record["createdAt"] as? Date == date && record["updatedAt"] as? Date == date)

    var copy = Annotation(
      id: testID(1), content: AnnotationContent(), layerID: testID(3), createdAt: testDate(0))
    try copy.update(from: record)
    annotation.cloudKitRecordName = testID(1).uuidString
    annotation.syncStatus = .synced
    #expect(copy == annotation)
    let sparse = CKRecord(recordType: "Annotation", recordID: record.recordID)
    sparse["title"] = "new"
    sparse["positionX"] = 9.0
    try copy.update(from: sparse)
    #expect(copy.title == "new" && copy.position == [1.5, -2, 3.25] && copy.type == .drawing)
    sparse["type"] = "hologram"
    #expect(throws: SyncError.invalidRecord) { try copy.update(from: sparse) }
    #expect(throws: SyncError.invalidRecord) {
      try copy.update(
        from: Layer(
          id: testID(1), name: "x", createdAt: date
        ).toCKRecord())
    }
    annotation.scale = .nan
    #expect(throws: SyncError.conversionFailed) { try annotation.toCKRecord() }
    #expect("\(SyncError.missingRequiredField("layerID"))" == "Missing required field: layerID")
    #expect(throws: SyncError.missingRequiredField("layerID")) {
      try Annotation(id: testID(1), fields: [:])
    }
  }

  @Test("R: An edit is visible and stored on disk at once, and waits to be sent")
  func editsAreStoredLocallyFirst() throws {
    let device = try AnnotationDevice(server, "phone", account: nil)
    let store = device.store
    let layer = try store.addLayer(named: "House")
    let note = try store.add(.init(title: "Door", position: [1, 2, 3]), to: layer.id)
    device.time.advance()
    try store.edit(note.id) {
      $0.title = nil
      $0.type = .image
      $0.scale = 2
    }
    let remark = try store.comment(on: note.id, text: "Nice")
    let after = try #require(store.annotation(note.id))
    #expect(after.title == nil && after.type == .image && after.scale == 2)
    #expect(
      after.updatedAt == note.createdAt.addingTimeInterval(1) && after.createdAt == note.createdAt)
    #expect(after.syncStatus == .pendingUpload && after.cloudKitRecordName == nil)
    #expect(store.pendingOperations.map(\.type) == [.create, .create, .create])
    #expect(store.pendingOperations.map(\.id) == [layer.id, note.id, remark.id])
    let lines = store.canonicalLines
    let again = try AnnotationDevice(server, "phone, again", account: nil, folder: device.folder)
    #expect(again.store.canonicalLines == lines && lines.count == 3)
    #expect(again.store.waitingCount == 3)
    try again.store.edit(note.id) { _ in }
    #expect(again.store.annotation(note.id)?.updatedAt == after.updatedAt, "no change is no edit")
  }

  @Test("R: An invalid edit is refused with a clear error and changes nothing")
  func invalidEditChangesNothing() throws {
    let device = try AnnotationDevice(server, "phone", mediaLimit: 100)
    let store = device.store
    let layer = try store.addLayer(named: "House").id
    let note = try store.add(.init(text: "x"), to: layer).id
    let before = store.canonicalLines
    #expect(throws: AnnotationError.notFound(testID(9))) { try store.add(.init(), to: testID(9)) }
    #expect(throws: AnnotationError.notFound(layer)) { try store.edit(layer) { $0.scale = 2 } }
    #expect(throws: AnnotationError.notANumber) { try store.edit(note) { $0.scale = .infinity } }
    #expect(throws: AnnotationError.notANumber) {
      try store.add(.init(position: [0, .nan, 0]), to: layer)
    }
    #expect(throws: AnnotationError.notInConflict(note)) { try store.resolve(note, use: .mine) }
    let large = try device.file("large", Data(repeating: 7, count: 101))
    #expect(throws: AnnotationError.mediaTooLarge(bytes: 101, limit: 100)) {
      try store.attach(large, to: note)
    }
    #expect(
      "\(AnnotationError.mediaTooLarge(bytes: 101, limit: 100))"
        == "the file has 101 bytes, and 100 is the most; make it smaller")
    #expect(throws: FileError.self) { try store.attach(device.folder.url, to: note) }
    #expect(store.canonicalLines == before && device.mediaFiles.isEmpty)
    try store.attach(device.file("fitting", Data(repeating: 7, count: 100)), to: note)
    #expect(device.mediaFiles.count == 1, "the limit itself is allowed")
  }

  @Test("R: Deletion is soft and reversible, and a layer is deleted and restored with its contents")
  func deletedLayerIsRestoredWithAnnotations() throws {
    let device = try AnnotationDevice(server, "phone")
    let store = device.store
    let layer = try store.addLayer(named: "House").id
    let notes = try store.add([.init(title: "a"), .init(title: "b")], to: layer).map(\.id)
    try store.comment(on: notes[0], text: "hm")
    try store.deleteAnnotation(notes[1])
    #expect(device.titles == ["a"] && store.annotation(notes[1])?.isDeleted == true)
    device.time.advance()
    try store.deleteLayer(layer)
    #expect(store.canonicalLines.isEmpty && store.orphans.isEmpty)
    device.time.advance()
    try store.restore(layer)
    #expect(device.titles == ["a"], "b was in the trash before")
    #expect(store.comments().map(\.text) == ["hm"])
    try store.restore(notes[1])
    #expect(device.titles == ["a", "b"])
    try store.deleteAnnotation(notes[0])
    #expect(try store.emptyTrash(olderThan: 60) == 0)
    device.time.advance(61)
    #expect(try store.emptyTrash(olderThan: 60) == 2, "with its comment")
    #expect(store.annotation(notes[0]) == nil && device.titles == ["b"])
  }

  @Test("A layer that a device with a fast clock renamed is restored with its annotations")
  func layerOfFastClockIsRestoredWhole() async throws {
    let phone = try AnnotationDevice(server, "phone")
    let fast = try AnnotationDevice(server, "fast")
    fast.time.advance(3_600)
    let layer = try phone.store.addLayer(named: "House").id
    let notes = try phone.store.add([.init(title: "a"), .init(title: "b")], to: layer).map(\.id)
    try await phone.store.sync()
    try await fast.store.sync()
    try fast.store.rename(layer, to: "Home")
    try await fast.store.sync()
    try phone.store.deleteAnnotation(notes[1])
    try await phone.store.sync()
    try phone.store.deleteLayer(layer)
    #expect(phone.store.canonicalLines.isEmpty)
    phone.time.advance(10)
    try phone.store.restore(layer)
    #expect(phone.store.layers.map(\.name) == ["Home"] && phone.titles == ["a"])
    try await phone.store.sync()
    try await fast.store.sync()
    #expect(fast.store.canonicalLines == phone.store.canonicalLines)
  }

  @Test("Restoring a layer that is not in the trash brings no deleted annotation back")
  func liveLayerIsNotRestored() throws {
    let device = try AnnotationDevice(server, "phone")
    let layer = try device.store.addLayer(named: "House").id
    let note = try device.store.add(.init(title: "a"), to: layer).id
    device.time.advance()
    try device.store.deleteAnnotation(note)
    try device.store.restore(layer)
    #expect(device.titles.isEmpty && device.store.annotation(note)?.isDeleted == true)
  }

  @Test("R: Files are copied in, stored once for equal content, and cleaned up")
  func equalMediaFilesAreStoredOnce() async throws {
    let device = try AnnotationDevice(server, "phone")
    let store = device.store
    let layer = try store.addLayer(named: "House").id
    let notes = try store.add([.init(type: .image), .init(type: .image)], to: layer).map(\.id)
    let red = picture(width: 5, height: 4, red: 255, green: 0, blue: 0)
    let file = try device.file("a.bmp", red)
    for note in notes { try store.attach(file, to: note) }
    try FileManager.default.removeItem(at: file)
    #expect(device.mediaFiles.count == 1)
    let place = try #require(store.annotation(notes[0])?.content.mediaURL)
    #expect(try Data(contentsOf: place) == red)
    try store.attach(
      device.file("b.bmp", picture(width: 5, height: 4, red: 0, green: 9, blue: 0)), to: notes[0])
    #expect(device.mediaFiles.count == 2)
    try store.detach(from: notes[0])
    #expect(store.annotation(notes[0])?.content.mediaURL == nil)
    try await store.sync()
    #expect(device.mediaFiles.count == 1)
    try store.detach(from: notes[1])
    _ = try AnnotationDevice(server, "phone, again", folder: device.folder)
    #expect(device.mediaFiles.count == 1, "the server has it, and it is the version of old")
    device.link.isOnline = false
    await #expect(throws: CKError.self) { try await store.sync() }
    device.link.isOnline = true
    try await store.sync()
    #expect(device.mediaFiles.isEmpty)
  }

  @Test("R: An annotation moves between layers together with its comments")
  func annotationMovesWithComments() throws {
    let device = try AnnotationDevice(server, "phone")
    let store = device.store
    let (first, second) = (try store.addLayer(named: "1").id, try store.addLayer(named: "2").id)
    let note = try store.add(.init(title: "a"), to: first).id
    try store.comment(on: note, text: "hm")
    #expect(try store.move(note, to: second).id == note)
    #expect(
      store.annotations(on: first).isEmpty && store.annotations(on: second).map(\.id) == [note])
    #expect(store.comments(on: note).map(\.text) == ["hm"])
    try store.deleteLayer(second)
    try store.restore(note)
    #expect(store.orphans.map(\.id) == [note] && store.annotations().isEmpty)
    try store.move(note, to: first)
    #expect(store.orphans.isEmpty && store.annotations(on: first).map(\.id) == [note])
  }
}
