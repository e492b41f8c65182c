import Foundation
package import SyncMachine

/// The state of a sync engine read from a file, and its form in the file.
///
/// Three forms are distinguished by their bytes: the log of a `FileStateStore`; the bytes of an
/// encoded `CKSyncEngine.State.Serialization`; and any JSON or property list that holds such bytes,
/// also deep inside an app's own file. The file is only read: no lock is taken, nothing is written
/// and nothing is left beside it, so that an engine may be at work on it meanwhile. A state names
/// neither its container nor its database, and does not tell what was under way: after a restart
/// all of that waits again. Values of this type may be used from any task.
package struct StateInspection: Sendable, Equatable {
  /// The form of a state in its file.
  package enum Form: Sendable, Equatable {
    /// As a snapshot and the steps since.
    case log(Log)
    /// As one run of bytes, at `place` inside of `formats`, the outermost first; both are empty
    /// where the file is nothing else.
    case encoded(formats: [String], place: String)
  }

  /// What a state log is made of.
  package struct Log: Sendable, Equatable {
    /// The size of the snapshot.
    package var snapshotBytes = 0
    /// How many entries follow it.
    package var entryCount = 0
    /// How many steps these entries hold.
    package var stepCount = 0
    /// The version of the snapshot's format.
    package var snapshotFormat = Int(SyncState.formatVersion)
    /// How many bytes at the end a crash cut off, or an engine is about to complete.
    package var unfinishedBytes = 0

    /// Describes a log with nothing in it.
    package init() {}
  }

  /// The path, or whatever else the bytes were said to be.
  package let name: String
  /// The size of the file.
  package let byteCount: Int
  /// The form of the state in the file.
  package let form: Form
  /// The version of the state's own format.
  package let stateFormat: Int
  /// What the engine would go on from.
  package let state: SyncState
  /// Whether the bytes failed their checksum, so that any value may be wrong; only within errors.
  package let isUnchecked: Bool

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: A state log, or a file that holds an encoded state.
  ///   - member: Which state to take where a JSON or property list holds several: the way to it,
  ///     or the beginning of it, with dots between the members.
  /// - Throws: `StateInspectionError`, with all that can still be read.
  package init(path: String, member: String? = nil) throws(StateInspectionError) {
    try self.init(bytes: StateFile.read(path), name: path, member: member)
  }

  /// Reads bytes that are already there.
  ///
  /// - Parameters:
  ///   - bytes: Any; damaged ones are an error and never a trap.
  ///   - name: What messages and `text` call them.
  ///   - member: As for a file.
  /// - Throws: `StateInspectionError`, with all that can still be read.
  package init(
    bytes: [UInt8], name: String = "the data", member: String? = nil
  ) throws(StateInspectionError) {
    self = try StateReading(bytes: bytes, name: name, member: member).inspection()
  }

  init(
    name: String, byteCount: Int, form: Form, state: SyncState,
    stateFormat: Int? = nil, isUnchecked: Bool = false
  ) {
    self.name = name
    self.byteCount = byteCount
    self.form = form
    self.stateFormat = stateFormat ?? Int(state.format)
    self.state = state
    self.isUnchecked = isUnchecked
  }
}
