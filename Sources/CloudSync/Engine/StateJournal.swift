import Foundation
import Records
import SyncMachine

/// Performs the writes of a machine on a state store: appends state changes, and replaces the log
/// by a new snapshot when it has grown too large.
struct StateJournal: Sendable {
  private let store: any StateStore
  private var appendedBytes = 0
  private var snapshotBytes: Int

  /// The error of the last write; `nil` if it succeeded.
  private(set) var error: (any Error)?

  /// Opens a store and returns its journal and state; an empty store starts with `otherwise`.
  ///
  /// - Throws: The store's error, or `SerializationError` for bytes that are not a state.
  static func open(
    _ store: any StateStore, otherwise: @autoclosure () throws -> SyncState
  ) throws -> (StateJournal, SyncState) {
    guard let contents = try store.load() else {
      let state = try otherwise()
      let bytes = state.encoded()
      try store.replace(with: bytes)
      return (StateJournal(store: store, snapshotBytes: bytes.count), state)
    }
    do {
      var state = try SyncState(decoding: contents.snapshot)
      var journal = StateJournal(store: store, snapshotBytes: contents.snapshot.count)
      for entry in contents.entries {
        for change in try StateChange.decoded(entry) { state.apply(change) }
        journal.appendedBytes += entry.count
      }
      return (journal, state)
    } catch let error as StateFormatError {
      throw CKSyncEngine.State.SerializationError(error)
    } catch let error as ByteFormatError {
      throw CKSyncEngine.State.SerializationError(.damaged(error))
    }
  }

  private init(store: any StateStore, snapshotBytes: Int) {
    self.store = store
    self.snapshotBytes = snapshotBytes
  }

  /// Performs a write of `machine`; returns whether it succeeded.
  mutating func perform(_ write: StoreWrite, of machine: SyncMachine) -> Bool {
    switch write {
    case .append(let changes): append(changes, leadingTo: machine.stateAfterWrite)
    case .rewrite:
      attempt { journal in
        _ = try journal.store.load()
        try journal.replace(with: machine.stateAfterWrite)
      }
    }
    return error == nil
  }

  /// Appends `changes`, or writes a snapshot of `state`, which contains them.
  mutating func append(_ changes: [StateChange], leadingTo state: @autoclosure () -> SyncState) {
    attempt { journal in
      let entry = StateChange.encoded(changes)
      if journal.appendedBytes + entry.count > max(256 * 1024, 2 * journal.snapshotBytes) {
        try journal.replace(with: state())
      } else {
        try journal.store.append(entry)
        journal.appendedBytes += entry.count
      }
    }
  }

  private mutating func replace(with state: SyncState) throws {
    let snapshot = state.encoded()
    try store.replace(with: snapshot)
    (snapshotBytes, appendedBytes) = (snapshot.count, 0)
  }

  private mutating func attempt(_ body: (inout StateJournal) throws -> Void) {
    do {
      try body(&self)
      error = nil
    } catch {
      self.error = error
    }
  }
}
