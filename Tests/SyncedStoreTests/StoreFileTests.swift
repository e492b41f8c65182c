import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

/// The two files of a store: the items and the engine's state.
@Suite("The files of a SyncedStore", .timeLimit(.minutes(20)))
struct StoreFileTests {
  private let server = LoopbackServer()

  private static func items(_ folder: TemporaryFolder) -> URL {
    folder.url.appendingPathComponent(SyncedStore.FileNames().items)
  }

  private static func engineState(_ folder: TemporaryFolder) -> URL {
    folder.url.appendingPathComponent(SyncedStore.FileNames().state)
  }

  /// Whether the next launch of the app fetches everything.
  private func startsOver(_ folder: TemporaryFolder) throws -> Bool? {
    let device = try NoteDevice(server, "phone", folder: folder)
    return device.store.state.withLock { $0.run.map { $0.firstFetch != nil } }
  }

  @Test("A launch continues from the last state of the engine, and from no older one")
  func launchContinuesFromTheLastState() async throws {
    let folder = TemporaryFolder()
    #expect(try startsOver(folder) == true, "a new store")
    var states: [Data] = []
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      for name in ["a", "b", "c", "d"] {
        try phone.write(name, "text")
        try await phone.store.sync()
        let state = try Data(contentsOf: Self.engineState(folder))
        if states.last != state { states.append(state) }
      }
      try await phone.store.shutDown()
    }
    #expect(states.count == 4)
    #expect(try Data(contentsOf: Self.engineState(folder)) == states[3])
    #expect(try startsOver(folder) == false)
    try states[0].write(to: Self.engineState(folder))
    #expect(try startsOver(folder) == true, "the items may be newer")
  }

  @Test("The state before the last one is accepted: the last one may have been lost in a crash")
  func stateBeforeTheLastIsAccepted() {
    var settings = StoreSettings()
    for checksum in ["1", "2", "3"] { settings.noteState(checksum) }
    #expect(settings.states == ["2", "3"])
  }

  @Test("States that could not be written do not take the place of the one on the disk")
  func failedWritesLeaveTheState() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "text")
      try await phone.store.sync()
      // A folder in the place of the new file: the state can't be replaced.
      let obstacle = Self.engineState(folder).appendingPathExtension("new")
      try FileManager.default.createDirectory(
        at: obstacle.appendingPathComponent("x"), withIntermediateDirectories: true)
      for name in ["b", "c", "d"] {
        try phone.write(name, "text")
        try? await phone.store.sync()
      }
      let states = phone.store.state.withLock { $0.table.settings.states }
      let state = try Data(contentsOf: Self.engineState(folder))
      #expect(states.count == 2 && states.first == AtomicFile.checksum(state))
      try FileManager.default.removeItem(at: obstacle)
      // The app is killed.
    }
    #expect(try startsOver(folder) == false)
    let phone = try NoteDevice(server, "phone", folder: folder)
    #expect(
      phone.store.state.withLock { $0.table.settings.states }.count == 1, "the others are lost")
    try await phone.store.sync()
    #expect(phone.texts.count == 4)
    try await phone.store.shutDown()
  }

  @Test("After a stop the engine's state is forgotten, also one that is there again")
  func stopForgetsTheState() async throws {
    let folder = TemporaryFolder()
    let state: Data
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "text")
      try await phone.store.sync()
      state = try Data(contentsOf: Self.engineState(folder))
      try phone.store.stop()
      #expect(!FileManager.default.fileExists(atPath: Self.engineState(folder).path))
    }
    try state.write(to: Self.engineState(folder))
    #expect(try startsOver(folder) == true)
    let again = try NoteDevice(server, "phone", folder: folder)
    #expect(again.texts == ["a": "text"])
  }

  @Test("Imported items are on the disk when the store is open, and are imported once")
  func importedItemsAreOnTheDisk() throws {
    let folder = TemporaryFolder()
    for launch in 0..<2 {
      let store = try SyncedStore(
        zoneID: NoteDevice.zone, directory: folder.url,
        types: [SyncedType(Note.self, merging: Note.later)],
        importing: { content in
          #expect(launch == 0)
          try content.add(Note("a", "imported"))
        })
      #expect(store.items(Note.self).map(\.text) == ["imported"])
    }
  }

  @Test("The file of the items stays within a few times their size", arguments: [true, false])
  func fileOfTheItemsIsBounded(isReceived: Bool) throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    let text = String(repeating: "x", count: 100_000)
    for number in 0..<20 {
      if isReceived {
        let record = CKRecord(
          recordType: Note.recordType,
          recordID: CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone))
        Note("a", text, modified: Double(number)).copy(to: record)
        try phone.store.receive([record])
      } else {
        try phone.write("a", text, Double(number))
      }
    }
    let size = try Data(contentsOf: Self.items(phone.folder)).count
    #expect(size > 100_000 && size < 600_000)
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    #expect(again.store.items(Note.self).map(\.modified) == [19])
  }

  @Test("Items of a damaged file whose account is lost are not sent to the account signed in")
  func itemsOfALostAccountAreNotSent() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "anna's")
      try await phone.store.sync()
      try phone.write("b", "anna's draft")
      try await phone.store.shutDown()
    }
    let lines = try String(contentsOf: Self.items(folder), encoding: .utf8).split(separator: "\n")
    let kept = [lines[0]] + lines.filter { $0.contains(#""n":["b"]"#) && !$0.contains("settings") }
    #expect(kept.count > 1)
    try Data((kept.joined(separator: "\n") + "\ngarbage\n").utf8).write(to: Self.items(folder))
    let phone = try NoteDevice(server, "phone", account: "ben", folder: folder, recovering: true)
    #expect(phone.texts == ["b": "anna's draft"] && phone.store.recoveries.count == 1)
    try? await phone.store.sync()
    try await phone.store.sync()
    #expect(phone.texts == [:])
    #expect(phone.store.recoveries.isEmpty, "the copy went with the items")
    #expect(phone.store.state.withLock { !$0.mustRewrite })
    let desk = try NoteDevice(server, "desk", account: "ben")
    try await desk.store.sync()
    #expect(desk.texts == [:])
  }

  @Test("Items of a damaged file that never had an account stay, and are sent after the sign-in")
  func itemsWithoutAccountAreRecovered() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", account: nil, folder: folder, isStarted: false)
      try phone.write("a", "one")
      try phone.write("b", "two")
    }
    var file = try String(contentsOf: Self.items(folder), encoding: .utf8)
    file.replace("two", with: "2")
    try Data(file.utf8).write(to: Self.items(folder))
    let phone = try NoteDevice(server, "phone", folder: folder, recovering: true)
    #expect(phone.texts == ["a": "one"] && phone.store.recoveries.count == 1)
    try await phone.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(phone.texts == ["a": "one"] && desk.texts == phone.texts)
    #expect(phone.store.recoveries.count == 1, "the copy has what could not be read")
  }

  @Test("Records received before the first sign-in go with it; the items made before it stay")
  func receivedBeforeTheSignInIsRemoved() async throws {
    let phone = try NoteDevice(server, "phone", account: nil, isStarted: false)
    try phone.write("a", "mine")
    for (name, zone) in [("b", NoteDevice.zone), ("c", CKRecordZone.ID(zoneName: "Other"))] {
      let record = CKRecord(
        recordType: Note.recordType, recordID: CKRecord.ID(recordName: name, zoneID: zone))
      Note(name, "received").copy(to: record)
      try phone.store.receive([record], deleted: [CKRecord.ID(recordName: "a", zoneID: zone)])
    }
    #expect(phone.texts == ["a": "mine", "b": "received"], "another zone is not the store's")
    phone.link.signIn(as: "anna")
    try phone.start()
    try await phone.store.sync()
    #expect(phone.texts == ["a": "mine"] && phone.store.status.unsentCount == 0)
  }

  @Test("While the engine runs, a change writes no state: the items tell what is pending")
  func aChangeWritesNoState() async throws {
    let phone = try NoteDevice(server, "phone")
    try await phone.store.sync()
    let state = try Data(contentsOf: Self.engineState(phone.folder))
    for number in 0..<100 { try phone.write("\(number)", "text") }
    try await phone.store.fetchChanges()
    try await phone.store.shutDown()
    #expect(try Data(contentsOf: Self.engineState(phone.folder)) != state)
    let again = try NoteDevice(server, "phone", folder: phone.folder)
    for number in 100..<200 { try again.write("\(number)", "text") }
    let pending = again.store.state.withLock { $0.run?.pending.pendingRecordZoneChanges.count }
    #expect(pending == 200)
    let stored = again.store.state.withLock { $0.run?.engineState.saved }
    #expect(stored == nil, "nothing was stored since the launch")
    // The app is killed.
    let last = try NoteDevice(server, "phone", folder: phone.folder)
    try await last.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(desk.texts.count == 200)
  }

  @Test("A store that finds changes of a second store on its folder when it writes reports that")
  func changesOfASecondStoreAreReported() throws {
    let first = try NoteDevice(server, "phone", isStarted: false)
    try first.write("a", "text")
    let second = try NoteDevice(server, "phone", folder: first.folder, isStarted: false)
    try second.write("b", "text")
    #expect(second.store.status.activity.problems == [])
    try first.write("c", "text")
    let problem = first.store.status.activity.problems.first
    #expect(problem?.message.hasPrefix("Another store has changed the same file.") == true)
    #expect(first.texts.keys.sorted() == ["a", "c"])
    let again = try NoteDevice(server, "phone", folder: first.folder, isStarted: false)
    #expect(again.texts.keys.sorted() == ["a", "b", "c"])
    #expect(again.store.status.activity.problems == [])
  }

  @Test("A store whose items are of another container does not start, and changes nothing")
  func stateOfAnotherContainerIsRefused() async throws {
    let folder = TemporaryFolder()
    let phone = try NoteDevice(server, "phone", folder: folder)
    try phone.write("a", "text")
    try await phone.store.sync()
    try await phone.store.shutDown()
    let state = try Data(contentsOf: Self.engineState(folder))
    let other = try NoteDevice(server, "phone", folder: folder, isStarted: false)
    let container = CKContainer(identifier: "iCloud.com.example.other", transport: other.link)
    let error = #expect(throws: SyncedStoreError.self) { try other.store.start(container) }
    #expect(error?.code == .otherDatabase)
    #expect(!other.store.status.isRunning && other.texts == ["a": "text"])
    #expect(try Data(contentsOf: Self.engineState(folder)) == state)
    try other.start()
    try await other.store.sync()
    #expect(other.texts == ["a": "text"])
  }

  @Test("A deletion elsewhere is followed, though the answer to the save was lost in a crash")
  func deletionAfterALostAnswerIsFollowed() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try await phone.store.sync()
      try phone.write("a", "text")
      // The app is killed after the batch was handed over: nothing later is stored.
      let pending = try #require(phone.store.state.withLock { $0.run?.engine?.state })
      let batch = await phone.store.nextBatch(.all, pending)
      #expect(batch?.recordsToSave.map(\.recordID.recordName) == ["a"])
    }
    let phone = try NoteDevice(server, "phone", folder: folder)
    let change = phone.store.state.withLock { state in
      state.table[state.table.recordID("a", in: nil)]?.change
    }
    #expect(change?.wasOffered == true, "the server may have the record")
    try phone.store.delete(Note("a", ""))
    let pending = phone.store.state.withLock { $0.run?.pending.pendingRecordZoneChanges }
    let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)
    #expect(pending == [.deleteRecord(id)], "so its deletion is sent")
  }

  @Test("A stop whose change can't be stored ends the sync and forgets the engine's state")
  func failedStopStillStops() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    try await phone.store.sync()
    let names = SyncedStore.FileNames()
    let (items, state) = (
      phone.folder.url.appending(path: names.items), phone.folder.url.appending(path: names.state)
    )
    let content = try Data(contentsOf: items)
    #expect(FileManager.default.fileExists(atPath: state.path))
    try FileManager.default.removeItem(at: items)
    try FileManager.default.createDirectory(at: items, withIntermediateDirectories: false)
    #expect(throws: FileError.self) { try phone.store.stop() }
    #expect(!phone.store.status.isRunning)
    #expect(!FileManager.default.fileExists(atPath: state.path))
    try FileManager.default.removeItem(at: items)
    try content.write(to: items)
    try phone.store.start()
    try await phone.store.sync()
    #expect(phone.texts == ["a": "text"] && phone.store.unsentRecordIDs == [])
    try await phone.store.shutDown()
  }

  @Test("While a former account's items can't be erased, no change of the next account is stored")
  func changeWaitsForTheErasure() async throws {
    let folder = TemporaryFolder()
    let draft = Self.items(folder).appendingPathExtension("new")
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "anna's")
      try await phone.store.sync()
      try phone.write("b", "anna's draft")
      // A folder in the place of the new file: the file can be appended to, and not rewritten.
      try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: false)
      phone.link.signIn(as: "ben")
      try? await phone.store.sync()
      #expect(phone.texts == [:] && phone.store.state.withLock { $0.mustRewrite })
      #expect(throws: FileError.self) { try phone.write("c", "ben's") }
      #expect(phone.texts == [:])
      try FileManager.default.removeItem(at: draft)
      try phone.write("c", "ben's")
      #expect(try !String(contentsOf: Self.items(folder), encoding: .utf8).contains("anna's"))
    }
    // The app was killed.
    let phone = try NoteDevice(server, "phone", account: "ben", folder: folder)
    try await phone.store.sync()
    let desk = try NoteDevice(server, "desk", account: "ben")
    try await desk.store.sync()
    #expect(phone.texts == ["c": "ben's"] && desk.texts == phone.texts)
  }

  @Test("The copy of a damaged file goes with the account, also if its file can't be erased yet")
  func copyGoesBeforeTheErasure() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "anna's")
      try await phone.store.sync()
      try await phone.store.shutDown()
    }
    let file = Self.items(folder)
    try (Data(contentsOf: file) + Data("garbage\n".utf8)).write(to: file)
    let phone = try NoteDevice(server, "phone", folder: folder, recovering: true)
    let copy = try #require(phone.store.recoveries.first?.copy)
    #expect(FileManager.default.fileExists(atPath: copy.path))
    // A folder in the place of the new file.
    let obstacle = file.appendingPathExtension("new")
    try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
    phone.link.signIn(as: "ben")
    try? await phone.store.sync()
    #expect(phone.texts == [:] && phone.store.state.withLock { $0.mustRewrite })
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    try FileManager.default.removeItem(at: obstacle)
    try await phone.store.shutDown()
  }

  @Test("The copies of a file are removed also if the file can't be")
  func copiesAreRemovedWithoutTheFile() throws {
    let folder = TemporaryFolder()
    let file = AtomicFile(folder.url.appendingPathComponent("file"))
    try file.write(Data([1]))
    let copy = try #require(try file.setAside())
    // A folder in the place of its draft can't be removed as a file.
    try FileManager.default.createDirectory(
      at: file.url.appendingPathExtension("new"), withIntermediateDirectories: false)
    #expect(throws: FileError.self) { try file.remove() }
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    #expect(try file.read() == Data([1]))
  }

  @Test("After damage of the settings in a rewritten file, unsent edits of the account are sent")
  func unsentEditsSurviveDamageOfTheSettings() async throws {
    let folder = TemporaryFolder()
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try await phone.store.sync()
      let text = String(repeating: "x", count: 100_000)
      for number in 0..<6 { try phone.write("a", text, Double(number)) }
      try phone.write("b", "unsent")
      // The app is killed.
    }
    var file = try String(contentsOf: Self.items(folder), encoding: .utf8)
    #expect(file.utf8.count < 500_000, "it was rewritten")
    let owner = try #require(file.range(of: #""owner":"#))
    file.replaceSubrange(owner, with: #""owned":"#)
    try Data(file.utf8).write(to: Self.items(folder))
    let phone = try NoteDevice(server, "phone", folder: folder, recovering: true)
    #expect(phone.store.recoveries.count == 1)
    try await phone.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(phone.texts["b"] == "unsent" && desk.texts == phone.texts)
  }
}
