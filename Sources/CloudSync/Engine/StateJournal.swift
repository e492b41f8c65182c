import Foundation
import Records
import SyncMachine

/// Keeps a state store in step with a machine: appends each step, and folds the log into a new
/// snapshot when it has grown past what it would save.
struct StateJournal: Sendable {
  private let store: any StateStore
  private var appendedBytes = 0
  private var snapshotBytes: Int

  /// Why the store takes nothing at present; `nil` while it does.
  private(set) var error: (any Error)?
  /// How many times something was to be stored since it failed.
  private var missedCount = 0

  /// The store's journal and the state it holds; `otherwise` where it is empty.
  ///
  /// - Throws: What the store throws, or `SerializationError` for bytes that are no state.
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
  /// After a failure the whole state is stored instead, as soon as the store takes it: tried at
  /// once, then after ever longer pauses, so that a full disk does not slow everything down.
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

  /// Looks whether the store that failed works again, and gives it the whole state.
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
