import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

/// Changes that a user makes while a sync is under way.
@Suite("Annotations: changes during a sync", .timeLimit(.minutes(20)))
struct AnnotationMeanwhileTests {
  private let modify = RequestScope(kind: .modifyRecords)

  @Test("A file that was just fetched survives changes made before its annotation is stored")
  func fetchedFileSurvivesChangesMeanwhile() async throws {
    let pair = try await AnnotationPair()
    let (server, phone) = (pair.server, pair.phone)
    let time = Moment()
    let desk = try AnnotationDevice(server, "desk, with its own time", time: time)
    let unsent = try await desk.withNewNote(on: pair.layer)
    let picture = Data("a picture".utf8)
    let tree = try phone.store.add(.init(title: "Tree"), to: pair.layer).id
    try phone.store.attach(phone.file("f", picture), to: tree)
    try await phone.store.sync()
    server.controls.runAfterCommit(in: RequestScope(kind: .fetchZoneChanges)) { _ in
      // The store asks for the date when it has the files and not yet their items.
      time.beforeNextReading {
        guard desk.mediaFiles.count == 1 else { return }
        try? desk.store.detach(from: pair.note)
        try? desk.store.discardEdits(of: unsent)
      }
    }
    try await desk.store.sync()
    let place = try #require(desk.store.annotation(tree)?.content.mediaURL)
    #expect(try Data(contentsOf: place) == picture)
    #expect(desk.store.annotation(unsent) == nil, "the change was made meanwhile")
  }

  @Test("A file that is detached while it is sent is sent, and then removed everywhere")
  func detachedFileIsSentToTheEnd() async throws {
    let pair = try await AnnotationPair()
    let (phone, note) = (pair.phone, pair.note)
    try phone.store.attach(phone.file("f", Data("a picture".utf8)), to: note)
    // The request is sent again, with the file.
    pair.server.controls.dropAnswers(next: 1, in: modify)
    pair.server.controls.runAfterCommit(in: modify) { _ in try? phone.store.detach(from: note) }
    try await pair.settle()
    #expect(phone.store.refusals.isEmpty && phone.store.waitingCount == 0 && pair.isSame)
    #expect(phone.mediaFiles.isEmpty && pair.desk.mediaFiles.isEmpty)
  }

  @Test("What is discarded, purged or edited during a request is not sent with a later batch")
  func changesMeanwhileReplaceLaterBatches() async throws {
    let server = LoopbackServer()
    let phone = try AnnotationDevice(server, "phone", batchSize: 1)
    let store = phone.store
    let layer = try store.addLayer(named: "House").id
    try await store.sync()
    let notes = try store.add(["a", "b", "c", "d"].map { .init(title: $0) }, to: layer).map(\.id)
    server.controls.forgetRequests()
    server.controls.runAfterCommit(in: modify) { _ in
      _ = try? store.discardEdits(of: notes[1])
      _ = try? store.edit(notes[2]) { $0.title = "edited" }
      _ = try? store.deleteAnnotation(notes[3])
      phone.time.advance(100)
      _ = try? store.emptyTrash(olderThan: 60)
    }
    try await store.sync()
    #expect(server.controls.requestCount(in: modify) == 2, "the first, and the edited one")
    for _ in 0..<2 {
      #expect(phone.titles == ["a", "edited"] && store.waitingCount == 0)
      #expect(try server.annotations().count == 3)
      try await store.sync()
    }
  }

  @Test("An item that is made smaller while the server refuses it is sent, and not refused")
  func smallerVersionIsNotRefused() async throws {
    let server = LoopbackServer()
    let phone = try AnnotationDevice(server, "phone")
    let layer = try phone.store.addLayer(named: "House").id
    try await phone.store.sync()
    var limits = ServerLimits()
    limits.recordBytes = 5_000
    server.controls.setLimits(limits)
    let large = String(repeating: "x", count: 20_000)
    let note = try phone.store.add(.init(text: large), to: layer).id
    server.controls.hold(next: 1, in: modify)
    async let sync: Void = phone.store.sync()
    await server.controls.waitForHeldRequests(in: modify)
    try phone.store.edit(note) { $0.content.text = "small" }
    server.controls.release(in: modify)
    try await sync
    #expect(phone.store.refusals.isEmpty)
    try await phone.store.sync()
    #expect(phone.store.annotation(note)?.syncStatus == .synced)
    #expect(try server.annotations().count == 2)
  }
}

extension AnnotationDevice {
  /// Syncs, and adds an annotation that is not sent.
  fileprivate func withNewNote(on layer: UUID) async throws -> UUID {
    try await store.sync()
    return try store.add(.init(title: "unsent"), to: layer).id
  }
}
