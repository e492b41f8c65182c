import CloudSync
import Foundation
import SyncSupport
import Synchronization

extension StoreCore {
  /// How many fetched records may be in memory only while a long fetch runs.
  private static let mostUnwritten = 1_000

  /// Makes what events changed durable, the engine's state last: it must never know of something
  /// that a crash could still take from the results.
  func persist(_ state: inout State) {
    do {
      try state.library.write()
      try state.metadata.write()
      try state.kept.write()
      try state.queue.write()
      state.unwrittenRecords = 0
      guard let serialization = state.unsavedState else { return }
      try stateFile.write(try JSONEncoder().encode(serialization))
      state.unsavedState = nil
    } catch {
      log(.error, "Not saved: \(error). It is tried again with the next change.", &state)
    }
  }

  /// The same, unless a long fetch or send is under way that will come by here at its end.
  ///
  /// A crash before that costs a repetition, as the engine's state waits too.
  func persistUnlessBusy(_ state: inout State) {
    if state.operations == 0 || state.unwrittenRecords >= Self.mostUnwritten { persist(&state) }
  }

  /// Changes the settings, on the disk too.
  func changeSettings(_ state: inout State, _ change: (inout ResultSettings) -> Void) {
    let before = state.settings
    change(&state.settings)
    guard state.settings != before else { return }
    do {
      try settingsFile.write(state.settings)
    } catch {
      log(.error, "Not saved: \(error).", &state)
    }
  }

  /// Removes every result and everything known about it, from memory and from the disk.
  ///
  /// Each file is tried whatever became of the others; memory is empty in any case.
  func forgetEverything(_ state: inout State) {
    state.groups = []
    state.held = []
    state.offered = [:]
    state.attempts = [:]
    state.postponed = []
    state.refused = []
    state.isStorageFull = false
    state.sweep = nil
    state.unwrittenRecords = 0
    attempt(&state) { try $0.library.clear() }
    attempt(&state) { try $0.queue.clear() }
    attempt(&state) { try $0.metadata.clear() }
    attempt(&state) { try $0.kept.clear() }
  }

  /// Removes the engine's state from the disk.
  func forgetEngineState(_ state: inout State) {
    state.unsavedState = nil
    attempt(&state) { _ in try stateFile.remove() }
  }

  /// Tries a removal; that it failed is logged.
  func attempt(_ state: inout State, _ body: (inout State) throws -> Void) {
    do {
      try body(&state)
    } catch {
      log(.error, "Not removed: \(error).", &state)
    }
  }
}
