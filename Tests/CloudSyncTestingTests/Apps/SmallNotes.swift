import CloudSyncTesting
import Foundation
import Synchronization

/// The ways in which `SmallNotes` resolves a conflict.
enum MergeKind: String, CaseIterable {
  case lastWriteWins, keepsBothTexts
}

/// A mistake of `SmallNotes`, which is correct without one.
enum SmallMistake: String, CaseIterable {
  case ignoresServerRecordChanged, ignoresZoneNotFound, ignoresAllSaveFailures
  case dropsPendingChangesOnAccountChange, neverSavesItsState
  case forgetsItsDeletions, forgetsFetchedDeletions, keepsOldAccountsData
  /// Writes its file only when the engine's state changed.
  case savesLate
  /// Takes every fetched version, also that of a note with an unsent change.
  case overwritesUnsentChanges
  case neverSyncs, stopsAfterZoneNotFound, stopsAfterAccountChange
  /// Makes its zone with its first note, and never again.
  case makesItsZoneOnce
  /// Takes nothing from a zone that is fetched from its beginning, unless it has no notes.
  case ignoresZonesThatStartOver
  /// Writes deletions to its file with the next event.
  case savesDeletionsLate
  /// Restores a note that it deleted when it fetches the deletion by another device.
  case revivesNotesDeletedTwice
  /// Treats its own text, when it is fetched, as a change of another device.
  case takesItsTextForAnother
}

/// Notes written with Apple's API alone, in one of two ways to merge, with one mistake or none.
final class SmallNotes: CKSyncEngineDelegate, ConformingApp {
  private struct Item: Codable {
    /// `nil` for a deletion that the server has not confirmed.
    var text: String?
    var modified = 0.0
    var isUnsent = false
    /// The text of the server's record.
    var base: String?
    /// The texts given to the engine since the server's record was seen.
    var attempts: [String] = []
    var systemFields: Data?
  }

  private struct Contents: Codable {
    var items: [String: Item] = [:]
    var owner: String?
    var state: CKSyncEngine.State.Serialization?
    var hasStopped = false
    var isStartingOver = false
    var hasZone = false
  }

  static let zone = CKRecordZone(zoneName: "SmallNotes")

  private let merge: MergeKind
  private let mistake: SmallMistake?
  private let file: URL
  private let now: @Sendable () -> Date
  private let contents: Mutex<Contents>
  private let running = Mutex<CKSyncEngine?>(nil)

  init(_ surroundings: AppSurroundings, _ merge: MergeKind, _ mistake: SmallMistake?) throws {
    self.merge = merge
    self.mistake = mistake
    file = surroundings.folder.appendingPathComponent("notes.json")
    now = { surroundings.now }
    let data = FileManager.default.contents(atPath: file.path)
    let contents = try data.map { try JSONDecoder().decode(Contents.self, from: $0) } ?? Contents()
    self.contents = Mutex(contents)
    var configuration = CKSyncEngine.Configuration(
      database: surroundings.container.privateCloudDatabase, stateSerialization: contents.state,
      delegate: self)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    running.withLock { $0 = engine }
    if contents.state == nil, mistake != .makesItsZoneOnce { addZone(to: engine.state) }
    addUnsent(to: engine.state)
  }

  // MARK: The user

  var items: [String: String] { contents.withLock { $0.items.compactMapValues(\.text) } }

  func write(_ text: String, as name: String) throws { try change(name, to: text) }

  func delete(_ name: String) throws { try change(name, to: nil) }

  private func change(_ name: String, to text: String?) throws {
    let isFirst = try contents.withLock { contents in
      let isFirst = !contents.hasZone
      contents.hasZone = true
      if text == nil, mistake == .forgetsItsDeletions {
        contents.items[name] = nil
      } else {
        var item = contents.items[name] ?? Item()
        item.text = text
        item.modified = max(now().timeIntervalSinceReferenceDate, item.modified + 0.001)
        item.isUnsent = true
        contents.items[name] = item
      }
      let isLate = mistake == .savesLate || (text == nil && mistake == .savesDeletionsLate)
      if !isLate { try save(contents) }
      return isFirst
    }
    guard let engine = running.withLock({ $0 }) else { return }
    if isFirst, mistake == .makesItsZoneOnce { addZone(to: engine.state) }
    addUnsent(to: engine.state)
  }

  func sync() async throws {
    guard let engine = running.withLock({ $0 }), mistake != .neverSyncs,
      !contents.withLock(\.hasStopped)
    else { return }
    try await engine.fetchChanges()
    try await engine.sendChanges()
  }

  private func save(_ contents: Contents) throws {
    var contents = contents
    if mistake == .neverSavesItsState { contents.state = nil }
    try JSONEncoder().encode(contents).write(to: file, options: .atomic)
  }

  private func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: Self.zone.zoneID)
  }

  private func addZone(to state: CKSyncEngine.State) {
    state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
  }

  private func addUnsent(to state: CKSyncEngine.State) {
    let unsent = contents.withLock { $0.items.filter(\.value.isUnsent) }
    state.add(
      pendingRecordZoneChanges: unsent.keys.sorted().map {
        unsent[$0]?.text == nil ? .deleteRecord(id($0)) : .saveRecord(id($0))
      })
  }

  // MARK: The engine

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    if case .accountChange = event, mistake == .dropsPendingChangesOnAccountChange {
      let state = syncEngine.state
      state.remove(pendingRecordZoneChanges: state.pendingRecordZoneChanges)
    }
    let needsSend = contents.withLock { contents in
      guard let needsSend = apply(event, to: &contents) else { return false }
      // If this write fails, the file keeps older notes with the engine's state of that time.
      if case .stateUpdate = event {
        try? save(contents)
      } else if mistake != .savesLate {
        try? save(contents)
      }
      return needsSend
    }
    if needsZone(after: event) { addZone(to: syncEngine.state) }
    if needsSend { addUnsent(to: syncEngine.state) }
  }

  private func needsZone(after event: CKSyncEngine.Event) -> Bool {
    switch event {
    case _ where mistake == .makesItsZoneOnce: false
    case .accountChange: true
    case .fetchedDatabaseChanges(let changes):
      changes.deletions.contains { $0.zoneID == Self.zone.zoneID }
    case .sentRecordZoneChanges(let sent):
      sent.failedRecordSaves.contains {
        [.zoneNotFound, .userDeletedZone].contains($0.error.code) && !ignores($0.error.code)
      }
    default: false
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let state = syncEngine.state
    let pending = state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let record = self.contents.withLock { self.record(id, &$0) }
      if record == nil { state.remove(pendingRecordZoneChanges: [.saveRecord(id)]) }
      return record
    }
  }

  private func record(_ id: CKRecord.ID, _ contents: inout Contents) -> CKRecord? {
    guard var item = contents.items[id.recordName], let text = item.text else { return nil }
    if item.attempts.last != text { item.attempts.append(text) }
    contents.items[id.recordName] = item
    // Without the attempt a lost reply looks like a change of another device.
    guard mistake == .savesLate || (try? save(contents)) != nil else { return nil }
    let record =
      item.systemFields.flatMap(CKRecord.init(systemFields:))
      ?? CKRecord(recordType: "Note", recordID: id)
    record["text"] = text
    record["modified"] = item.modified
    return record
  }

  /// Returns whether unsent notes are to be added; `nil` for an event that changes nothing.
  private func apply(_ event: CKSyncEngine.Event, to contents: inout Contents) -> Bool? {
    switch event {
    case .stateUpdate(let update): contents.state = update.stateSerialization
    case .accountChange(let change): return apply(change, to: &contents)
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions where deletion.zoneID == Self.zone.zoneID {
        guard deletion.reason == .encryptedDataReset else {
          contents.items = [:]
          continue
        }
        for name in contents.items.keys {
          contents.items[name]?.isUnsent = true
          recordRemoved(name, &contents)
        }
        return true
      }
    case .willFetchRecordZoneChanges(let start) where mistake == .ignoresZonesThatStartOver:
      contents.isStartingOver = start.startsOver && !contents.items.isEmpty
    case .fetchedRecordZoneChanges(let changes):
      for modification in changes.modifications where !contents.isStartingOver {
        if mistake == .overwritesUnsentChanges {
          contents.items[modification.record.recordID.recordName]?.isUnsent = false
        }
        take(modification.record, &contents)
      }
      guard mistake != .forgetsFetchedDeletions else { break }
      for name in changes.deletions.map(\.recordID.recordName) {
        if mistake == .revivesNotesDeletedTwice, let note = contents.items[name], note.isUnsent {
          contents.items[name]?.text = note.text ?? note.base
        }
        recordRemoved(name, &contents)
      }
    case .sentRecordZoneChanges(let sent): return apply(sent, to: &contents)
    case .didFetchChanges: return true
    default: return nil
    }
    return false
  }

  private func apply(
    _ change: CKSyncEngine.Event.AccountChange, to contents: inout Contents
  ) -> Bool {
    var user: String?
    switch change.changeType {
    case .signIn(let current):
      user = current.recordName
      if contents.owner == nil || contents.owner == user { break }
      fallthrough
    case .signOut, .switchAccounts:
      if case .switchAccounts(_, let current) = change.changeType { user = current.recordName }
      let kept = contents.items.filter { $0.value.text != nil }.mapValues { Item(text: $0.text) }
      contents = Contents()
      if mistake == .keepsOldAccountsData { contents.items = kept }
      contents.hasStopped = mistake == .stopsAfterAccountChange
    }
    contents.owner = user
    if mistake == .dropsPendingChangesOnAccountChange {
      for name in contents.items.keys { contents.items[name]?.isUnsent = false }
    }
    return true
  }

  private func apply(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges, to contents: inout Contents
  ) -> Bool {
    var needsSend = false
    for record in sent.savedRecords {
      let name = record.recordID.recordName
      serverHas(record, &contents)
      if contents.items[name]?.text == record["text"] as? String {
        contents.items[name]?.isUnsent = false
        contents.items[name]?.attempts = []
      }
    }
    for id in sent.deletedRecordIDs { deletionConfirmed(id.recordName, &contents) }
    for failure in sent.failedRecordSaves {
      let name = failure.record.recordID.recordName
      if ignores(failure.error.code) {
        contents.items[name]?.isUnsent = false
        continue
      }
      switch failure.error.code {
      case .serverRecordChanged:
        if let record = failure.error.serverRecord { take(record, &contents) }
      case .zoneNotFound, .userDeletedZone:
        contents.hasStopped = mistake == .stopsAfterZoneNotFound
        for name in contents.items.keys.sorted() { recordRemoved(name, &contents) }
      case .unknownItem: recordRemoved(name, &contents)
      case .batchRequestFailed: break
      default: continue  // Added again after the next fetch, or retried by the engine.
      }
      needsSend = true
    }
    for (id, error) in sent.failedRecordDeletes {
      switch error.code {
      case .zoneNotFound, .userDeletedZone, .unknownItem:
        deletionConfirmed(id.recordName, &contents)
      case .batchRequestFailed: needsSend = true
      default: break
      }
    }
    return needsSend
  }

  private func ignores(_ code: CKError.Code) -> Bool {
    switch mistake {
    case .ignoresAllSaveFailures: true
    case .ignoresServerRecordChanged: code == .serverRecordChanged
    case .ignoresZoneNotFound: code == .zoneNotFound
    default: false
    }
  }

  /// Takes the server's version of a note, and merges it with an unsent change.
  private func take(_ record: CKRecord, _ contents: inout Contents) {
    let name = record.recordID.recordName
    let theirs = record["text"] as? String ?? ""
    let modified = record["modified"] as? Double ?? 0
    if var item = contents.items[name], item.isUnsent, let mine = item.text {
      let isOurs =
        theirs == item.base
        || mistake != .takesItsTextForAnother && (theirs == mine || item.attempts.contains(theirs))
      switch merge {
      case .lastWriteWins where (modified, theirs) > (item.modified, mine):
        item.text = theirs
        item.isUnsent = false
      case .keepsBothTexts where !isOurs: item.text = theirs + "\n" + mine
      default: break
      }
      item.modified = max(item.modified, modified)
      contents.items[name] = item
    } else if contents.items[name]?.isUnsent != true {
      contents.items[name] = Item(text: theirs, modified: modified)
    }
    serverHas(record, &contents)
  }

  private func serverHas(_ record: CKRecord, _ contents: inout Contents) {
    let name = record.recordID.recordName
    contents.items[name]?.base = record["text"] as? String
    contents.items[name]?.systemFields = record.systemFields
  }

  /// The server no longer has the record, so an unsent note creates a new one.
  private func recordRemoved(_ name: String, _ contents: inout Contents) {
    guard contents.items[name]?.isUnsent == true else { return contents.items[name] = nil }
    contents.items[name]?.systemFields = nil
    contents.items[name]?.base = nil
  }

  private func deletionConfirmed(_ name: String, _ contents: inout Contents) {
    if contents.items[name]?.text == nil { contents.items[name]?.isUnsent = false }
    recordRemoved(name, &contents)
  }
}
