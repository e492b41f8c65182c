import Foundation
import Records
import SyncMachine

/// Writes the state changes of a machine to a state store: appends each change, and replaces the
/// log by a new snapshot when it has grown too large.
struct StateJournal: Sendable {
  private let store: any StateStore
  private var appendedBytes = 0
  private var snapshotBytes: Int

  /// The error of the last write; `nil` if it succeeded.
  private(set) var error: (any Error)?
  /// The number of writes requested since the failure.
  private var missedCount = 0

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

  /// Makes `changes`, which led to `state`, durable.
  ///
  /// After a failure the whole state is written instead, when the store works again. This is tried
  /// at once and then at increasing intervals, so that a full disk does not slow the engine down.
  mutating func append(_ changes: [StateChange], of state: SyncState) {
    guard error == nil else {
      missedCount += 1
      if missedCount.nonzeroBitCount == 1 || missedCount % 64 == 0 { recover(with: state) }
      return
    }
    let entry = StateChange.encoded(changes)
    do {
      if appendedBytes + entry.count > max(256 * 1024, 2 * snapshotBytes) {
        let snapshot = state.encoded()
        try store.replace(with: snapshot)
        snapshotBytes = snapshot.count
        appendedBytes = 0
      } else {
        try store.append(entry)
        appendedBytes += entry.count
      }
    } catch {
      self.error = error
    }
  }

  /// Reloads a failed store and, if it works again, writes the whole state.
  mutating func recover(with state: SyncState) {
    do {
      _ = try store.load()
      let snapshot = state.encoded()
      try store.replace(with: snapshot)
      (snapshotBytes, appendedBytes, missedCount) = (snapshot.count, 0, 0)
      error = nil
    } catch {
      self.error = error
    }
  }
}
