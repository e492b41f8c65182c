import CloudSync
import Foundation
import Synchronization

/// Notes in one zone, stored in one file together with the engine's state.
final class Notes: CKSyncEngineDelegate {
  static let zone = CKRecordZone(zoneName: "Notes")

  private let file: URL
  private let contents: Mutex<Contents>

  init(_ folder: URL) throws {
    file = folder.appendingPathComponent("notes.json")
    let data = FileManager.default.contents(atPath: file.path)
    contents = Mutex(
      try data.map { try JSONDecoder().decode(Contents.self, from: $0) } ?? Contents())
  }

  var savedState: CKSyncEngine.State.Serialization? { contents.withLock { $0.state } }

  var texts: [String: String] { contents.withLock { $0.notes.compactMapValues(\.text) } }

  /// Writes the note called `name`, or deletes it if `text` is `nil`.
  func write(_ text: String?, as name: String, _ engine: CKSyncEngine) throws {
    try contents.withLock { contents in
      var changed = contents
      changed.notes[name, default: Note()].text = text
      changed.notes[name, default: Note()].isUnsent = true
      try save(changed)
      contents = changed
    }
    add([name], to: engine.state)
  }

  /// Adds every unsent note to the pending changes; call it at launch.
  func addUnsent(to state: CKSyncEngine.State) {
    add(contents.withLock { $0.unsent }, to: state)
  }

  private func add(_ names: [String], to state: CKSyncEngine.State) {
    let texts = texts
    if names.contains(where: { texts[$0] != nil }) {
      state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    }
    state.add(
      pendingRecordZoneChanges: names.map { name in
        let id = CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
        return texts[name] == nil ? .deleteRecord(id) : .saveRecord(id)
      })
  }

  private func save(_ contents: Contents) throws {
    try JSONEncoder().encode(contents).write(to: file, options: .atomic)
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let names = contents.withLock { contents in
      let names = contents.apply(event)
      // If this write fails, the file keeps older notes with the engine's state of that time.
      try? save(contents)
      return names
    }
    add(names, to: syncEngine.state)
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let state = syncEngine.state
    let pending = state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let note = self.contents.withLock { $0.notes[id.recordName] }
      guard let text = note?.text else {
        state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        return nil
      }
      let record =
        note?.systemFields.flatMap(CKRecord.init(systemFields:))
        ?? CKRecord(recordType: "Note", recordID: id)
      record["text"] = text
      return record
    }
  }
}

struct Note: Codable {
  /// `nil` if the note was deleted and the server has not confirmed that.
  var text: String?
  var isUnsent = false
  /// The system fields of the server's record, with its change tag.
  var systemFields: Data?
  /// Whether the zone is being read from its beginning and the record has not been seen there.
  var isStale = false
}

struct Contents: Codable {
  var notes: [String: Note] = [:]
  var owner: String?
  var state: CKSyncEngine.State.Serialization?

  var unsent: [String] { notes.filter(\.value.isUnsent).keys.sorted() }

  /// Applies an event, and returns the names of the notes to send again.
  mutating func apply(_ event: CKSyncEngine.Event) -> [String] {
    let zone = Notes.zone.zoneID
    switch event {
    case .stateUpdate(let update): state = update.stateSerialization
    case .accountChange(let event): return accountChanged(event.changeType)
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions where deletion.zoneID == zone {
        return zoneRemoved(deletion.reason)
      }
    case .willFetchRecordZoneChanges(let start) where start.zoneID == zone && start.startsOver:
      for (name, note) in notes { notes[name]?.isStale = note.systemFields != nil }
    case .didFetchRecordZoneChanges(let end) where end.zoneID == zone && end.error == nil:
      for (name, note) in notes where note.isStale { recordRemoved(name) }
    case .fetchedRecordZoneChanges(let changes):
      for record in changes.modifications.map(\.record) where record.recordID.zoneID == zone {
        let name = record.recordID.recordName
        recordKnown(record)
        if notes[name]?.isUnsent == false { notes[name]?.text = record["text"] as? String }
      }
      for id in changes.deletions.map(\.recordID) where id.zoneID == zone {
        recordRemoved(id.recordName)
      }
    case .sentRecordZoneChanges(let sent): return changesSent(sent)
    case .didFetchChanges: return unsent
    default: break
    }
    return []
  }

  private mutating func changesSent(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges
  ) -> [String] {
    for record in sent.savedRecords {
      let name = record.recordID.recordName
      recordKnown(record)
      // A note that was edited while it was sent stays unsent.
      if notes[name]?.text == record["text"] as? String { notes[name]?.isUnsent = false }
    }
    for id in sent.deletedRecordIDs { deletionConfirmed(id.recordName) }
    // After other failures the note stays unsent and is added again after the next fetch. The
    // engine itself retries those that a retry can solve.
    var again: [String] = []
    for failure in sent.failedRecordSaves {
      let name = failure.record.recordID.recordName
      switch failure.error.code {
      case .serverRecordChanged:
        // The note of this device wins, on top of the server's version.
        if let record = failure.error.serverRecord { recordKnown(record) }
      case .zoneNotFound, .userDeletedZone, .unknownItem: recordRemoved(name)
      case .batchRequestFailed: break
      default: continue
      }
      again.append(name)
    }
    for (id, error) in sent.failedRecordDeletes {
      switch error.code {
      case .zoneNotFound, .userDeletedZone, .unknownItem: deletionConfirmed(id.recordName)
      case .batchRequestFailed: again.append(id.recordName)
      default: break
      }
    }
    return again.filter { notes[$0]?.isUnsent == true }.sorted()
  }

  private mutating func accountChanged(
    _ change: CKSyncEngine.Event.AccountChange.ChangeType
  ) -> [String] {
    switch change {
    case .signIn(let user):
      if let owner, owner != user.recordName { self = Contents() }
      owner = user.recordName
    case .signOut: self = Contents()
    case .switchAccounts(_, let user): self = Contents(owner: user.recordName)
    @unknown default: break
    }
    return unsent
  }

  private mutating func zoneRemoved(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason
  ) -> [String] {
    guard reason == .encryptedDataReset else {
      notes = [:]
      return []
    }
    for name in notes.keys {
      notes[name]?.isUnsent = true
      recordRemoved(name)
    }
    return unsent
  }

  private mutating func recordKnown(_ record: CKRecord) {
    notes[record.recordID.recordName, default: Note()].systemFields = record.systemFields
    notes[record.recordID.recordName]?.isStale = false
  }

  /// The server no longer has the record, so an unsent note creates a new one.
  private mutating func recordRemoved(_ name: String) {
    guard notes[name]?.isUnsent == true else { return notes[name] = nil }
    notes[name]?.systemFields = nil
    notes[name]?.isStale = false
  }

  private mutating func deletionConfirmed(_ name: String) {
    if notes[name]?.text == nil { notes[name]?.isUnsent = false }
    recordRemoved(name)
  }
}

extension CKRecord {
  convenience init?(systemFields: Data) {
    guard let decoder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
    decoder.requiresSecureCoding = true
    self.init(coder: decoder)
  }

  var systemFields: Data {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    encodeSystemFields(with: encoder)
    return encoder.encodedData
  }
}
