import Foundation

/// Creates and deletes zones in one request.
///
/// See CS-33.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zones to create; one that exists is left as it is, and that is a success.
  public final var recordZonesToSave: [CKRecordZone]?
  /// The zones to delete with all they hold.
  public final var recordZoneIDsToDelete: [CKRecordZone.ID]?

  /// Called for each zone to create.
  public final var perRecordZoneSaveBlock:
    ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  /// Called for each zone to delete.
  public final var perRecordZoneDeleteBlock: ((CKRecordZone.ID, Result<Void, any Error>) -> Void)?
  /// Called once at the end; a success when only single zones failed.
  public final var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with what was done; `partialFailure` when single zones failed.
  public final var modifyRecordZonesCompletionBlock:
    (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Creates and deletes zones.
  public convenience init(
    recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
  ) {
    self.init()
    self.recordZonesToSave = recordZonesToSave
    self.recordZoneIDsToDelete = recordZoneIDsToDelete
  }

  override func run() async {
    var done: ModifyResults<CKRecordZone.ID, CKRecordZone>?
    var failure: CKError?
    do throws(CKError) {
      let results = try await requests().modifyZones(
        saving: recordZonesToSave ?? [], deleting: recordZoneIDsToDelete ?? [])
      done = results
      try await report(results.saved) { self.perRecordZoneSaveBlock?($0, $1.widened) }
      try await report(results.deleted) { self.perRecordZoneDeleteBlock?($0, $1.widened) }
    } catch {
      failure = error
    }
    let saved = done?.saved.values
    let deleted = done?.deleted.successfulIDs
    await conclude(failure, items: done?.failures ?? [:]) { result, error in
      self.modifyRecordZonesResultBlock?(result)
      self.modifyRecordZonesCompletionBlock?(saved, deleted, error)
    }
  }
}
