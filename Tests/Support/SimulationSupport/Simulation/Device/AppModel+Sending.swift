import CloudProtocol
import Records
import SyncMachine

/// The app's batches and its handling of their outcomes.
extension AppModel {
  /// The next batch of the changes that wait; what vanished meanwhile is taken back.
  mutating func nextBatch(
    _ context: SendContext, waiting: [PendingChange<RecordID>]
  ) -> RecordBatch? {
    var batch = RecordBatch(isAtomic: policy.isAtomic)
    if policy.isUntracked {
      for place in entries.indices
      where entries[place].isDirty && !entries[place].isBlocked
        && context.scope.contains(layout.records[place]) && batch.count < policy.batchLimit
      {
        append(place, entries[place].value == nil ? .delete : .save, to: &batch)
      }
    } else {
      for change in waiting where context.scope.contains(change.id) {
        guard batch.count < policy.batchLimit else { break }
        guard let place = layout.place(of: change.id) else { continue }
        let isThere = entries[place].value != nil
        if isThere == (change.kind == .save) {
          append(place, change.kind, to: &batch)
        } else {
          calls.append(.remove(change.kind, .record(change.id)))
        }
      }
    }
    return batch.count == 0 ? nil : batch
  }

  private func append(_ place: Int, _ kind: ChangeKind, to batch: inout RecordBatch) {
    let id = layout.records[place]
    if kind == .save, let value = entries[place].value {
      batch.saves.append(
        RecordSave(
          id: id, type: SimulatedValue.recordType, changeTag: entries[place].tag,
          changes: value.changes, parent: layout.parentChange(of: place)))
    } else {
      batch.deletions.append(id)
    }
  }

  mutating func handle(_ sent: SentZones) {
    for result in sent.saved {
      guard let zone = layout.number(of: result.id), let error = result.error else { continue }
      if error.code.isRetriedByEngine { continue }
      if policy.addsRefusedZones, !zonesToDelete[zone] {
        calls.append(.add(.save, .zone(layout.zones[zone])))
      } else {
        blockedZones[zone] = true
      }
    }
    for result in sent.deleted {
      guard let zone = layout.number(of: result.id) else { continue }
      switch result.error?.code {
      case nil, .zoneNotFound, .userDeletedZone:
        // Also what was fetched while the deletion waited.
        if zonesToDelete[zone] { drop(zone) } else { wasLost(zone) }
      case _?: break  // The engine tries again, or people do.
      }
    }
  }

  /// A zone was deleted that the app has created again since.
  ///
  /// The engine was restored from an older state. Unconfirmed changes are sent again.
  private mutating func wasLost(_ zone: Int) {
    knownZones[zone] = false
    for place in layout.places(of: zone) {
      entries[place].tag = nil
      if !entries[place].isDirty {
        entries[place] = Entry()
      } else if entries[place].value != nil {
        wantSent(place)
      }
    }
  }

  mutating func handle(_ sent: SentRecords) {
    for result in sent.saved {
      guard let place = layout.place(of: result.id) else { continue }
      switch result.outcome {
      case .success(let record): wasSaved(place, record)
      case .failure(let error): wasNotSaved(place, error)
      }
    }
    for result in sent.deleted {
      guard let place = layout.place(of: result.id) else { continue }
      switch result.outcome {
      case .success: wasDeleted(place)
      case .failure(let error): wasNotDeleted(place, error)
      }
    }
  }

  private mutating func wasSaved(_ place: Int, _ record: Record) {
    let value = SimulatedValue(record, at: place)
    // Without a value the app forgot the record meanwhile; a fetch brings it back if it stays.
    entries[place].tag = entries[place].value == nil ? nil : record.changeTag
    entries[place].confirmed = value
    // A newer edit was added when it was made: the engine still has it.
    if value == entries[place].value { entries[place].isDirty = false }
  }

  private mutating func wasDeleted(_ place: Int) {
    entries[place].tag = nil
    if entries[place].value == nil { entries[place].isDirty = false }
  }

  private mutating func wasNotSaved(_ place: Int, _ error: CloudError) {
    switch error.code {
    case .serverRecordChanged:
      guard let record = error.serverRecord else { return }
      accept(record)
      if entries[place].isDirty { wantSent(place) }
    case .unknownItem:
      isGone(place)
      if entries[place].isDirty { wantSent(place) }
    case .userDeletedZone:
      // Purged by the user: nothing of it is uploaded again.
      drop(layout.zone(of: place))
    case .zoneNotFound:
      // What is confirmed goes when the engine tells that the zone is gone.
      guard entries[place].isDirty else { return }
      // Another account's can't be made again; when it is gone the engine tells so.
      guard policy.visits == nil else { return giveUp(place) }
      entries[place].tag = nil
      wantZone(layout.zone(of: place))
      wantSent(place)
    case .referenceViolation: hasNoParent(place)
    default: wasRefused(place, error.code)
    }
  }

  /// A record was refused since its parent is not on the server: the parent has to go first, where
  /// it is still to be sent, and is gone otherwise.
  ///
  /// Two batches, each with a child of a record in the other, never succeed as a whole.
  private mutating func hasNoParent(_ place: Int) {
    guard entries[place].isDirty, let parent = layout.parent(of: place),
      entries[parent].isDirty, entries[parent].value != nil
    else { return giveUp(place) }
    guard !entries[parent].isBlocked else { return entries[place].isBlocked = true }
    policy.isAtomic = false
    wantSent(place)
  }

  private mutating func wasNotDeleted(_ place: Int, _ error: CloudError) {
    switch error.code {
    case .unknownItem, .zoneNotFound, .userDeletedZone: wasDeleted(place)
    case .referenceViolation: giveUp(place)
    default: wasRefused(place, error.code)
    }
  }

  /// A save or a deletion failed with a code that means the same for both.
  private mutating func wasRefused(_ place: Int, _ code: CloudError.Code) {
    switch code {
    case _ where code.isRetriedByEngine:
      if policy.isUntracked { calls.append(.noteUntracked) }
    case .batchRequestFailed, .limitExceeded:
      if code == .limitExceeded { policy.batchLimit = max(1, policy.batchLimit / 2) }
      if entries[place].isDirty { wantSent(place) }
    case .permissionFailure where policy.visits != nil: giveUp(place)
    default: entries[place].isBlocked = entries[place].isDirty
    }
  }
}

extension CloudError.Code {
  /// Whether the engine keeps a change that failed so; the contract as apps know it, on purpose
  /// written down a second time.
  var isRetriedByEngine: Bool {
    switch self {
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
      .notAuthenticated, .zoneBusy, .accountTemporarilyUnavailable, .operationCancelled,
      .serverResponseLost, .managedAccountRestricted:
      true
    case .internalError, .partialFailure, .badContainer, .missingEntitlement, .permissionFailure,
      .unknownItem, .invalidArguments, .resultsTruncated, .serverRecordChanged,
      .serverRejectedRequest, .assetFileNotFound, .assetFileModified, .incompatibleVersion,
      .constraintViolation, .changeTokenExpired, .batchRequestFailed, .badDatabase,
      .quotaExceeded, .zoneNotFound, .limitExceeded, .userDeletedZone, .tooManyParticipants,
      .alreadyShared, .referenceViolation,
      .participantMayNeedVerification, .assetNotAvailable, .participantAlreadyInvited:
      false
    }
  }
}
