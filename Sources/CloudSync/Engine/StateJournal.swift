import Foundation
import Records
import SyncMachine

/// Performs the writes of a machine on a state store, and keeps account of the store's size.
struct StateJournal: Sendable {
  private let store: any StateStore
  /// The sizes of what the store contains.
  private(set) var size: StoreSize
  /// The error of the last write; `nil` if it succeeded.
  private(set) var error: (any Error)?

  /// Opens a store and returns its journal and state; an empty store starts with `otherwise`.
  ///
  /// If an empty store refuses that state, the journal has the error, as after any other write.
  /// - Throws: The store's error, or `SerializationError` for bytes that are not a state.
  static func open(
    _ store: any StateStore, otherwise: @autoclosure () throws -> SyncState
  ) throws -> (StateJournal, SyncState) {
    guard let contents = try store.load() else {
      let state = try otherwise()
      var journal = StateJournal(store: store, size: StoreSize())
      do { try journal.replace(with: state) } catch { journal.error = error }
      return (journal, state)
    }
    do {
      var state = try SyncState(decoding: contents.snapshot)
      var size = StoreSize(snapshot: contents.snapshot.count)
      for entry in contents.entries {
        for change in try StateChange.decoded(entry) { state.apply(change) }
        size.log += entry.count
      }
      return (StateJournal(store: store, size: size), state)
    } catch let error as StateFormatError {
      throw CKSyncEngine.State.SerializationError(error)
    } catch let error as ByteFormatError {
      throw CKSyncEngine.State.SerializationError(.damaged(error))
    }
  }

  private init(store: any StateStore, size: StoreSize) {
    self.store = store
    self.size = size
  }

  /// Performs a write of `machine`; returns whether it succeeded.
  mutating func perform(_ write: StoreWrite, of machine: SyncMachine) -> Bool {
    do {
      switch write {
      case .append(let changes): try append(changes)
      case .replace: try replace(with: machine.stateAfterWrite)
      case .rewrite:
        _ = try store.load()
        try replace(with: machine.stateAfterWrite)
      }
      error = nil
    } catch {
      self.error = error
    }
    return error == nil
  }

  /// Stores that the state belongs to `database`, before there is a machine.
  mutating func bind(to database: SyncedDatabase) {
    do { try append([.setDatabase(database)]) } catch { self.error = error }
  }

  private mutating func append(_ changes: [StateChange]) throws {
    let entry = StateChange.encoded(changes)
    try store.append(entry)
    size.log += entry.count
  }

  private mutating func replace(with state: SyncState) throws {
    let snapshot = state.encoded()
    try store.replace(with: snapshot)
    size = StoreSize(snapshot: snapshot.count)
  }
}
