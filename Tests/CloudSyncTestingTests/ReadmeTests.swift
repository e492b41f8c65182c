import CloudSync
import Foundation
import LoopbackServer
import Testing

@Test func aNoteIsEditedOnTwoDevices() async throws {
  let server = LoopbackServer()
  let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
  defer { try? FileManager.default.removeItem(at: folder) }
  func launch(_ device: String) throws -> (notes: Notes, engine: CKSyncEngine) {
    let home = folder.appending(path: device)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let notes = try Notes(home)
    let container = CKContainer(
      identifier: "iCloud.example", transport: server.device(device, signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: notes.savedState,
      delegate: notes)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    notes.addUnsent(to: engine.state)
    return (notes, engine)
  }
  let phone = try launch("phone")
  let laptop = try launch("laptop")

  try phone.notes.write("Bread, milk", as: "shopping", phone.engine)
  try await phone.engine.sendChanges()
  try await laptop.engine.fetchChanges()
  #expect(laptop.notes.texts == ["shopping": "Bread, milk"])

  try laptop.notes.write("Bread, tea", as: "shopping", laptop.engine)
  try await laptop.engine.sendChanges()
  try await phone.engine.fetchChanges()
  #expect(phone.notes.texts == ["shopping": "Bread, tea"])
}
