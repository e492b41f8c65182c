import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine {
  /// How many state updates may wait for the end of a long fetch or send.
  private static let mostPutOff = 16

  /// The state saved last, or `nil` when there is none.
  func readState() throws(FileError) -> CKSyncEngine.State.Serialization? {
    guard let data = try stateFile.read() else { return nil }
    do {
      return try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
    } catch {
      let reason =
        (error as? CKSyncEngine.State.SerializationError)?.message ?? "It is no state of a sync."
      let damage = FileError(
        .understand, stateFile.url,
        "\(reason) Nothing was changed; without the file, sync starts anew and loses nothing.")
      guard isRecovering, let copy = try stateFile.moveAside() else { throw damage }
      state.withLock { $0.recoveries.append(FileRecovery(damage, copy: copy)) }
      return nil
    }
  }

  /// Takes a state update; it goes to the disk at once, or soon when a long operation runs.
  ///
  /// Every write replaces whole files, so a fetch of 10,000 records writes them now and then and
  /// not for each of its pages. A crash in between costs a repetition, never a change.
  func save(_ serialization: CKSyncEngine.State.Serialization) {
    let isDue = state.withLock { state in
      state.unsavedState = serialization
      state.putOff += 1
      return state.operations == 0 || state.putOff >= Self.mostPutOff
    }
    if isDue { writeDownOrTell() }
  }

  /// Writes the stores, then system fields and kept records, then the engine's state.
  ///
  /// In this order, so that no file knows of something that an earlier one could still lose.
  func writeDown() throws {
    for store in stores { try store.writeDown() }
    try state.withLock { state in
      // A callback that outlives `stop()` must not bring back what that removed.
      guard state.list != nil else { return }
      try state.metadata.write()
      try state.kept.write()
      if let serialization = state.unsavedState {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try stateFile.write(try encoder.encode(serialization))
        state.unsavedState = nil
      }
      state.putOff = 0
      state.activity.solve(stateFile.url.lastPathComponent)
    }
  }

  /// As ``writeDown()``; a failure becomes a standing problem, and the next event tries again.
  func writeDownOrTell() {
    do {
      try writeDown()
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  /// Notes a problem for the person.
  func tell(_ name: String, code: Int, _ message: String) {
    state.withLock {
      $0.activity.note(SyncActivity.Problem(name: name, code: code, message: message))
    }
  }
}
