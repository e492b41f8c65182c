import CloudProtocol
import Records
import SyncMachine
import Synchronization
import Testing

@testable import CloudSync

@Suite("The journal of an engine's state")
struct StateJournalTests {
  private struct Full: Error {}

  /// A store in memory that counts its calls, and refuses writes if a test says so.
  private final class Store: StateStore {
    struct State {
      var contents: StateStoreContents?
      var replacements = 0
      var isFull = false
    }

    let state = Mutex(State())

    var contents: StateStoreContents? { state.withLock { $0.contents } }
    var logBytes: Int { contents?.entries.reduce(0) { $0 + $1.count } ?? 0 }

    func load() throws -> StateStoreContents? { contents }

    func append(_ entry: [UInt8]) throws { try change { $0.contents?.entries.append(entry) } }

    func replace(with snapshot: [UInt8]) throws {
      try change { state in
        state.replacements += 1
        state.contents = StateStoreContents(snapshot: snapshot)
      }
    }

    private func change(_ body: (inout State) -> Void) throws {
      try state.withLock { state in
        if state.isFull { throw Full() }
        body(&state)
      }
    }
  }

  private static func change(_ bytes: Int) -> StateChange {
    .setDatabaseToken(ChangeToken(bytes: [UInt8](repeating: 7, count: bytes)))
  }

  /// A state, and launches of the app that change it.
  struct GrowthCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The size of the state.
    var stateBytes: Int
    var launches: Int
    var changesPerLaunch: Int
  }

  @Test(
    "The log grows to 256 KiB or twice the snapshot, in one launch or over many, and not further",
    arguments: [
      GrowthCase(
        testDescription: "a small state, one launch", stateBytes: 1_000, launches: 1,
        changesPerLaunch: 100),
      GrowthCase(
        testDescription: "a small state, many launches", stateBytes: 1_000, launches: 50,
        changesPerLaunch: 2),
      GrowthCase(
        testDescription: "a large state, one launch", stateBytes: 300_000, launches: 1,
        changesPerLaunch: 200),
      GrowthCase(
        testDescription: "a large state, many launches", stateBytes: 300_000, launches: 100,
        changesPerLaunch: 2),
    ])
  func logIsBounded(_ row: GrowthCase) throws {
    let store = Store()
    var first = SyncState()
    first.subscription = SubscriptionID(String(repeating: "s", count: row.stateBytes))
    let change = Self.change(10_000)
    let entryBytes = StateChange.encoded([change]).count
    var state = first
    for _ in 0..<row.launches {
      var (journal, found) = try StateJournal.open(store, otherwise: first)
      #expect(found == state)
      #expect(store.contents?.snapshot.isEmpty == false, "a new store gets a snapshot")
      for _ in 0..<row.changesPerLaunch {
        let (log, snapshot) = (store.logBytes, store.contents?.snapshot.count ?? 0)
        state.apply(change)
        journal.append([change], leadingTo: state)
        let isFull = log + entryBytes > max(256 * 1024, 2 * snapshot)
        #expect(store.logBytes == (isFull ? 0 : log + entryBytes))
      }
      #expect(journal.error == nil)
    }
    #expect(store.state.withLock { $0.replacements } > 3)
  }

  @Test("A refused write is the journal's error until a write succeeds, and not in the log")
  func refusedWriteIsAnError() throws {
    let store = Store()
    var (journal, state) = try StateJournal.open(store, otherwise: SyncState())
    state.apply(Self.change(10))
    store.state.withLock { $0.isFull = true }
    for _ in 0..<1_000 {
      journal.append([Self.change(1_000)], leadingTo: state)
      #expect(journal.error is Full && store.logBytes == 0)
    }
    store.state.withLock { $0.isFull = false }
    let entry = StateChange.encoded([Self.change(10)])
    journal.append([Self.change(10)], leadingTo: state)
    #expect(journal.error == nil)
    #expect(store.contents?.entries == [entry], "refused entries do not count to the log's size")
  }

  @Test("A snapshot or an entry that is no state is an error of the serialization")
  func damagedContentsAreAnError() throws {
    let store = Store()
    _ = try StateJournal.open(store, otherwise: SyncState())
    let snapshot = try #require(store.contents?.snapshot)
    for contents in [
      StateStoreContents(snapshot: [1, 2, 3]), StateStoreContents(),
      StateStoreContents(snapshot: snapshot, entries: [[1, 255]]),
    ] {
      store.state.withLock { $0.contents = contents }
      #expect(throws: CKSyncEngine.State.SerializationError.self) {
        try StateJournal.open(store, otherwise: SyncState())
      }
      #expect(store.contents == contents, "it stays as it is")
    }
  }
}
