import Foundation

/// The rules for what happens to records on the server.
extension ItemTable {
  /// How often in a row a change is sent again that may fit into a smaller request.
  static let mostAttempts = 3

  // MARK: Versions of other devices

  /// Whether the server modified a record before the version that is known here.
  func isOutdated(_ record: CKRecord) -> Bool {
    guard let fields = entries[record.recordID]?.systemFields,
      let known = CKRecord(archive: fields)?.modificationDate, let date = record.modificationDate
    else { return false }
    return date < known
  }

  /// Another device saved a record, or a save found this version on the server.
  mutating func take(_ record: CKRecord) {
    let id = record.recordID
    if let share = record as? CKShare {
      updateZone(id.zoneID) { $0.share = share.allFields }
      return
    }
    // An item that stays on this device does not follow a record of the same name. It has no change
    // tag either, so that a later save of the item finds the conflict.
    if entries[id]?.item?.isSynced == false { return }
    if let known = entries[id], known.type != record.recordType, types[record.recordType] != nil {
      takeNameUsedAgain(id, known)
    }
    guard let type = types[entries[id]?.type ?? record.recordType] ?? types[record.recordType]
    else { return keepUnreadable(record) }
    guard let theirs = type.read(record, entries[id]?.item) else {
      return takeUnreadable(record, type)
    }
    var entry = entries[id] ?? newEntry(record.recordType)
    // A record that the app made itself has no change tag.
    if record.recordChangeTag != nil || entry.systemFields == nil {
      entry.systemFields = record.systemFields
    }
    if entry.unreadable != nil { activity.solve(.record(id)) }
    entry.unreadable = nil
    if entry.change?.isDeletion == true { return set(entry, for: id) }
    guard let mine = entry.item else {
      entry.item = theirs
      set(entry, for: id)
      return show(id, record.recordType, .saved)
    }
    let isOlder = entry.isOlder { type.read(record, $0) }
    merge(mine, with: theirs, isOlder, type, &entry, id)
    set(entry, for: id)
  }

  /// A record was deleted, and its name used for an item of another type: a change of the first one
  /// can't be sent any more.
  private mutating func takeNameUsedAgain(_ id: CKRecord.ID, _ known: Entry) {
    forgetFailure(id)
    if known.item != nil {
      show(id, known.type, .removed, known.change == nil ? nil : .serverWon)
    }
    set(nil, for: id)
  }

  /// Merges the version of a record.
  ///
  /// - Parameter isOlder: whether the unsent change was made on top of it.
  private mutating func merge(
    _ mine: any SyncedItem, with theirs: any SyncedItem, _ isOlder: Bool, _ type: SyncedType,
    _ entry: inout Entry, _ id: CKRecord.ID
  ) {
    let isUnsent = entry.change != nil
    if mine.isEqual(to: theirs) {
      settle(&entry, id)
      if isUnsent { note(.equal, id, entry.type) }
      return
    }
    if isUnsent, isOlder {
      // No other device changed it: the server has the base, or one's own earlier version.
      entry.base = theirs
      return
    }
    guard isUnsent || type.mergesAlways else {
      entry.item = theirs
      return show(id, entry.type, .saved)
    }
    switch type.resolve(mine, .item(theirs), entry.base, isUnsent) {
    case .server:
      entry.item = theirs
      settle(&entry, id)
      show(id, entry.type, .saved, isUnsent ? .serverWon : nil)
    case .mine: sendAgain(theirs, &entry, id, .clientWon)
    case .merged(let merged):
      entry.item = merged
      if merged.isEqual(to: theirs) {
        settle(&entry, id)
        show(id, entry.type, .saved, isUnsent ? .serverWon : nil)
      } else {
        sendAgain(theirs, &entry, id, .merged)
      }
    }
  }

  /// The server has the item; nothing is left to send.
  private mutating func settle(_ entry: inout Entry, _ id: CKRecord.ID) {
    entry.settle()
    forgetFailure(id)
  }

  private mutating func sendAgain(
    _ theirs: any SyncedItem, _ entry: inout Entry, _ id: CKRecord.ID,
    _ resolution: SyncedStore.Activity.Resolution
  ) {
    entry.base = theirs
    entry.change = newChange(isDeletion: false)
    show(id, entry.type, resolution == .merged ? .saved : .kept, resolution)
  }

  /// A record that this version of the app can't read, because a newer one wrote it.
  ///
  /// The item is hidden, unless the policy keeps an unsent change; that waits for a version of the
  /// app that can merge both.
  private mutating func takeUnreadable(_ record: CKRecord, _ type: SyncedType) {
    let id = record.recordID
    keepUnreadable(record)
    activity.note(
      .record(id), nil,
      "A record of the type \(record.recordType) is from a newer version of the app. It is kept "
        + "and shown after an update.")
    guard var entry = entries[id], let mine = entry.item else { return }
    if let kept = kept(mine, against: .unreadable, entry) {
      guard !kept.isEqual(to: mine) else { return }
      entry.item = kept
      entry.replaceChange(of: mine, by: newChange(isDeletion: false))
      set(entry, for: id)
      return show(id, entry.type, .saved, .merged)
    }
    let isUnsent = entry.change != nil
    entry.item = nil
    entry.settle()
    // The problem stays: it is that of the record.
    attempts[id] = nil
    set(entry, for: id)
    show(id, entry.type, .removed, isUnsent ? .serverWon : nil)
  }

  private mutating func keepUnreadable(_ record: CKRecord) {
    let id = record.recordID
    var entry = entries[id] ?? newEntry(record.recordType)
    entry.systemFields = record.systemFields
    entry.unreadable = record.allFields
    set(entry, for: id)
  }

  /// Reads records again that could not be read: the app may have been updated.
  mutating func readAgain() {
    for id in unreadable.sorted(by: { $0.recordName < $1.recordName }) {
      guard let record = entries[id]?.unreadable.flatMap({ CKRecord(archive: $0) }),
        types[record.recordType]?.read(record, entries[id]?.item) != nil
      else { continue }
      take(record)
    }
  }

  // MARK: Deletions of other devices

  /// Another device deleted a record.
  mutating func takeDeletion(_ id: CKRecord.ID) {
    if id.recordName == CKRecordNameZoneWideShare {
      return updateZone(id.zoneID) { $0.share = nil }
    }
    // A deletion by this device says nothing about an item that was created again after it.
    let isOwn = ownDeletions.remove(id) != nil
    guard let known = entries[id], !isOwn || known.systemFields != nil else { return }
    forgetFailure(id)
    // A new item of the same name that the server never had is not meant.
    let isNew = !known.mayBeOnServer
    var entry = known
    entry.forgetRecord()
    guard let mine = entry.item, mine.isSynced else {
      if entry.change?.isDeletion == true { entry.change = nil }
      return set(entry, for: id)
    }
    let isUnsent = entry.change != nil
    if let kept = isNew ? mine : kept(mine, against: .deleted, known) {
      let isMine = kept.isEqual(to: mine)
      entry.item = kept
      entry.change = newChange(isDeletion: false)
      set(entry, for: id)
      guard !isNew else { return }
      show(
        id, entry.type, isMine ? .kept : .saved, isUnsent ? (isMine ? .clientWon : .merged) : nil)
    } else {
      entry.item = nil
      settle(&entry, id)
      set(entry, for: id)
      show(id, entry.type, .removed, isUnsent ? .serverWon : nil)
    }
  }

  /// The version that the policy keeps although the server has none that can be read; `nil` if it
  /// keeps none.
  private func kept(
    _ mine: any SyncedItem, against server: SyncedType.ServerVersion, _ entry: Entry
  ) -> (any SyncedItem)? {
    let isUnsent = entry.change != nil
    guard let type = types[entry.type], isUnsent || type.mergesAlways else { return nil }
    return switch type.resolve(mine, server, entry.base, isUnsent) {
    case .mine: mine
    case .server: nil
    case .merged(let item): item
    }
  }

  /// A zone was read from its beginning: records that it does not have were deleted.
  mutating func takeZone(_ zone: CKRecordZone.ID, has records: Set<CKRecord.ID>) {
    let gone = entries.filter {
      $0.key.zoneID == zone && $0.value.systemFields != nil && !records.contains($0.key)
    }
    for id in gone.keys.sorted(by: { $0.recordName < $1.recordName }) { takeDeletion(id) }
  }

  // MARK: Results of own changes

  mutating func take(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) {
    let wasFull = activity.problems.contains { $0.code == .quotaExceeded }
    for record in sent.savedRecords { takeSaved(record) }
    for id in sent.deletedRecordIDs { takeDeleted(id) }
    let lost = sent.failedRecordSaves.filter { $0.error.code.concernsZone }
    for failure in sent.failedRecordSaves where !failure.error.code.concernsZone {
      takeFailedSave(failure.record.recordID, failure.error)
    }
    // A zone is missing for all of its records at once.
    let zones = Dictionary(grouping: lost, by: \.record.recordID.zoneID)
    for (zone, failures) in zones.sorted(by: { $0.key.zoneName < $1.key.zoneName }) {
      takeMissingZone(zone, failures[0].error, savesOf: failures.map(\.record.recordID))
    }
    // The order of a dictionary differs in every process.
    for (id, error) in sent.failedRecordDeletes.sorted(by: { $0.key.recordName < $1.key.recordName }
    ) {
      takeFailedDeletion(id, error)
    }
    activity.deleted += sent.deletedRecordIDs.count
    // There is space now for what was kept.
    if wasFull, !sent.deletedRecordIDs.isEmpty { sendEverything() }
  }

  mutating func takeSaved(_ record: CKRecord) {
    let id = record.recordID
    activity.saved += 1
    forgetFailure(id)
    let number = inFlight.removeValue(forKey: id)
    // The change was given up while it was sent, but the server has it.
    if number != nil, entries[id]?.change == nil { return take(record) }
    guard var entry = entries[id] else { return }
    entry.systemFields = record.systemFields
    entry.unreadable = nil
    let saved = types[entry.type]?.read(record, entry.item)
    if let change = entry.change, !change.isDeletion,
      change.number == number || entry.item?.isEqual(to: saved) == true
    {
      entry.settle()
    } else if let change = entry.change {
      // The item was changed meanwhile, on top of the version that was saved.
      entry.base = change.isDeletion ? nil : saved
      entry.offered = []
    }
    set(entry, for: id)
  }

  /// The server accepted a deletion, or had nothing to delete.
  mutating func takeDeleted(_ id: CKRecord.ID) {
    forgetFailure(id)
    inFlight[id] = nil
    ownDeletions.insert(id)
    guard var entry = entries[id] else { return }
    entry.forgetRecord()
    if entry.change?.isDeletion == true {
      entry.change = nil
    } else if entry.item?.isSynced == true {
      // The item was created again meanwhile.
      var change = entry.change ?? newChange(isDeletion: false)
      change.wasOffered = change.isHandedOver
      entry.change = change
    }
    set(entry, for: id)
  }

  private mutating func takeFailedSave(_ id: CKRecord.ID, _ error: CKError) {
    switch error.code {
    case _ where error.code.isRetried: break
    case .serverRecordChanged:
      if let theirs = error.serverRecord { take(theirs) } else { sendAgain(id) }
    case .unknownItem where entries[id]?.systemFields == nil:
      // The server never had it, so no device deleted it.
      sendAgain(id, fewTimes: error)
    case .unknownItem:
      activity.sentAgain += 1
      takeDeletion(id)
    case .batchRequestFailed: sendAgain(id)
    case .limitExceeded: sendAgain(id, fewTimes: error)
    default: refuse(id, error)
    }
  }

  mutating func takeFailedDeletion(_ id: CKRecord.ID, _ error: CKError) {
    switch error.code {
    case _ where error.code.isRetried: break
    case _ where error.code.isOfMissingRecord: takeDeleted(id)
    case .batchRequestFailed: sendAgain(id)
    case .limitExceeded, .serverRecordChanged: sendAgain(id, fewTimes: error)
    default: refuse(id, error)
    }
  }

  /// Sends a change again that the engine does not list any more.
  ///
  /// - Parameter error: the error after which that is tried a few times only.
  private mutating func sendAgain(_ id: CKRecord.ID, fewTimes error: CKError? = nil) {
    if let error {
      attempts[id, default: 0] += 1
      guard attempts[id, default: 0] <= Self.mostAttempts else { return refuse(id, error) }
    }
    activity.sentAgain += 1
    effects.touched.append(id)
  }

  private mutating func refuse(_ id: CKRecord.ID, _ error: CKError) {
    // A change that was given up meanwhile is no problem.
    guard entries[id]?.change != nil else { return }
    activity.note(.record(id), error.code, message(error))
    // After other errors the server may have this version.
    let refusals: [CKError.Code] = [
      .permissionFailure, .quotaExceeded, .limitExceeded, .invalidArguments,
    ]
    if refusals.contains(error.code) { noteRefusal(id) }
  }

  // MARK: Given up changes

  /// Gives up the change of an item.
  ///
  /// - Parameter record: the server's record; `nil` if there is none.
  mutating func revert(_ id: CKRecord.ID, to record: CKRecord?) {
    guard var entry = entries[id] else { return }
    settle(&entry, id)
    entry.forgetRecord()
    entry.systemFields = record?.systemFields
    entry.item = record.flatMap { types[entry.type]?.read($0, entry.item) }
    if entry.item == nil { entry.unreadable = record?.allFields }
    set(entry, for: id)
    show(id, entry.type, entry.item == nil ? .removed : .saved)
  }

  // MARK: Messages

  /// A sentence for users about a refused change.
  func message(_ error: CKError) -> String {
    switch error.code {
    case .quotaExceeded where scope == .shared:
      "The iCloud storage of the owner is full. The change stays on this device."
    case .quotaExceeded:
      "The account has no space left. The change is kept; free some space, then sync again."
    case .limitExceeded:
      "The item is too large for the server. It stays on this device; make it smaller to sync it."
    case .permissionFailure:
      "The account may not change this. The change stays on this device."
    default:
      "The server refused the change: \(error.localizedDescription) It stays on this device."
    }
  }

  // MARK: Changes for the app

  private mutating func note(
    _ resolution: SyncedStore.Activity.Resolution, _ id: CKRecord.ID, _ type: CKRecord.RecordType
  ) {
    activity.note(
      SyncedStore.Activity.Conflict(name: id.recordName, type: type, resolution: resolution))
  }

  mutating func show(
    _ id: CKRecord.ID, _ type: CKRecord.RecordType, _ kind: SyncedStore.ItemChange.Kind,
    _ resolution: SyncedStore.Activity.Resolution? = nil
  ) {
    switch kind {
    case .saved: activity.received += 1
    case .removed: activity.removed += 1
    case .kept: break
    }
    effects.visible.append(
      SyncedStore.ItemChange(recordID: id, recordType: type, kind: kind, resolution: resolution))
    if let resolution { note(resolution, id, type) }
  }
}

extension CKError.Code {
  /// Whether a save failed because its zone does not exist.
  fileprivate var concernsZone: Bool { self == .zoneNotFound || self == .userDeletedZone }
}
