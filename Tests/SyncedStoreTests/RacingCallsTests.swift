import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

@Suite("SyncedStore: calls that meet others", .timeLimit(.minutes(20)))
struct RacingCallsTests {
  private let server = LoopbackServer()
  private let modify = RequestScope(kind: .modifyRecords)

  private static func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: NoteDevice.zone)
  }

  @Test("A store that is started while it shuts down syncs afterwards")
  func startDuringShutDownWins() async throws {
    let phone = try NoteDevice(server, "phone")
    for round in 0..<50 {
      // Noted at once, and forgotten by the shutdown, which has begun then.
      try phone.store.start()
      let ended = Task { try await phone.store.shutDown() }
      while phone.store.state.withLock({ $0.restart != nil }) { await Task.yield() }
      try phone.store.start()
      try await ended.value
      #expect(phone.store.status.isRunning, "round \(round)")
    }
    try phone.write("a", "text")
    try await phone.store.sync()
    #expect(phone.store.status.unsentCount == 0)
    try await phone.store.shutDown()
    #expect(!phone.store.status.isRunning)
  }

  @Test("A change that is given up while it is sent comes back if the server accepts it")
  func acceptedChangeComesBackAfterRevert() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    try phone.write("a", "base")
    try await phone.store.sync()
    try phone.write("a", "sent", 2)
    try phone.write("b", "new", 2)
    server.controls.hold(next: 1, in: modify)
    async let sent: Void = phone.store.sendChanges()
    await server.controls.waitForHeldRequests(in: modify)
    try await phone.store.revert(Note.self, named: "a")
    try await phone.store.revert(Note.self, named: "b")
    #expect(phone.texts == ["a": "base"] && phone.store.status.unsentCount == 0)
    server.controls.release(in: modify)
    try await sent
    try await desk.store.sync()
    #expect(phone.texts == ["a": "sent", "b": "new"] && desk.texts == phone.texts)
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A refusal of a change that was given up meanwhile is no problem of the item")
  func refusalAfterRevertIsNoProblem() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "base")
    try await phone.store.sync()
    try phone.write("a", "refused", 2)
    server.controls.fail(next: 1, with: .invalidArguments, in: modify)
    server.controls.hold(next: 1, in: modify)
    async let sent: Void = phone.store.sendChanges()
    await server.controls.waitForHeldRequests(in: modify)
    try await phone.store.revert(Note.self, named: "a")
    server.controls.release(in: modify)
    try? await sent
    #expect(phone.texts == ["a": "base"] && phone.store.status.unsentCount == 0)
    #expect(phone.store.status.activity.problems.isEmpty)
    try await phone.store.shutDown()
  }

  @Test("A fetch says nothing about a zone that was found missing after it had begun")
  func laterMissingZoneIsNotCreated() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    try await phone.store.sync()
    let engine = try #require(phone.store.state.withLock { $0.run?.engine })
    phone.store.state.withLock { _ = $0.table.missingZones.insert(NoteDevice.zone) }
    phone.store.fetchEnded(of: engine, missing: [])
    #expect(phone.store.state.withLock { $0.table.missingZones } == [NoteDevice.zone])
    #expect(phone.store.unsentRecordIDs == [])
    try await phone.store.sync()
    #expect(phone.store.state.withLock { $0.table.missingZones.isEmpty })
    try await phone.store.shutDown()
  }

  @Test("What was handed to the engine is stored later if the disk fails at that moment")
  func handedOverChangesAreStoredLater() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    let items = phone.folder.url.appendingPathComponent(SyncedStore.FileNames().items)
    let aside = phone.folder.url.appendingPathComponent("aside")
    let files = FileManager.default
    try files.moveItem(at: items, to: aside)
    try files.createDirectory(at: items, withIntermediateDirectories: false)
    server.controls.hold(next: 1, in: modify)
    async let sent: Void = phone.store.sendChanges()
    await server.controls.waitForHeldRequests(in: modify)
    try files.removeItem(at: items)
    try files.moveItem(at: aside, to: items)
    try phone.store.state.withLock { try $0.flush() }
    let copy = TemporaryFolder()
    try files.copyItem(at: phone.folder.url, to: copy.url)
    let killed = try NoteDevice(server, "killed", folder: copy, isStarted: false)
    let change = killed.store.state.withLock { $0.table[Self.id("a")]?.change }
    #expect(change?.isHandedOver == true && change?.wasOffered == true)
    server.controls.release(in: modify)
    try await sent
    try await phone.store.shutDown()
  }

  @Test("A record that the app receives while its zone is read is not taken for deleted")
  func recordReceivedDuringAReadStays() async throws {
    let phone = try NoteDevice(server, "phone")
    phone.store.state.withLock { $0.run?.readZones[NoteDevice.zone] = SyncedStore.ZoneRead() }
    let records = ["a", "b"].map { name in
      let record = CKRecord(recordType: Note.recordType, recordID: Self.id(name))
      Note(name, "found").copy(to: record)
      return record
    }
    try phone.store.receive(records)
    try phone.store.receive([], deleted: [Self.id("b")])
    phone.store.state.withLock { state in
      let read = state.run?.readZones.removeValue(forKey: NoteDevice.zone)
      #expect(read?.records == [Self.id("a")])
      state.table.takeZone(NoteDevice.zone, has: read?.records ?? [])
    }
    #expect(phone.texts == ["a": "found"])
    try await phone.store.shutDown()
  }

  @Test("A stop leaves the copy of a damaged state, which the store lists")
  func stopLeavesCopies() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "text")
      try await phone.store.sync()
      try await phone.store.shutDown()
    }
    let state = folder.url.appendingPathComponent(SyncedStore.FileNames().state)
    try Data("damaged".utf8).write(to: state)
    let phone = try NoteDevice(server, "phone", folder: folder, recovering: true)
    let copy = try #require(phone.store.recoveries.first?.copy)
    try phone.store.stop()
    #expect(try Data(contentsOf: copy) == Data("damaged".utf8))
  }
}
