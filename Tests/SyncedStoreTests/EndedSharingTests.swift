import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: a zone that is not shared any more", .timeLimit(.minutes(20)))
struct EndedSharingTests {
  let server = LoopbackServer()

  private func participant(
    _ url: URL, in folder: TemporaryFolder
  ) async throws -> (store: SyncedStore, container: CKContainer) {
    let link = server.device("tablet", signedInAs: "ben")
    let container = CKContainer(identifier: NoteDevice.container, transport: link)
    let zone = try await SyncedStore.accept(url, in: container)
    return (try open(zone, container, folder), container)
  }

  private func open(
    _ zone: CKRecordZone.ID, _ container: CKContainer, _ folder: TemporaryFolder
  ) throws -> SyncedStore {
    let store = try SyncedStore(
      zoneID: zone, directory: folder.url, types: [SyncedType(Note.self, merging: Note.later)])
    store.connect(to: container, scope: .shared, automaticallySync: false)
    try store.start()
    return store
  }

  @Test("A save into a zone that is known not to be shared any more throws, also in later launches")
  func saveAfterTheEndIsRefused() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "for ben")
    let url = try #require(
      try await phone.store.share { $0.publicPermission = .readWrite }.url)
    let folder = TemporaryFolder()
    let (store, container) = try await participant(url, in: folder)
    try store.save(Note("b", "before the first sync"))
    try await store.sync()
    try await phone.store.endSharing()
    try await store.sync()
    #expect(store.items(Note.self) == [] && store.zoneIDs == [])
    let error = #expect(throws: SyncedStoreError.self) { try store.save(Note("c", "late")) }
    #expect(error?.code == .notShared && store.status.unsentCount == 0)
    try await store.shutDown()
    let again = try open(store.zoneID, container, folder)
    #expect(throws: SyncedStoreError.self) { try again.save(Note("c", "late")) }

    let newURL = try #require(
      try await phone.store.share { $0.publicPermission = .readWrite }.url)
    _ = try await SyncedStore.accept(newURL, in: container)
    try await again.sync()
    try again.save(Note("c", "shared again"))
    try await again.sync()
    try await phone.store.sync()
    #expect(phone.texts["c"] == "shared again")
    for store in [again, phone.store] { try await store.shutDown() }
  }

  @Test("Changes that were made before the end of the sharing was known are reported as lost")
  func lostChangesAreReported() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "for ben")
    let url = try #require(
      try await phone.store.share { $0.publicPermission = .readWrite }.url)
    let (store, _) = try await participant(url, in: TemporaryFolder())
    try await store.sync()
    try await phone.store.endSharing()
    try store.save(Note("b", "not known yet"))
    try await store.sync()
    let problem = store.status.activity.problems.first
    #expect(problem?.name == NoteDevice.zone.zoneName && problem?.code == .zoneNotFound)
    #expect(problem?.message.hasPrefix("1 unsent change was lost: the zone Notes is not") == true)
    #expect(store.status.unsentCount == 0 && store.items(Note.self) == [])
    for store in [store, phone.store] { try await store.shutDown() }
  }
}
