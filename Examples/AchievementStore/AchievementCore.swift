import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Everything of the store that changes, behind one lock, and the rules of its record.
final class AchievementCore: RecordKeeper {
  /// What is in the store's file: achievements, tag and what is unsent change in one write.
  struct Body: Codable, Sendable {
    var elements: [JSONValue] = []
    var isUnsent = false
    var systemFields: Data?
    var held: Held?
    var lastUpdated: Date?
    var summary: Data?
  }

  /// A record of a newer version: kept as it came until a version arrives that understands it.
  struct Held: Codable, Hashable, Sendable {
    var version: Int
    var payload: Data?
    var summary: [String: Int]
  }

  /// What outlives the account's data.
  struct Settings: Codable, Hashable, Sendable {
    var isEnabled = false
    var owner: String?
    var lastSync: Date?
  }

  struct State: Sendable {
    var set = AchievementSet()
    var isUnsent = false
    var systemFields: Data?
    var held: Held?
    var lastUpdated: Date?
    /// The summary's bytes as last seen; an archive has its members in another order each time.
    var summary: Data?
    var isWritten = true
    var settings = Settings()
    var merges = 0
    /// Why the last pass did not succeed.
    var failure: SyncFailure?
    var notices: [String] = []
    var recoveries: [FileRecovery] = []
    var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
  }

  let state: Mutex<State>
  private let file: DocumentFile<Body>
  private let settingsFile: DocumentFile<Settings>
  private let version: Int
  private let now: @Sendable () -> Date

  /// Opens the files; with recovery a damaged one is set aside, and the cloud fills a new one.
  init(
    directory: URL, version: Int, recovering isRecovering: Bool,
    now: @escaping @Sendable () -> Date
  ) throws(FileError) {
    self.now = now
    self.version = version
    file = DocumentFile(
      directory.appendingPathComponent("achievements.json"), format: "achievements")
    settingsFile = DocumentFile(
      directory.appendingPathComponent("achievement-settings.json"), format: "achievement-settings")
    var state = State()
    let reading = try file.read(recovering: isRecovering)
    let settings = try settingsFile.read(recovering: isRecovering)
    state.recoveries = [reading.recovery, settings.recovery].compactMap(\.self)
    if let body = reading.body {
      state.set = AchievementSet(body.elements)
      state.isUnsent = body.isUnsent
      state.systemFields = body.systemFields
      state.held = body.held
      state.lastUpdated = body.lastUpdated
      state.summary = body.summary
    }
    if reading.body == nil {
      // What a lost file knew, only the whole record can tell again.
      try AtomicFile(Self.stateFile(directory)).removeFile()
    }
    state.settings = settings.body ?? Settings()
    if let held = state.held, held.version <= version {
      state.held = nil
      if let payload = held.payload, let theirs = AchievementSet(payload: payload) {
        state.set = state.set.merged(with: theirs)
        state.isUnsent = state.set != theirs
        state.isWritten = false
      }
    }
    self.state = Mutex(state)
  }

  static func stateFile(_ directory: URL) -> URL {
    directory.appendingPathComponent("achievement-sync-state.data")
  }

  // MARK: What people do

  func change(_ body: (inout AchievementSet) -> Void) throws -> Bool {
    try state.withLock { state in
      let before = state
      body(&state.set)
      guard state.set != before.set else { return false }
      state.isUnsent = true
      state.isWritten = false
      do {
        try write(&state)
      } catch {
        state = before
        throw error
      }
      tell(state)
      return true
    }
  }

  func changeSettings(_ change: (inout Settings) -> Void) throws {
    try state.withLock { try changeSettings(&$0, change) }
  }

  private func changeSettings(_ state: inout State, _ change: (inout Settings) -> Void) throws {
    var settings = state.settings
    change(&settings)
    guard settings != state.settings else { return }
    state.settings = settings
    try settingsFile.write(settings)
  }

  // MARK: What the cloud does

  func take(_ news: [RecordNews], in scope: CKDatabase.Scope) -> [RecordWish] {
    state.withLock { state in
      let before = state.set
      let wishes = news.flatMap { take($0, &state) }
      if state.set != before { tell(state) }
      return wishes
    }
  }

  private func take(_ news: RecordNews, _ state: inout State) -> [RecordWish] {
    switch news {
    case .signedIn(let user):
      if let owner = state.settings.owner, owner != user.recordName { forget(&state) }
      own(user, &state)
      // An engine without state says this, so nobody knows what the cloud has; a fetch will tell.
      if !state.set.isEmpty, !state.isUnsent {
        state.isUnsent = true
        state.isWritten = false
      }
      return isDue(state) ? Self.everything : []
    case .switched(let user):
      forget(&state)
      own(user, &state)
      return []
    case .signedOut:
      // What was reached before anybody signed in is nobody's yet, and stays.
      if state.settings.owner != nil || state.systemFields != nil { forget(&state) }
      return []
    case .fetched(let record), .conflict(let record):
      return take(record, &state)
    case .saved(let record):
      guard record.recordID.isAchievements else { return [] }
      confirm(record, &state)
      return isDue(state) ? [.save(AchievementRecord.recordID)] : []
    case .removed(let id, _), .vanished(let id):
      // Nothing in this store is ever deleted: what went there comes back from here.
      return id.isAchievements ? sendAnew(&state) : []
    case .zoneRead(let zone, let records):
      let isLost = state.systemFields != nil && !records.contains { $0.isAchievements }
      return zone.isAchievements && isLost ? sendAnew(&state) : []
    case .zoneMissing(let zone):
      return zone.isAchievements ? sendAnew(&state) : []
    case .zoneGone(let zone, let reason):
      return zone.isAchievements ? zoneGone(reason, &state) : []
    case .zonePurged(let zone):
      return zone.isAchievements ? zoneGone(.purged, &state) : []
    case .zoneExists, .zoneRefused, .postponed, .refused, .deleted: return []
    }
  }

  private static let everything: [RecordWish] = [
    .saveZone(AchievementRecord.zoneID), .save(AchievementRecord.recordID),
  ]

  private func isDue(_ state: State) -> Bool { state.isUnsent && state.held == nil }

  /// Merges the cloud's version; what the cloud lacks is still to be sent.
  private func take(_ record: CKRecord, _ state: inout State) -> [RecordWish] {
    guard record.recordID.isAchievements, record.recordType == AchievementRecord.recordType
    else { return [] }
    let content = AchievementRecord.read(record)
    state.systemFields = record.systemFields
    state.isWritten = false
    guard content.version <= version else {
      state.held = Held(
        version: content.version, payload: content.payload, summary: content.summary)
      return [.drop(AchievementRecord.recordID)]
    }
    state.held = nil
    state.lastUpdated = content.lastUpdated
    state.summary = record["summary"]
    let theirs = content.payload.flatMap { AchievementSet(payload: $0) } ?? AchievementSet()
    let merged = state.set.merged(with: theirs)
    if merged != state.set { state.merges += 1 }
    state.set = merged
    state.isUnsent = merged != theirs
    return state.isUnsent
      ? [.save(AchievementRecord.recordID)] : [.drop(AchievementRecord.recordID)]
  }

  private func confirm(_ record: CKRecord, _ state: inout State) {
    let content = AchievementRecord.read(record)
    state.systemFields = record.systemFields
    state.lastUpdated = content.lastUpdated
    state.summary = record["summary"]
    state.isUnsent = content.payload != state.set.payload
    state.isWritten = false
  }

  private func sendAnew(_ state: inout State) -> [RecordWish] {
    state.systemFields = nil
    state.held = nil
    state.isUnsent = !state.set.isEmpty
    state.isWritten = false
    return isDue(state) ? Self.everything : []
  }

  private func zoneGone(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ state: inout State
  ) -> [RecordWish] {
    switch reason {
    case .encryptedDataReset: return sendAnew(&state)
    case .deleted, .purged:
      // Without a tag the removal was obeyed before, and this was reached since.
      if state.systemFields == nil, state.isUnsent { return sendAnew(&state) }
      // Somebody wanted the data gone: it goes here too and is not sent again.
      empty(&state)
      return [.drop(AchievementRecord.recordID)]
    }
  }

  private func own(_ user: CKRecord.ID, _ state: inout State) {
    if state.settings.owner == nil, state.systemFields != nil {
      // Nobody can say whose these are; they come back if they are this person's.
      empty(&state)
    }
    attempt(&state) { try changeSettings(&$0) { $0.owner = user.recordName } }
  }

  /// Removes everything of the account that was, at once; the owner's name goes last, so that a
  /// crash in between is noticed at the next start.
  private func forget(_ state: inout State) {
    empty(&state)
    state.notices = []
    state.recoveries = []
    state.merges = 0
    state.failure = nil
    attempt(&state) { _ in
      try settingsFile.file.removeCopies()
    }
    attempt(&state) {
      try changeSettings(&$0) { $0 = Settings(isEnabled: $0.isEnabled) }
    }
  }

  private func empty(_ state: inout State) {
    state.set = AchievementSet()
    state.isUnsent = false
    state.systemFields = nil
    state.held = nil
    state.lastUpdated = nil
    state.summary = nil
    state.isWritten = true
    attempt(&state) { _ in try file.file.remove() }
  }

  private func attempt(_ state: inout State, _ body: (inout State) throws -> Void) {
    do {
      try body(&state)
    } catch {
      state.notices.append("\(error)")
    }
  }

  // MARK: What is sent

  func record(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> CKRecord? {
    state.withLock { state in
      guard id.isAchievements, isDue(state) else { return nil }
      let record = CKRecord.known(
        state.systemFields, id: id, type: AchievementRecord.recordType)
      AchievementRecord.write(state.set, onto: record, now: now())
      return record
    }
  }

  func isUnsent(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> Bool {
    state.withLock { id.isAchievements && isDue($0) }
  }

  func everythingUnsent(in scope: CKDatabase.Scope) -> [RecordWish] {
    state.withLock { state in
      guard isDue(state) else { return [] }
      return state.systemFields == nil
        ? Self.everything : [.save(AchievementRecord.recordID)]
    }
  }

  // MARK: Files

  func writeDown() throws {
    try state.withLock { try write(&$0) }
  }

  private func write(_ state: inout State) throws(FileError) {
    guard !state.isWritten else { return }
    try file.write(
      Body(
        elements: state.set.elements, isUnsent: state.isUnsent, systemFields: state.systemFields,
        held: state.held, lastUpdated: state.lastUpdated, summary: state.summary))
    state.isWritten = true
  }

  private func tell(_ state: State) {
    for listener in state.listeners.values { listener.yield() }
  }
}

extension CKRecord.ID {
  /// Whether it is the record's ID, whichever way the zone's owner is spelled.
  fileprivate var isAchievements: Bool {
    recordName == AchievementRecord.recordName && zoneID.isAchievements
  }
}

extension CKRecordZone.ID {
  fileprivate var isAchievements: Bool { zoneName == AchievementRecord.zoneID.zoneName }
}
