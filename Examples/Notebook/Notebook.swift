import CloudKit

/// Notes that are the same on all devices of a person, stored in one file.
///
/// The code uses only CloudKit's API: with Apple's framework it syncs with iCloud, elsewhere with
/// the server that the process's environment names. The file has the notes, the system fields of
/// the server's records and the engine's state, so that they always belong together.
public actor Notebook {
  private let zone: CKRecordZone
  private let database: CKDatabase
  private let file: URL
  private var contents: Contents
  private var running: CKSyncEngine?

  /// Opens the notebook called `name` in `folder`, which exists.
  ///
  /// - Throws: the error of reading the file. A file that can't be read is left untouched.
  public init(name: String, in folder: URL, container: CKContainer = .default()) throws {
    zone = CKRecordZone(zoneName: name)
    database = container.privateCloudDatabase
    file = folder.appendingPathComponent("\(name).json")
    contents = Contents()
    if FileManager.default.fileExists(atPath: file.path) {
      contents = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: file))
    }
    // Without a state the engine fetches what exists, and reports nothing that was deleted.
    if contents.state == nil { contents.removeConfirmed() }
  }

  /// The text of each note, by its name.
  public var texts: [String: String] { contents.notes.compactMapValues(\.text) }

  /// Writes or changes a note; when it returns, the change is on the disk.
  public func write(_ text: String, in name: String) throws { try change(name, to: text) }

  /// Deletes a note; when it returns, the deletion is on the disk.
  public func remove(_ name: String) throws { try change(name, to: nil) }

  /// Fetches the changes of other devices and sends those of this one.
  public func sync() async throws {
    let engine = engine
    try await engine.fetchChanges()
    try await engine.sendChanges()
  }

  private func change(_ name: String, to text: String?) throws {
    var changed = contents
    changed.notes[name, default: Note()].text = text
    changed.notes[name, default: Note()].isUnsent = true
    try save(changed)
    contents = changed
    addUnsent(to: engine.state)
  }

  private func save(_ contents: Contents) throws {
    try JSONEncoder().encode(contents).write(to: file, options: .atomic)
  }

  private var engine: CKSyncEngine {
    if let running { return running }
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: contents.state, delegate: self)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    running = engine
    if contents.state == nil { addZone(to: engine.state) }
    // The engine's state can be older than the notes.
    addUnsent(to: engine.state)
    return engine
  }

  private func addZone(to state: CKSyncEngine.State) {
    state.add(pendingDatabaseChanges: [.saveZone(zone)])
  }

  private func addUnsent(to state: CKSyncEngine.State) {
    let unsent = contents.notes.filter(\.value.isUnsent)
    state.add(
      pendingRecordZoneChanges: unsent.keys.sorted().map { name in
        let id = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
        return unsent[name]?.text == nil ? .deleteRecord(id) : .saveRecord(id)
      })
  }
}

extension Notebook: CKSyncEngineDelegate {
  /// Applies an event of the engine, saves the notes and adds what has to be sent again.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let next = contents.apply(event, zone: zone.zoneID)
    guard next != .nothing else { return }
    // If this write fails, the file keeps older notes with the engine's state of that time.
    try? save(contents)
    if next == .sendZone { addZone(to: syncEngine.state) }
    if next != .save { addUnsent(to: syncEngine.state) }
  }

  /// Gives the engine the pending notes.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges
      .filter { context.options.scope.contains($0) }
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      await self.record(id, syncEngine.state)
    }
  }

  private func record(_ id: CKRecord.ID, _ state: CKSyncEngine.State) -> CKRecord? {
    guard let note = contents.notes[id.recordName], let text = note.text else {
      state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
      return nil
    }
    if note.attempts.last != text {
      contents.notes[id.recordName]?.attempts.append(text)
      // Without it, a reply that is lost would look like a change of another device.
      guard (try? save(contents)) != nil else { return nil }
    }
    let record =
      note.systemFields.flatMap(CKRecord.init(systemFields:))
      ?? CKRecord(recordType: "Note", recordID: id)
    record["text"] = text
    return record
  }
}

/// A note and what is known about its record.
struct Note: Codable {
  /// `nil` if the note was deleted and the server has not confirmed that.
  var text: String?
  var isUnsent = false
  /// The text of the server's record.
  var base: String?
  /// The texts given to the engine since the server last confirmed one.
  var attempts: [String] = []
  /// The system fields of the server's record, with its change tag.
  var systemFields: Data?
}

/// The content of the file.
///
/// A value applies the events, so that it can be tested without an engine.
struct Contents: Codable {
  /// The action after an event; each one includes those before it.
  enum Next { case nothing, save, send, sendZone }

  var notes: [String: Note] = [:]
  /// The record name of the user whose notes these are.
  var owner: String?
  var state: CKSyncEngine.State.Serialization?

  mutating func apply(_ event: CKSyncEngine.Event, zone: CKRecordZone.ID) -> Next {
    switch event {
    case .stateUpdate(let update):
      state = update.stateSerialization
      return .save
    case .accountChange(let change):
      accountChanged(change.changeType)
      return .sendZone
    case .fetchedDatabaseChanges(let changes):
      let reasons = changes.deletions.filter { $0.zoneID == zone }.map(\.reason)
      for reason in reasons { zoneRemoved(reason) }
      return reasons.isEmpty ? .nothing : .sendZone
    case .fetchedRecordZoneChanges(let changes):
      for record in changes.modifications.map(\.record) where record.recordID.zoneID == zone {
        take(record)
      }
      for id in changes.deletions.map(\.recordID) where id.zoneID == zone {
        recordRemoved(id.recordName)
      }
      return .save
    case .sentRecordZoneChanges(let sent): return changesSent(sent)
    // Sends again what the server refused for a reason that may be gone, such as full storage.
    case .didFetchChanges: return .send
    case .sentDatabaseChanges, .willFetchChanges, .willFetchRecordZoneChanges,
      .didFetchRecordZoneChanges, .willSendChanges, .didSendChanges:
      return .nothing
    @unknown default: return .nothing
    }
  }

  private mutating func changesSent(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) -> Next {
    var next = Next.save
    for record in sent.savedRecords {
      let name = record.recordID.recordName
      serverHas(record)
      // A note that was edited while it was sent stays unsent.
      guard notes[name]?.text == record["text"] as? String else { continue }
      notes[name]?.isUnsent = false
      notes[name]?.attempts = []
    }
    for id in sent.deletedRecordIDs { deletionConfirmed(id.recordName) }
    for failure in sent.failedRecordSaves {
      let name = failure.record.recordID.recordName
      switch failure.error.code {
      case .serverRecordChanged:
        if let record = failure.error.serverRecord { take(record) }
      case .zoneNotFound, .userDeletedZone:
        let wasReset = failure.error.userInfo[CKErrorUserDidResetEncryptedDataKey] != nil
        if wasReset { zoneRemoved(.encryptedDataReset) } else { removeConfirmed() }
        next = .sendZone
      case .unknownItem: recordRemoved(name)
      case .batchRequestFailed: break
      // The note stays unsent: the engine retries it, or it is added after the next fetch. To add
      // it at once would repeat an error that lasts without end.
      default: continue
      }
      if next != .sendZone { next = .send }
    }
    for (id, error) in sent.failedRecordDeletes {
      switch error.code {
      case .zoneNotFound, .userDeletedZone, .unknownItem: deletionConfirmed(id.recordName)
      case .batchRequestFailed where next == .save: next = .send
      default: break
      }
    }
    return next
  }

  /// The notes of one account are never shown or sent to another one.
  private mutating func accountChanged(
    _ change: CKSyncEngine.Event.AccountChange.ChangeType
  ) {
    switch change {
    case .signIn(let user):
      if let owner, owner != user.recordName { self = Contents() }
      owner = user.recordName
    case .signOut: self = Contents()
    case .switchAccounts(_, let user): self = Contents(owner: user.recordName)
    @unknown default: break
    }
  }

  private mutating func zoneRemoved(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) {
    guard reason == .encryptedDataReset else {
      notes = [:]
      return
    }
    // The user asked for new keys, not for a deletion: this device uploads what it has.
    for name in notes.keys {
      notes[name]?.isUnsent = true
      recordRemoved(name)
    }
  }

  /// Takes the server's version of a note.
  ///
  /// A note that was changed here too keeps both texts, the server's first.
  private mutating func take(_ record: CKRecord) {
    let name = record.recordID.recordName
    let theirs = record["text"] as? String ?? ""
    if let note = notes[name], note.isUnsent {
      if let mine = note.text, theirs != mine, theirs != note.base, !note.attempts.contains(theirs)
      {
        notes[name]?.text = theirs + "\n" + mine
      }
    } else {
      notes[name] = Note(text: theirs)
    }
    serverHas(record)
  }

  private mutating func serverHas(_ record: CKRecord) {
    notes[record.recordID.recordName]?.base = record["text"] as? String
    notes[record.recordID.recordName]?.systemFields = record.systemFields
  }

  /// Removes the notes that the server had and whose changes it has confirmed.
  mutating func removeConfirmed() {
    for name in notes.keys { recordRemoved(name) }
  }

  /// The server no longer has the record, so an unsent note creates a new one.
  private mutating func recordRemoved(_ name: String) {
    guard notes[name]?.isUnsent == true else { return notes[name] = nil }
    notes[name]?.systemFields = nil
    notes[name]?.base = nil
  }

  private mutating func deletionConfirmed(_ name: String) {
    if notes[name]?.text == nil { notes[name]?.isUnsent = false }
    recordRemoved(name)
  }
}

extension CKRecord {
  fileprivate convenience init?(systemFields: Data) {
    guard let decoder = try? NSKeyedUnarchiver(forReadingFrom: systemFields) else { return nil }
    decoder.requiresSecureCoding = true
    self.init(coder: decoder)
  }

  fileprivate var systemFields: Data {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    encodeSystemFields(with: encoder)
    return encoder.encodedData
  }
}
