public import CloudSync

/// One thing that happened in the cloud to an account, a zone or a record.
public enum RecordNews: Sendable {
  /// Somebody is signed in: at the first start of an engine without state, and after a sign-in.
  case signedIn(CKRecord.ID)
  /// Nobody is signed in any more.
  case signedOut
  /// Somebody else is signed in now.
  case switched(to: CKRecord.ID)
  /// A zone is gone: another device or its owner removed it, or this account lost its access.
  case zoneGone(CKRecordZone.ID, CKDatabase.DatabaseChange.Deletion.Reason)
  /// A zone is there: it was saved, or another device changed it.
  case zoneExists(CKRecordZone.ID)
  /// A zone was not saved; the engine repeats the save if the error passes by itself.
  case zoneRefused(CKRecordZone.ID, CKError)
  /// A save was refused because its zone is not there.
  case zoneMissing(CKRecordZone.ID)
  /// A save found that the user removed the zone in the settings.
  case zonePurged(CKRecordZone.ID)
  /// A zone was read from its beginning, and these are all the records it holds: what the store
  /// knows besides was deleted while nobody could say so.
  case zoneRead(CKRecordZone.ID, holds: Set<CKRecord.ID>)
  /// Another device saved this version, or this device did and hears it back.
  case fetched(CKRecord)
  /// Another device deleted the record.
  case removed(CKRecord.ID, type: CKRecord.RecordType)
  /// A save was accepted: the cloud holds this version now.
  case saved(CKRecord)
  /// A save was refused: the cloud holds this other version.
  case conflict(CKRecord)
  /// A save was refused: the record it was to change is gone from the cloud.
  case vanished(CKRecord.ID)
  /// This device's deletion is done.
  case deleted(CKRecord.ID)
  /// The change was not made now, and is sent again: by the engine, if the error passes by itself.
  case postponed(CKRecord.ID, CKError)
  /// The cloud does not take the change; it is tried again by a person or the next start only.
  case refused(CKRecord.ID, CKError)
}

extension RecordNews {
  /// The zone it is about; `nil` for an account.
  public var zoneID: CKRecordZone.ID? {
    switch self {
    case .signedIn, .signedOut, .switched: nil
    case .zoneGone(let id, _), .zoneExists(let id), .zoneRefused(let id, _), .zoneMissing(let id),
      .zonePurged(let id), .zoneRead(let id, holds: _):
      id
    case .fetched(let record), .saved(let record), .conflict(let record): record.recordID.zoneID
    case .removed(let id, type: _), .vanished(let id), .deleted(let id), .postponed(let id, _),
      .refused(let id, _):
      id.zoneID
    }
  }
}

/// What a store wants to be sent.
public enum RecordWish: Hashable, Sendable {
  /// The record's newest version.
  case save(CKRecord.ID)
  /// The record's deletion.
  case delete(CKRecord.ID)
  /// The zone itself.
  case saveZone(CKRecordZone.ID)
  /// The zone's deletion, with all that is in it.
  case deleteZone(CKRecordZone.ID)
  /// Nothing any more of this record.
  case drop(CKRecord.ID)
  /// Removal of the zone's pending save.
  case dropZone(CKRecordZone.ID)
}

extension RecordWish {
  /// The wish for a pending change.
  public init(_ change: CKSyncEngine.PendingRecordZoneChange) {
    switch change {
    case .saveRecord(let id): self = .save(id)
    case .deleteRecord(let id): self = .delete(id)
    }
  }
}

/// A store whose records have names and zones of its own choice, kept in step by ``RecordSync``.
///
/// It keeps items, tags and what is unsent in one file, so that no two of them can disagree after
/// a crash. All methods may be called from any thread.
public protocol RecordKeeper: AnyObject, Sendable {
  /// Takes in what happened, in memory, in the order it happened.
  ///
  /// - Parameter scope: the database it happened in.
  /// - Returns: what is to be sent because of it.
  func take(_ news: [RecordNews], in scope: CKDatabase.Scope) -> [RecordWish]

  /// The record to send, with the tag last seen, or `nil` when there is nothing to send any more.
  func record(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> CKRecord?

  /// The changes of the next batch, for a store that groups its changes; empty for none.
  ///
  /// - Returns: `nil` to send what is pending, in its order.
  func nextGroup(
    in scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> [CKSyncEngine.PendingRecordZoneChange]?

  /// Notes the batch that is sent next, and the group it was made of, all of which may not fit.
  func willSend(
    _ batch: CKSyncEngine.RecordZoneChangeBatch, of group: [CKSyncEngine.PendingRecordZoneChange])

  /// Whether the record has a version the cloud has not confirmed.
  func isUnsent(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> Bool

  /// Everything the cloud has not confirmed yet, in an order every run repeats.
  func everythingUnsent(in scope: CKDatabase.Scope) throws -> [RecordWish]

  /// Writes down what is only in memory yet; costs nothing when there is nothing.
  ///
  /// - Throws: `FileError` when it can't be written; it stays in memory for the next call.
  func writeDown() throws

  /// Whether everything has to be fetched again, because the store lost what it knew.
  var needsFullFetch: Bool { get }

  /// Clears ``needsFullFetch``; called when the next fetch is certain to be complete.
  func fullFetchIsCertain()

  /// The message about a refused change, where the store has one of its own; otherwise `nil`.
  func message(for error: CKError) -> String?
}

extension RecordKeeper {
  /// Returns `nil`: changes are sent in the order in which they became pending.
  public func nextGroup(
    in scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> [CKSyncEngine.PendingRecordZoneChange]? { nil }

  /// Does nothing.
  public func willSend(
    _ batch: CKSyncEngine.RecordZoneChangeBatch, of group: [CKSyncEngine.PendingRecordZoneChange]
  ) {}

  /// Returns `false`, for a store that removes the engine's state itself.
  public var needsFullFetch: Bool { false }

  /// Does nothing.
  public func fullFetchIsCertain() {}

  /// Returns `nil`: ``RecordSync`` has a message for every error.
  public func message(for error: CKError) -> String? { nil }
}
