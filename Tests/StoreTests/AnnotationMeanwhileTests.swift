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
@Suite("Annotations: changes during a sync", .timeLimit(.minutes(10)))
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
}

extension AnnotationDevice {
  /// Syncs, and adds an annotation that is not sent.
  fileprivate func withNewNote(on layer: UUID) async throws -> UUID {
    try await store.sync()
    return try store.add(.init(title: "unsent"), to: layer).id
  }
}
