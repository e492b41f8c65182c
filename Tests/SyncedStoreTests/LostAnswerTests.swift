import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

/// Versions that the server has, although their answers were lost.
@Suite("SyncedStore: lost answers", .timeLimit(.minutes(20)))
struct LostAnswerTests {
  let server = LoopbackServer()

  private static let modify = RequestScope(kind: .modifyRecords)

  /// Numbers that devices count up on their own.
  private static let counting = MergePolicy<Note>.threeWay { base, mine, theirs in
    func number(_ note: Note?) -> Int { note.flatMap { Int($0.text) } ?? 0 }
    var merged = theirs
    merged.text = "\(number(mine) + number(theirs) - number(base))"
    return merged
  }

  @Test(
    "An own version whose answer was lost is no conflict, however many edits follow",
    arguments: [1, 2, 3, 40], [false, true])
  func ownVersionIsNoConflict(edits: Int, isRestarted: Bool) async throws {
    for policy in [Self.counting, .serverWins] {
      let name = "note \(UUID().uuidString)"
      var phone = try NoteDevice(server, "phone", merging: policy)
      try await phone.store.sync()
      try phone.write(name, "1")
      server.controls.dropAnswers(in: Self.modify)
      try? await phone.store.sendChanges()
      #expect(phone.store.isUnsent(name))
      for edit in 0..<edits {
        if isRestarted {
          phone = try NoteDevice(server, "phone", folder: phone.folder, merging: policy)
        }
        try phone.write(name, "\(2 + edit)")
        // Every second edit is handed over, too, and does not leave the device.
        guard edit % 2 == 1 else { continue }
        phone.link.isOnline = false
        try? await phone.store.sendChanges()
        phone.link.isOnline = true
      }
      try await phone.store.sync()
      #expect(phone.texts[name] == "\(1 + edits)")
      #expect(phone.store.status.activity.conflicts == [])
      try await phone.store.shutDown()
      let desk = try NoteDevice(server, "desk", merging: policy)
      try await desk.store.sync()
      #expect(desk.texts[name] == "\(1 + edits)")
      try await desk.store.shutDown()
    }
  }

  @Test("An edit of another device on top of an own version whose answer was lost is merged")
  func editOnTopIsMerged() async throws {
    let phone = try NoteDevice(server, "phone", merging: Self.counting)
    let desk = try NoteDevice(server, "desk", merging: Self.counting)
    try phone.write("a", "1")
    server.controls.dropAnswers(in: Self.modify)
    try? await phone.store.sendChanges()
    try await desk.store.sync()
    try desk.write("a", "11")
    try await desk.store.sync()
    try phone.write("a", "2")
    try phone.write("a", "3")
    for device in [phone, desk, phone] { try await device.store.sync() }
    // No answer said that the server has the 1, so the merge has no base to subtract.
    for device in [phone, desk] { #expect(device.texts == ["a": "14"]) }
    #expect(phone.store.status.activity.conflicts.map(\.resolution) == [.merged])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A missing zone is created once for all records that were refused, and they are sent")
  func missingZoneIsFoundOnce() async throws {
    let phone = try NoteDevice(server, "phone")
    try await phone.store.sync()
    try await phone.store.sendChanges(creatingZone: true)
    let database = CKContainer(identifier: NoteDevice.container, transport: phone.link)
      .privateCloudDatabase
    _ = try await database.deleteRecordZone(withID: NoteDevice.zone)
    try phone.store.change { change in
      for number in 0..<600 { try change.save(Note("\(number)", "text")) }
    }
    let before = phone.store.state.withLock { $0.table.lastNumber }
    try? await phone.store.sendChanges()
    try await phone.store.sync()
    // Each record has a new change when the sends find it, and one when the fetch tells of it.
    #expect(phone.store.state.withLock { $0.table.lastNumber } <= before + 1_200)
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(desk.texts.count == 600)
    for device in [phone, desk] { try await device.store.shutDown() }
  }
}
