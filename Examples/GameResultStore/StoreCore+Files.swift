import CloudSync
import Foundation
import SyncSupport
import Synchronization

extension StoreCore {
  /// Makes what events changed durable; ``RecordSync`` writes the engine's state after it.
  ///
  /// - Throws: `FileError`, which is in the log then; the next call tries again.
  func writeDown() throws {
    try state.withLock { try write(&$0) }
  }

  /// The same for callers that go on in any case.
  func persist(_ state: inout State) {
    try? write(&state)
  }

  private func write(_ state: inout State) throws(FileError) {
    do {
      try state.library.write()
      try state.metadata.write()
      try state.kept.write()
      try state.queue.write()
    } catch {
      log(.error, "Not saved: \(error). It is tried again with the next change.", &state)
      throw error
    }
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
    state.uploads?.clear()
    attempt(&state) { try $0.library.clear() }
    attempt(&state) { try $0.queue.clear() }
    attempt(&state) { try $0.metadata.clear() }
    attempt(&state) { try $0.kept.clear() }
  }

  /// Removes the engine's state from the disk.
  func forgetEngineState(_ state: inout State) {
    attempt(&state) { try $0.sync?.forgetState() }
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
