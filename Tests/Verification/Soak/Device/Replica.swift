import CloudSync
import Foundation
import Synchronization

/// One engine of a device with the app around it: the notes of one database.
///
/// Everything that was handled is kept, as if it were written down at once; the engine can be
/// closed and opened again on its state file like an app that was ended.
final class Replica: Sendable {
  /// One note on this device.
  struct Row: Sendable {
    /// The edits that this device made.
    var edits = 0
    /// Whether this device wants to delete it.
    var wantsEnd = false
    /// The file that this device wants in it; 0 for none.
    var wantsFile = 0
    /// The record as the server had it last.
    var server: CKRecord?
    /// The content of that record.
    var note: Note?
    /// Whether its deletion was asked of the engine.
    var isBeingDeleted = false
  }

  struct Contents: Sendable {
    var rows: [CKRecord.ID: Row] = [:]
    /// The names of the rows, in the order they came.
    var order: [CKRecord.ID] = []
    var engine: CKSyncEngine?
    var made = 0
  }

  /// The device's number; `nil` for one that only reads.
  let device: Int?
  let deviceCount: Int
  /// The realm of each zone of this database.
  let realms: [CKRecordZone.ID: Realm]
  let writes: AcknowledgedWrites
  let contents = Mutex(Contents())
  private let database: CKDatabase
  /// The folder of the state file and of files to upload.
  private let folder: URL

  init(
    _ device: Int?, of deviceCount: Int, _ database: CKDatabase,
    _ realms: [CKRecordZone.ID: Realm], folder: URL, _ writes: AcknowledgedWrites
  ) throws {
    self.device = device
    self.deviceCount = deviceCount
    self.database = database
    self.realms = realms
    self.folder = folder
    self.writes = writes
    try FileManager.default.createDirectory(at: uploads, withIntermediateDirectories: true)
  }

  /// The device, for people.
  var name: String {
    let device = device.map { "device \($0)" } ?? "a reader"
    return "\(device) (\(database.databaseScope == .shared ? "shared" : "private"))"
  }

  /// The folder of files to upload.
  var uploads: URL { folder.appendingPathComponent("uploads") }

  func key(_ id: CKRecord.ID) -> NoteKey? {
    realms[id.zoneID].map { NoteKey(realm: $0, name: id.recordName) }
  }

  // MARK: Life

  /// Opens the engine on its state file; one that only reads has none, and does nothing by itself.
  func open() throws {
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: nil, delegate: self)
    if device == nil {
      configuration.automaticallySync = false
    } else {
      configuration.stateStore = try FileStateStore(
        url: folder.appendingPathComponent("state"))
    }
    let engine = CKSyncEngine(configuration)
    writes.opened(engine)
    if let error = engine.stateStoreError {
      writes.violation("\(name): the state can't be read: \(error)")
    }
    contents.withLock { contents in
      contents.engine = engine
      contents.checkPending(self, engine)
    }
  }

  /// Lets the engine go.
  func close() {
    let engine = contents.withLock { contents in
      defer { contents.engine = nil }
      return contents.engine
    }
    if let error = engine?.stateStoreError {
      writes.violation("\(name): the state can't be kept: \(error)")
    }
  }

  /// The engine that runs now.
  var engine: CKSyncEngine? { contents.withLock { $0.engine } }

  // MARK: What there is

  /// All rows.
  var rows: [NoteKey: Row] {
    contents.withLock { contents in
      let rows = contents.rows.compactMap { id, row in key(id).map { ($0, row) } }
      return Dictionary(uniqueKeysWithValues: rows)
    }
  }

  /// The pending changes as text; empty if there are none.
  var unsent: [String] {
    contents.withLock { contents in
      var unsent: [String] = []
      for (id, row) in contents.rows where row.isUnsent(by: device) || row.note == nil {
        unsent.append("\(name) has not sent \(id.recordName)")
      }
      if let state = contents.engine?.state {
        unsent += state.pendingRecordZoneChanges.map { "\(name) has pending \($0)" }
        unsent += state.pendingDatabaseChanges.map { "\(name) has pending \($0)" }
      }
      return unsent
    }
  }
}

/// The save that a note comes from.
struct Version: Hashable, Sendable {
  var number: Int
  var tag: String
}

extension Replica.Row {
  /// The save that the note comes from.
  var version: Version? {
    note.map { Version(number: $0.version, tag: server?.recordChangeTag ?? "") }
  }

  /// Whether the server lacks something that this device did; not at the note's end, when nothing
  /// counts any more.
  func isUnsent(by device: Int?) -> Bool {
    guard let device else { return false }
    guard let note else { return edits > 0 }
    if note.isEnding { return note.writer == device }
    return edits > note.counts[device] || wantsEnd
      || wantsFile > note.fileSeed
  }
}

extension Replica.Contents {
  /// Looks whether what was to be sent when the engine was closed still is.
  fileprivate func checkPending(_ replica: Replica, _ engine: CKSyncEngine) {
    let pending = Set(engine.state.pendingRecordZoneChanges)
    for (id, row) in rows where row.isUnsent(by: replica.device) {
      let change: CKSyncEngine.PendingRecordZoneChange =
        row.isBeingDeleted ? .deleteRecord(id) : .saveRecord(id)
      if !pending.contains(change) {
        replica.writes.violation("\(replica.name) was opened again and has forgotten \(change)")
      }
    }
  }
}
