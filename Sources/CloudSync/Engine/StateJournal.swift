import Foundation
import Records
import SyncMachine

/// Keeps a state store in step with a machine: appends each step, and folds the log into a new
/// snapshot when it has grown past what it would save.
struct StateJournal: Sendable {
  private let store: any StateStore
  private var appendedBytes = 0
  private var snapshotBytes: Int

  /// Why the store no longer takes anything; `nil` while it does.
  private(set) var error: (any Error)?

  /// The store's journal and the state it holds; `otherwise` where it is empty.
  ///
  /// - Throws: What the store throws, or `SerializationError` for bytes that are no state.
  static func open(
    _ store: any StateStore, otherwise: SyncState
  ) throws -> (StateJournal, SyncState) {
    guard let contents = try store.load() else {
      let bytes = otherwise.encoded()
      try store.replace(with: bytes)
      return (StateJournal(store: store, snapshotBytes: bytes.count), otherwise)
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
  mutating func append(_ changes: [StateChange], of state: SyncState) {
    guard error == nil else { return }
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
}
