import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

@Suite("Annotations: shared layers", .timeLimit(.minutes(20)))
struct AnnotationShareTests {
  /// Ada's layer with a note and a picture, shared with Ben, who has accepted.
  private struct Shared {
    let server = LoopbackServer()
    let time = Moment()
    let ada: AnnotationDevice
    let ben: AnnotationDevice
    let layer: UUID
    let note: UUID
    let url: URL

    init(mayWrite: Bool = true) async throws {
      ada = try AnnotationDevice(server, "ada's phone", account: "ada", time: time)
      ben = try AnnotationDevice(server, "ben's phone", account: "ben", time: time)
      layer = try ada.store.addLayer(named: "House").id
      note = try ada.store.add(.init(title: "Door", text: "secret words"), to: layer).id
      let image = picture(width: 3, height: 3, red: 9, green: 9, blue: 9)
      try ada.store.attach(ada.file("a.bmp", image), to: note)
      try await ada.store.sync()
      // Somebody the cloud has never seen can't be invited.
      try await ben.store.sync()
      url = try await ada.store.share(layer, with: [.email("ben")], mayWrite: mayWrite)
      try await ben.store.accept(url)
      time.advance()
    }

    func settle() async throws {
      for _ in 0..<2 {
        try await ada.store.sync()
        try await ben.store.sync()
      }
    }
  }

  @Test(
    "R: A shared layer is accepted by a link with all its contents, and edits go both ways")
  func sharedLayerSyncsBothWays() async throws {
    let shared = try await Shared()
    let (ada, ben) = (shared.ada.store, shared.ben.store)
    #expect(ben.canonicalLines == ada.canonicalLines && ben.canonicalLines.count == 2)
    #expect(shared.ben.mediaFiles == shared.ada.mediaFiles && shared.ben.mediaFiles.count == 1)
    #expect(!ben.isOwn(shared.layer) && ben.mayWrite(shared.layer) && ada.isOwn(shared.layer))
    try ben.edit(shared.note) { $0.title = "Gate" }
    let tree = try ben.add(.init(title: "Tree"), to: shared.layer).id
    try ben.comment(on: tree, text: "hm")
    try await ben.sync()
    try await ada.sync()
    #expect(ben.canonicalLines == ada.canonicalLines && ada.canonicalLines.count == 4)
    #expect(shared.ada.titles == ["Gate", "Tree"] && ben.waitingCount == 0)
    #expect(ada.annotation(tree)?.ownerID == ben.account)
    // A contradiction between two people.
    shared.time.advance()
    try ada.edit(shared.note) { $0.title = "early" }
    shared.time.advance()
    try ben.edit(shared.note) { $0.title = "late" }
    try await shared.settle()
    #expect(shared.ada.titles == ["Tree", "late"] && ben.canonicalLines == ada.canonicalLines)
    try ben.deleteAnnotation(tree)
    try await shared.settle()
    #expect(shared.ada.titles == ["late"])
    #expect(throws: AnnotationError.notOwner(shared.layer)) { try ben.deleteLayer(shared.layer) }
  }

  @Test("A shared zone that can't be read keeps no change from being sent, and is read later")
  func unreadableZoneKeepsNoChange() async throws {
    let shared = try await Shared()
    let (ada, ben) = (shared.ada.store, shared.ben.store)
    try await shared.settle()
    try ada.edit(shared.note) { $0.title = "Gate" }
    try await ada.sync()
    let own = try ben.addLayer(named: "Ben's").id
    let before = ben.lastSyncTime
    shared.time.advance()
    shared.server.controls.fail(
      next: 100, with: .internalError,
      in: RequestScope(kind: .fetchZoneChanges, device: "ben's phone"))
    let error = await #expect(throws: CKError.self) { try await ben.sync() }
    #expect(error?.code == .internalError && ben.lastSyncTime == before)
    #expect(ben.waitingCount == 0 && ben.layer(own)?.syncStatus == .synced)
    #expect(shared.ben.titles == ["Door"])
    shared.server.controls.clear()
    try await ben.sync()
    #expect(shared.ben.titles == ["Gate"] && ben.lastSyncTime != before)
  }

  @Test("R: Both the owner and the participant list the participants")
  func bothSidesListParticipants() async throws {
    let shared = try await Shared()
    try await shared.ada.store.sync()
    for device in [shared.ada, shared.ben] {
      let people = device.store.participants(of: shared.layer)
      #expect(people.map(\.isOwner) == [true, false] && people.map(\.hasAccepted) == [true, true])
      #expect(people.map(\.mayWrite) == [true, true], "\(device.link.name)")
      #expect(device.store.shareURL(of: shared.layer) == shared.url)
      #expect(device.store.isShared(shared.layer))
    }
  }

  @Test("R: A participant with read-only permission is refused, on the device and by the cloud")
  func readOnlyParticipantCannotEdit() async throws {
    let shared = try await Shared(mayWrite: false)
    let (ada, ben) = (shared.ada.store, shared.ben.store)
    #expect(shared.ben.titles == ["Door"] && !ben.mayWrite(shared.layer))
    let before = ben.canonicalLines
    let refusals: [() throws -> Void] = [
      { try ben.edit(shared.note) { $0.title = "x" } },
      { try ben.deleteAnnotation(shared.note) },
      { try ben.attach(shared.ben.file("f", Data("x".utf8)), to: shared.note) },
      { try ben.rename(shared.layer, to: "x") },
    ]
    for refusal in refusals { #expect(throws: AnnotationError.self) { try refusal() } }
    #expect(throws: AnnotationError.readOnly(shared.layer)) {
      try ben.add(.init(), to: shared.layer)
    }
    #expect(ben.canonicalLines == before && ben.waitingCount == 0)
    // The right to write is taken away while an edit waits.
    _ = try await ada.share(shared.layer, with: [.email("ben")], mayWrite: true)
    try await ben.sync()
    try ben.edit(shared.note) { $0.title = "mine" }
    shared.ben.link.isOnline = false
    _ = try await ada.share(shared.layer, with: [.email("ben")], mayWrite: false)
    shared.ben.link.isOnline = true
    try await ben.sync()
    #expect(ben.annotation(shared.note)?.syncStatus == .error)
    #expect(ben.refusals.map(\.code) == [CKError.Code.permissionFailure.rawValue])
    let requests = shared.server.controls.requestCount(in: RequestScope(kind: .modifyRecords))
    try await ben.sync()
    #expect(
      shared.server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == requests,
      "what was refused is not sent again unasked")
    try ben.discardEdits(of: shared.note)
    #expect(ben.canonicalLines == ada.canonicalLines && ben.refusals.isEmpty)
  }

  @Test("R: After a revocation the owner keeps the layer, and others lose every local byte of it")
  func revokedShareRemovesParticipantsCopy() async throws {
    for one in [false, true] {
      let shared = try await Shared()
      let (ada, ben) = (shared.ada.store, shared.ben.store)
      try ben.edit(shared.note) { $0.content.text = "unsent secret words" }
      let guest = try #require(
        ben.participants(of: shared.layer).first { !$0.isOwner })
      try await ada.revoke(shared.layer, participant: one ? guest.id : nil)
      try await shared.settle()
      #expect(ben.canonicalLines.isEmpty && ben.waitingCount == 0 && ben.refusals.isEmpty)
      #expect(shared.ben.mediaFiles.isEmpty && ben.layer(shared.layer) == nil)
      #expect(ada.canonicalLines.count == 2 && shared.ada.mediaFiles.count == 1)
      #expect(ada.isShared(shared.layer) == one)
      if !one { #expect(ada.shareURL(of: shared.layer) == nil) }
      await #expect(throws: AnnotationError.self) { try await ben.accept(shared.url) }
      let again = try AnnotationDevice(
        shared.server, "ben's phone, again", account: "ben", folder: shared.ben.folder)
      #expect(again.store.canonicalLines.isEmpty)
    }
  }

  @Test("R: Leaving a layer removes the local copy and keeps the owner's")
  func leavingLayerKeepsOwnersCopy() async throws {
    let shared = try await Shared()
    try await shared.ben.store.leave(shared.layer)
    #expect(shared.ben.store.canonicalLines.isEmpty && shared.ben.mediaFiles.isEmpty)
    try await shared.ada.store.sync()
    #expect(shared.ada.titles == ["Door"])
    await #expect(throws: AnnotationError.notShared(shared.layer)) {
      try await shared.ada.store.leave(shared.layer)
    }
  }

  @Test("R: An annotation moves to another user's layer as a copy, with its file and comments")
  func annotationMovesAsCopyWithComments() async throws {
    let shared = try await Shared()
    let ben = shared.ben.store
    let own = try ben.addLayer(named: "Mine").id
    let note = try ben.add(.init(title: "Ben's"), to: own).id
    try ben.comment(on: note, text: "hm")
    try ben.attach(shared.ben.file("f", Data("file".utf8)), to: note)
    try await ben.sync()
    let moved = try ben.move(note, to: shared.layer)
    #expect(moved.id != note && ben.annotation(note)?.isDeleted == true)
    try await shared.settle()
    #expect(shared.ada.titles == ["Ben's", "Door"] && ben.waitingCount == 0)
    #expect(shared.ada.store.comments(on: moved.id).map(\.text) == ["hm"])
    let place = try #require(shared.ada.store.annotation(moved.id)?.content.mediaURL)
    #expect(try Data(contentsOf: place) == Data("file".utf8))
  }

  @Test("R: A share with an unknown user, of an unsent layer or of another user's layer is refused")
  func impossibleShareIsRefused() async throws {
    let shared = try await Shared()
    let (ada, ben) = (shared.ada.store, shared.ben.store)
    await #expect(throws: AnnotationError.notOwner(shared.layer)) {
      try await ben.share(shared.layer, with: [.anyoneWithLink])
    }
    let fresh = try ada.addLayer(named: "New").id
    await #expect(throws: AnnotationError.notInCloud(fresh)) {
      try await ada.share(fresh, with: [.anyoneWithLink])
    }
    try await ada.sync()
    let nobody = LayerGuest.user("_nobody")
    await #expect(throws: AnnotationError.self) { try await ada.share(fresh, with: [nobody]) }
    await #expect(throws: AnnotationError.notShared(fresh)) { try await ada.revoke(fresh) }
    let url = try await ada.share(fresh, with: [.anyoneWithLink], mayWrite: true)
    let cleo = try AnnotationDevice(shared.server, "cleo's phone", account: "cleo")
    try await cleo.store.accept(url)
    #expect(cleo.store.layers.map(\.name) == ["New"] && cleo.store.mayWrite(fresh))
    await #expect(throws: AnnotationError.shareNotAccepted) {
      try await cleo.store.accept(#require(URL(string: "https://example.com/share/none")))
    }
    try await ada.accept(url)
    #expect(ada.isOwn(fresh), "one's own link is no news")
  }

  @Test("R: A share never replaces the user's own layer, even under the same name")
  func foreignShareReplacesNoOwnLayer() async throws {
    let shared = try await Shared()
    let cleo = try AnnotationDevice(shared.server, "cleo's phone", account: "cleo")
    let layer = Layer(id: testID(1), name: "Cleo's", createdAt: cleo.time.date)
    try cleo.store.save(layer)
    try await cleo.store.sync()
    let theirs = Layer(id: testID(1), name: "Ben's", createdAt: cleo.time.date)
    try shared.ben.store.save(theirs)
    try await shared.ben.store.sync()
    let url = try await cleo.store.share(layer.id, with: [.anyoneWithLink])
    try await shared.ben.store.accept(url)
    #expect(shared.ben.store.layer(layer.id)?.name == "Ben's" && shared.ben.store.isOwn(layer.id))
  }
}
