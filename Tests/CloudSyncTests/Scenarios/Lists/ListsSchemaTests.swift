import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@Suite("Scenarios of stores: versions of the app, merges, files, batches")
struct ListsSchemaTests {
  private let world = ListsWorld()
  private var phone: ListsApp { world.phone }

  private static var narrow: ListsTable {
    var table = ListsTable.reminder
    table.fields = ["title"]
    return table
  }

  private func old(_ tables: [ListsTable]) -> ListsApp {
    ListsApp(world.server, "old", tables: tables)
  }

  /// Proves SC-27, SC-83.
  @Test("Records of an unknown type are kept, and appear when the type is known")
  func unknownTypesAppearWhenRegistered() async throws {
    let list = try phone.put("List", "a")
    let item = try phone.put("Reminder", "1", ["title": "one"], under: list)
    let other = try phone.put("Reminder", "2", under: list)
    try await world.sync(phone)
    let old = old([.list])
    try await world.sync(old)
    #expect(old.rows.count == 1 && old.contents.withLock { $0.opaque.count } == 2)
    try phone.delete(other)
    try await world.sync(phone, old)
    #expect(old.contents.withLock { $0.opaque.count } == 1, "a deletion clears what was kept")
    world.server.controls.forgetRequests()
    old.register(.reminder)
    #expect(old.value(item, "title") == "one" && old.parent(item) == list.recordName)
    #expect(world.server.controls.requestCount() == 0, "nothing is downloaded again")
    try await world.sync(old)
    try world.expectSame(phone, old)
  }

  /// Proves SC-79, SC-81.
  @Test("A newer version adds a field, and records of the older version get it")
  func newerFieldReachesOlderRecords() async throws {
    let list = try phone.put("List", "a", ["title": "A"])
    let item = try phone.put("Reminder", "1", ["title": "one", "notes": "n"], under: list)
    try await world.sync(phone)
    let old = old([.list, Self.narrow])
    try await world.sync(old)
    #expect(old.value(item, "title") == "one" && old.value(item, "notes") == nil)
    try phone.put("Reminder", "1", ["title": "two", "notes": "m"])
    try await world.sync(phone, old)
    #expect(old.value(item, "title") == "two")
    // oldSchemaUpdatesNewSchemaRecord: an edit by the old version keeps what it does not know.
    try old.put("Reminder", "1", ["title": "three"])
    try await world.sync(old, phone)
    #expect(phone.value(item, "title") == "three" && phone.value(item, "notes") == "m")
    world.server.controls.forgetRequests()
    old.register(.reminder)
    #expect(old.value(item, "notes") == "m" && world.server.controls.requestCount() == 0)
    try world.expectSame(phone, old)
  }

  /// Proves SC-82.
  @Test("Records of the older schema get defaults, then the values of a newer client")
  func missingFieldsGetDefaultsFirst() async throws {
    let old = old([.list, Self.narrow])
    let list = try old.put("List", "a")
    let item = try old.put("Reminder", "1", ["title": "one"], under: list)
    try await world.sync(old)
    var table = ListsTable.reminder
    table.defaults = ["notes": "none"]
    phone.register(table)
    try await world.sync(phone)
    #expect(phone.value(item, "notes") == "none")
    try phone.put("Reminder", "1", ["title": "two"])
    try await world.sync(phone)
    let record = try await phone.container.privateCloudDatabase.record(for: item)
    #expect(record["notes"] as? String == "none" && record["title"] as? String == "two")
  }

  /// Proves SC-78.
  @Test("The records of a type that is registered a launch late are all uploaded")
  func lateRegisteredTypeIsUploaded() async throws {
    let app = ListsApp(world.server, "late", tables: ListsTable.all, starts: false)
    let list = try app.put("List", "a")
    try app.put("Reminder", "1", under: list)
    try app.put("Reminder", "2", under: list)
    app.contents.withLock { $0.tables["Reminder"] = nil }
    app.start()
    try await world.sync(app)
    #expect(try world.stored() == ["List:a"])
    app.stop()
    app.start()
    app.register(.reminder)
    try await world.sync(app, world.desk)
    #expect(try world.stored() == ["List:a", "Reminder:1", "Reminder:2"])
    try world.expectSame(app, world.desk)
  }

  /// Proves SC-73, SC-74, SC-75, SC-76.
  @Test(
    "Edits of different fields are merged; of the same field the later one stays",
    arguments: [(1, 2, false), (2, 1, false), (1, 2, true), (2, 1, true)])
  func differentFieldEditsAreMerged(ours: Int, theirs: Int, fetchingFirst: Bool) async throws {
    let desk = world.desk
    let list = try phone.put("List", "a")
    let item = try phone.put("Reminder", "1", under: list, at: 0)
    try await world.sync(phone, desk)
    // Both fields were empty; each device sets another one.
    try desk.put("Reminder", "1", ["title": "theirs"], at: theirs)
    try await world.sync(desk)
    try phone.put("Reminder", "1", ["notes": "ours"], at: ours)
    try await phone.sync(fetchingFirst: fetchingFirst)
    try await world.sync(phone, desk)
    #expect(desk.value(item, "title") == "theirs" && desk.value(item, "notes") == "ours")
    try world.expectSame(phone, desk)
    let record = try await phone.container.privateCloudDatabase.record(for: item)
    #expect(record["title_at"] as? Int == theirs && record["notes_at"] as? Int == ours)
  }

  /// Proves SC-59, SC-60, SC-61.
  @Test("The newest content of an asset stays on every device")
  func newestAssetContentStaysEverywhere() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("covers-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    func cover(_ text: String) throws -> String {
      let file = folder.appendingPathComponent(text)
      try Data(text.utf8).write(to: file)
      return file.path
    }
    func read(_ app: ListsApp, _ id: CKRecord.ID) throws -> String {
      try String(contentsOfFile: app.value(id, "cover") ?? "", encoding: .utf8)
    }
    let list = try phone.put("List", "a", ["cover": try cover("first")])
    try await world.sync(phone, world.desk)
    #expect(try read(world.desk, list) == "first")
    try phone.put("List", "a", ["cover": try cover("second")])
    try await world.sync(phone)
    try await world.desk.engine(.private)?.fetchChanges()
    #expect(try read(world.desk, list) == "second")
    let late = ListsApp(world.server, "late")
    try await world.sync(late)
    #expect(try read(late, list) == "second")
  }

  /// Proves SC-68.
  @Test("Many children that arrive before their list are all accepted")
  func childrenBeforeParentAreAllAccepted() async throws {
    let list = try phone.put("List", "a", ["title": "A"])
    for number in 0..<500 { try phone.put("Reminder", "\(number)", under: list) }
    try await world.sync(phone)
    try phone.put("List", "a", ["title": "last"])
    try await world.sync(phone, world.desk)
    #expect(world.desk.rows.count == 501)
    try world.expectSame(phone, world.desk)
  }
}
