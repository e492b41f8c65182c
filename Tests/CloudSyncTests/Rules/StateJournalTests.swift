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

  private static func machine(_ state: SyncState, _ size: StoreSize = StoreSize()) -> SyncMachine {
    var configuration = SyncMachine.Configuration(session: "s")
    configuration.hasStateStore = true
    return SyncMachine(configuration: configuration, state: state, stored: size)
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
        changesPerLaunch: 130),
      GrowthCase(
        testDescription: "a small state, many launches", stateBytes: 1_000, launches: 65,
        changesPerLaunch: 2),
      GrowthCase(
        testDescription: "a large state, one launch", stateBytes: 300_000, launches: 1,
        changesPerLaunch: 260),
      GrowthCase(
        testDescription: "a large state, many launches", stateBytes: 300_000, launches: 130,
        changesPerLaunch: 2),
    ])
  func logIsBounded(_ row: GrowthCase) throws {
    let store = Store()
    var state = SyncState()
    state.subscription = SubscriptionID(String(repeating: "s", count: row.stateBytes))
    let id = RecordID(name: String(repeating: "n", count: 10_000), zone: ZoneID(name: "Z"))
    let change = PendingChange(.save, id)
    for _ in 0..<row.launches {
      var (journal, found) = try StateJournal.open(store, otherwise: state)
      #expect(found == state)
      #expect(store.contents?.snapshot.isEmpty == false, "a new store gets a snapshot")
      var machine = Self.machine(found, journal.size)
      for number in 0..<row.changesPerLaunch {
        let log = store.logBytes
        let isFull = log > max(256 * 1024, 2 * (store.contents?.snapshot.count ?? 0))
        if number.isMultiple(of: 2) {
          machine.add([change], now: .start)
        } else {
          machine.remove([change], now: .start)
        }
        while let write = machine.nextWrite() {
          let isStored = journal.perform(write, of: machine)
          #expect(isStored)
          machine.stored(journal.size)
        }
        #expect(isFull ? store.logBytes == 0 : store.logBytes > log)
        #expect(journal.size.log == store.logBytes)
      }
      state = machine.state
    }
    #expect(store.state.withLock { $0.replacements } > 3)
  }

  @Test("A refused write is the journal's error until a write succeeds, and not in the log")
  func refusedWriteIsAnError() throws {
    let store = Store()
    var (journal, state) = try StateJournal.open(store, otherwise: SyncState())
    let machine = Self.machine(state)
    store.state.withLock { $0.isFull = true }
    for write in [StoreWrite.append([Self.change(1_000)]), .replace, .rewrite] {
      let isStored = journal.perform(write, of: machine)
      #expect(!isStored)
      #expect(journal.error is Full && journal.size.log == 0 && store.logBytes == 0)
    }
    store.state.withLock { $0.isFull = false }
    let entry = StateChange.encoded([Self.change(10)])
    let isStored = journal.perform(.append([Self.change(10)]), of: machine)
    #expect(isStored)
    #expect(journal.error == nil)
    #expect(store.contents?.entries == [entry], "refused entries do not count to the log's size")
    #expect(journal.size.log == entry.count)
  }

  @Test("A new store that refuses its first snapshot has a journal with that error")
  func refusedFirstSnapshotIsAnError() throws {
    let store = Store()
    store.state.withLock { $0.isFull = true }
    var state = SyncState()
    state.subscription = SubscriptionID("s")
    var (journal, found) = try StateJournal.open(store, otherwise: state)
    #expect(found == state && journal.error is Full && journal.size == StoreSize())
    store.state.withLock { $0.isFull = false }
    let isStored = journal.perform(.rewrite, of: Self.machine(found))
    #expect(isStored && journal.error == nil)
    #expect(store.contents?.snapshot == state.encoded())
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
