import CloudKit
import Testing

@Suite("Apps in the styles people write them, on two devices")
struct AppStyleTests {
  /// A container on a device of its own; the app's code only sees `CKContainer(identifier:)`.
  private func container(_ device: String, _ identifier: String) -> CKContainer {
    CloudSyncEnvironment.$current.withValue(.init(variables: ["CLOUDSYNC_DEVICE": device])) {
      CKContainer(identifier: identifier)
    }
  }

  /// Proves CE-11, E1, E5.
  @Test("An actor works as the delegate, with archived system fields, JSON state and a relaunch")
  func actorDelegateSyncsAcrossRelaunch() async throws {
    let phone = ActorApp(container: container("phone", "iCloud.actors"))
    let desk = ActorApp(container: container("desk", "iCloud.actors"))
    await phone.put("milk", id: "1")
    await phone.put("bread", id: "2")
    try await phone.sync()
    try await desk.sync()
    #expect(await desk.titles == ["1": "milk", "2": "bread"])
    // A conflict: both edit, the later sender wins after it took the server's version.
    await phone.put("oat milk", id: "1")
    await desk.put("soy milk", id: "1")
    try await phone.relaunch()
    try await phone.sync()
    try await desk.sync()
    try await phone.sync()
    await desk.remove("2")
    try await desk.sync()
    try await phone.sync()
    #expect(await phone.titles == ["1": "soy milk"])
    #expect(await desk.titles == ["1": "soy milk"])
    #expect(await phone.engine.state.pendingRecordZoneChanges.isEmpty)
  }

  /// Proves CE-11.
  @Test("A main-actor observable class works as the delegate, with state in a property list")
  @MainActor
  func mainActorDelegateSyncsChanges() async throws {
    let phone = MainActorApp(container: container("phone", "iCloud.main"))
    let desk = MainActorApp(container: container("desk", "iCloud.main"))
    let due = Date(timeIntervalSinceReferenceDate: 123456.789012345)
    let id = phone.add("write", due: due)
    try await phone.engine.sendChanges()
    try await desk.engine.fetchChanges()
    #expect(desk.tasks == phone.tasks && desk.tasks.first?.due == due)
    desk.finish(id)
    try await desk.engine.sendChanges()
    try await phone.engine.fetchChanges()
    #expect(phone.tasks.first?.done == true && phone.lastError == nil)
  }

  /// Proves CE-11.
  @Test("A class with a lock works as the delegate, with a synchronous handleEvent")
  func lockedClassDelegateSyncsChanges() async throws {
    let phone = LockedApp(database: container("phone", "iCloud.locked").privateCloudDatabase)
    let desk = LockedApp(database: container("desk", "iCloud.locked").privateCloudDatabase)
    phone.set(1, for: "a")
    phone.set(2, for: "b")
    await phone.sync()
    await desk.sync()
    desk.set(nil, for: "a")
    desk.set(3, for: "b")
    await desk.sync()
    await phone.sync()
    #expect(phone.contents == ["b": 3] && desk.contents == ["b": 3])
  }
}
