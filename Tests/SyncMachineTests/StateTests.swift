import CloudProtocol
import Foundation
import Records
import SyncMachine
import Testing

@Suite("State, its bytes and its page")
struct StateTests {
  static var sample: SyncState {
    var state = SyncState()
    state.user = UserID("_a")
    state.databaseToken = .at(4)
    state.zoneTokens = [Story.zone: .at(5), ZoneID(name: "B", owner: "_x"): .at(6)]
    state.changedZones = [ZoneID(name: "C")]
    state.expiredZones = [ZoneID(name: "C")]
    state.hasUntrackedChanges = true
    state.subscription = SyncMachine.ownSubscription
    state.zones.add(PendingChange(.delete, ZoneID(name: "D")))
    state.records.add(PendingChange(.save, Story.id("é")))
    state.records.add(PendingChange(.delete, RecordID(name: "b", zone: ZoneID(name: "E"))))
    return state
  }

  /// Proves CE-87, E3, SC-162.
  @Test("Equal states give equal bytes and are decoded from them")
  func stateEncodingRoundTrips() throws {
    let bytes = StateTests.sample.encoded()
    let back = try SyncState(decoding: bytes)
    #expect(back == StateTests.sample)
    #expect(back.encoded() == bytes)
    #expect(StateTests.sample.encoded() == bytes)
  }

  /// Proves E3, I20.
  @Test("A state with any flipped bit or truncation is refused")
  func damagedStateIsRefused() {
    let bytes = StateTests.sample.encoded()
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << UInt8(bit)
        #expect(throws: StateFormatError.self) { try SyncState(decoding: damaged) }
      }
      #expect(throws: StateFormatError.self) { try SyncState(decoding: Array(bytes[..<index])) }
    }
  }

  /// Proves E3.
  @Test("A newer state format is refused with that reason")
  func newerStateFormatIsRefused() {
    var bytes = StateTests.sample.encoded()
    bytes[5] = SyncState.formatVersion + 1
    #expect(throws: StateFormatError.future(version: SyncState.formatVersion + 1)) {
      try SyncState(decoding: bytes)
    }
  }

  /// Proves I11.
  @Test("The journal of a machine reproduces its state")
  func journalReproducesState() throws {
    var story = Story(stores: true)
    story.machine.start(now: story.now)
    story.save("a", "b", "c")
    story.machine.remove([PendingChange(.save, Story.id("b"))], now: story.now)
    story.send()
    story.answer(.success(.currentUser(Story.user)))
    story.answerRecords(["c": .networkFailure])
    story.fetch(2)
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(FetchStoryTests.page(["x"], 3))
    var state = SyncState()
    story.store()
    let entry = StateChange.encoded(story.stored)
    for change in try StateChange.decoded(entry) { state.apply(change) }
    #expect(state == story.machine.state)
    #expect(story.pending == ["save c"])
  }

  /// Proves CE-45.
  @Test("Pending changes keep their order and positions through many steps")
  func pendingChangesKeepOrder() {
    let ids = (0..<1_000).map { Story.id("\($0)") }
    var changes = PendingChanges<RecordID>()
    for id in ids { changes.add(PendingChange(.save, id)) }
    for id in ids[..<900] { changes.remove(PendingChange(.save, id)) }
    #expect(changes.pending.map(\.id) == Array(ids[900...]))
    let wasTaken = changes.take(PendingChange(.save, ids[950]))
    let remainder = changes.settle(ids[950], returns: true)
    #expect(wasTaken && remainder == .pending(.save))
    #expect(changes.pending.map(\.id) == Array(ids[900...]))
  }

  @Test("Docs/StateMachine.md is the table that the machine asserts")
  func stateMachinePageMatchesTable() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Docs/StateMachine.md")
    if ProcessInfo.processInfo.environment["CLOUDSYNC_RECORD"] == "1" {
      try Data(Stage.markdown.utf8).write(to: page)
    }
    let printed = try String(contentsOf: page, encoding: .utf8)
    #expect(
      printed == Stage.markdown,
      "CLOUDSYNC_RECORD=1 swift test --filter stateMachinePageMatchesTable writes the page")
  }

  /// Proves E3.
  @Test("A state of format 1, written by the first version, can still be opened")
  func firstFormatStateStillOpens() throws {
    let bytes = [UInt8](Data(base64Encoded: StateTests.formatOne) ?? Data())
    #expect(
      StateTests.sample.encoded() == bytes,
      "the format changed: \(Data(StateTests.sample.encoded()).base64EncodedString())")
    #expect(try SyncState(decoding: bytes) == StateTests.sample)
  }

  /// Proves CE-119, E3.
  @Test("A state of format 2, which names its database, opens for ever")
  func formatTwoOpensForEver() throws {
    var sample = StateTests.sample
    sample.database = StateTests.database
    let bytes = [UInt8](Data(base64Encoded: StateTests.formatTwo) ?? Data())
    #expect(
      sample.encoded() == bytes,
      "the format changed: \(Data(sample.encoded()).base64EncodedString())")
    #expect(try SyncState(decoding: bytes) == sample)
    #expect(SyncState(recovering: bytes) == sample)
  }

  /// Proves CE-119.
  @Test("The database of a state survives its log and another account")
  func databaseOfAStateIsKept() throws {
    let steps = [StateChange.setDatabase(StateTests.database), .setUser(UserID("_a")), .reset]
    var state = SyncState()
    for step in try StateChange.decoded(StateChange.encoded(steps)) { state.apply(step) }
    #expect(state.database == StateTests.database && state.user == nil)
    for index in state.encoded().indices {
      var damaged = state.encoded()
      damaged[index] ^= 1
      #expect(throws: StateFormatError.self) { try SyncState(decoding: damaged) }
    }
  }

  static let database = SyncedDatabase(
    container: "iCloud.fixture", environment: .production, scope: .shared)

  /// Never write this again either.
  static let formatTwo =
    "Q1NZTkMC0gEOaUNsb3VkLmZpeHR1cmUKcHJvZHVjdGlvbgMBAl9hAAEBBAIFTm90ZXMQX19kZWZhdWx0T3du"
    + "ZXJfXwEFAUICX3gBBgEBQxBfX2RlZmF1bHRPd25lcl9fAQFDEF9fZGVmYXVsdE93bmVyX18AAQEaY2xvdWRz"
    + "eW5jLWRhdGFiYXNlLWNoYW5nZXMBAQFEEF9fZGVmYXVsdE93bmVyX18CBU5vdGVzEF9fZGVmYXVsdE93bmVy"
    + "X18BRRBfX2RlZmF1bHRPd25lcl9fAgACw6kDAWJA0WIg"

  /// Never write this again; when the format changes, add the new one beside it.
  static let formatOne =
    "Q1NZTkMBtwEBAl9hAAEBBAIFTm90ZXMQX19kZWZhdWx0T3duZXJfXwEFAUICX3gBBgEBQxBfX2RlZmF1"
    + "bHRPd25lcl9fAQFDEF9fZGVmYXVsdE93bmVyX18AAQEaY2xvdWRzeW5jLWRhdGFiYXNlLWNoYW5nZXMB"
    + "AQFEEF9fZGVmYXVsdE93bmVyX18CBU5vdGVzEF9fZGVmYXVsdE93bmVyX18BRRBfX2RlZmF1bHRPd25l"
    + "cl9fAgACw6kDAWL5JWAe"
}
