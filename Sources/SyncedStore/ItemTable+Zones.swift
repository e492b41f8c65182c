import Foundation

/// The rules for accounts and zones.
extension ItemTable {
  // MARK: Accounts

  /// An account is signed in: at the first start of an engine without state, and after a sign-in.
  mutating func takeSignIn(_ user: CKRecord.ID) {
    if let owner = settings.owner {
      if owner != user.recordName { wipe() }
    } else if entries.values.contains(where: { $0.systemFields != nil }) {
      // The account of these records is unknown. Items that were never on the server stay.
      removeSynced { $1.systemFields != nil }
    }
    settings.owner = user.recordName
    sendEverything()
  }

  /// Handles a sign-out, or the sign-in of another account.
  mutating func takeAccountChange(to user: CKRecord.ID?) {
    // A crash after an earlier report of the same change: the items are the new account's already.
    guard user == nil || settings.owner != user?.recordName else { return }
    // Items from before the first sign-in belong to nobody, and stay.
    if settings.owner != nil { wipe() }
    settings.owner = user?.recordName
  }

  /// Removes everything of the account; items that stay on the device, and whether the user wants
  /// sync, are kept.
  mutating func wipe() {
    let wipes = activity.wipes + 1
    activity = SyncedStore.Activity()
    activity.wipes = wipes
    settings = StoreSettings(
      isEnabled: settings.isEnabled, database: settings.database,
      defaultZone: settings.defaultZone)
    handedOver = []
    inFlight = [:]
    attempts = [:]
    missingZones = []
    ownDeletions = []
    removeSynced { _, _ in true }
    effects.isWiped = true
  }

  private mutating func removeSynced(where isRemoved: (CKRecord.ID, Entry) -> Bool) {
    effects.isErased = true
    let removed = entries.filter { isRemoved($0.key, $0.value) }
    for (id, entry) in removed.sorted(by: { $0.key.recordName < $1.key.recordName }) {
      forgetFailure(id)
      guard let item = entry.item, !item.isSynced else {
        if entry.item != nil { show(id, entry.type, .removed) }
        set(nil, for: id)
        continue
      }
      update(id) { entry in
        entry.forgetRecord()
        entry.change = nil
      }
    }
  }

  // MARK: Zones

  /// A zone exists: it was saved, or has changes.
  mutating func takeZone(_ zone: CKRecordZone.ID) {
    if missingZones.remove(zone) != nil {
      // Saves failed meanwhile, and the engine does not repeat them.
      effects.touched += due.filter { $0.zoneID == zone }
    }
    activity.solve(.zone(zone))
    guard !self.zone(zone).exists else { return }
    updateZone(zone) {
      $0.exists = true
      $0.isAccessLost = nil
    }
  }

  /// The zones to fetch: all but those that the store does not accept, so that their records are
  /// found when it does.
  var fetchScope: CKSyncEngine.FetchChangesOptions.Scope {
    .allExcluding(settings.zones.map(\.id).filter { !accepts($0) })
  }

  mutating func takeFailedZone(_ zone: CKRecordZone.ID, _ error: CKError) {
    guard !error.code.isRetried else { return }
    activity.note(.zone(zone), error.code, message(error))
  }

  /// Saves of some records found that their zone does not exist.
  ///
  /// If nothing was ever in it, it is created. Otherwise a fetch has to tell first whether another
  /// device deleted it: what was deleted must not return.
  mutating func takeMissingZone(
    _ zone: CKRecordZone.ID, _ error: CKError, savesOf records: [CKRecord.ID]
  ) {
    if error.code == .userDeletedZone { return takeZoneDeletion(zone, .purged) }
    if scope == .shared { return takeZoneDeletion(zone, .deleted) }
    if error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true {
      return takeZoneDeletion(zone, .encryptedDataReset)
    }
    guard !missingZones.contains(zone) else { return }
    if hasRecords(in: zone) {
      missingZones.insert(zone)
      updateZone(zone) { $0.exists = false }
    } else if self.zone(zone).exists || !recreates(zone) {
      sendAnew(zone)
    } else {
      // It is about to be created, and the others of its records wait for that.
      effects.touched += records
    }
  }

  /// Creates those of `zones` that are missing although a fetch did not say that they were deleted.
  mutating func createMissingZones(among zones: Set<CKRecordZone.ID>) {
    for zone in missingZones.intersection(zones).sorted(by: { $0.zoneName < $1.zoneName }) {
      sendAnew(zone)
    }
  }

  /// The first complete fetch of an engine without state has ended.
  ///
  /// - Parameter zones: the zones that exist.
  mutating func takeAllZones(_ zones: Set<CKRecordZone.ID>) {
    for zone in knownZones.subtracting(zones).sorted(by: { $0.zoneName < $1.zoneName }) {
      // In one's own database it is not known who removed the zone: no data is lost.
      if scope == .shared { takeZoneDeletion(zone, .deleted) } else { sendAnew(zone) }
    }
  }

  /// The zones that have records, as far as is known.
  var knownZones: Set<CKRecordZone.ID> {
    Set(entries.filter { $1.systemFields != nil }.keys.map(\.zoneID))
      .union(settings.zones.filter { $0.share != nil }.map(\.id))
  }

  /// A zone was deleted, or the account lost access to it.
  mutating func takeZoneDeletion(
    _ zone: CKRecordZone.ID, _ reason: CKDatabase.DatabaseChange.Deletion.Reason
  ) {
    switch reason {
    case .encryptedDataReset:
      // The server lost its keys, and this device has the items.
      sendAnew(zone)
    case .deleted, .purged:
      // Without records the deletion was followed before, and the changes were made after it.
      let hasChanges = unsent.contains { $0.zoneID == zone }
      guard scope == .shared || hasRecords(in: zone) || !hasChanges else { return sendAnew(zone) }
      removeZone(zone)
    @unknown default: break
    }
  }

  /// Removes the items of a zone that does not exist any more.
  mutating func removeZone(_ zone: CKRecordZone.ID) {
    let isAccessLost = scope == .shared
    missingZones.remove(zone)
    ownDeletions = ownDeletions.filter { $0.zoneID != zone }
    updateZone(zone) {
      $0.exists = false
      $0.share = nil
      if isAccessLost { $0.isAccessLost = true }
    }
    if isAccessLost { noteLostChanges(in: zone) }
    effects.droppedZones.append(zone)
    removeSynced { id, _ in id.zoneID == zone }
  }

  /// Reports the unsent items of a zone that the account has no access to any more.
  private mutating func noteLostChanges(in zone: CKRecordZone.ID) {
    let lost = unsent.count { $0.zoneID == zone && entries[$0]?.change?.isDeletion == false }
    guard lost > 0 else { return }
    activity.note(
      .zone(zone), .zoneNotFound,
      "\(lost) unsent \(lost == 1 ? "change was" : "changes were") lost: the zone "
        + "\(zone.zoneName) is not shared with this account any more.")
  }

  /// Whether the server has records in a zone, as far as is known.
  func hasRecords(in zone: CKRecordZone.ID) -> Bool {
    entries.contains { $0.zoneID == zone && $1.systemFields != nil }
  }

  /// Creates a zone and sends all its items: no change tag of a zone that is gone is right.
  private mutating func sendAnew(_ zone: CKRecordZone.ID) {
    guard recreates(zone) else { return removeZone(zone) }
    missingZones.remove(zone)
    updateZone(zone) {
      $0.exists = false
      $0.share = nil
    }
    let ofZone = entries.filter { $0.key.zoneID == zone }
    for (id, entry) in ofZone.sorted(by: { $0.value.order < $1.value.order }) {
      guard let item = entry.item, item.isSynced else {
        // A deletion has no record any more. One that can't be read can't be sent; it is kept for a
        // version that can.
        update(id) { entry in
          let unreadable = entry.change?.isDeletion == true ? nil : entry.unreadable
          entry.forgetRecord()
          entry.unreadable = unreadable
          entry.change = nil
        }
        continue
      }
      let change = newChange(isDeletion: false)
      update(id) { entry in
        entry.forgetRecord()
        entry.change = change
      }
    }
  }
}
