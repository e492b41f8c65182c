import Foundation

/// Creates and deletes zones in one request; see CS-33.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zones to create; an existing zone stays unchanged, which is a success.
  public final var recordZonesToSave: [CKRecordZone]?
  /// The zones to delete with their records.
  public final var recordZoneIDsToDelete: [CKRecordZone.ID]?

  /// Called for each zone to create.
  public final var perRecordZoneSaveBlock:
    ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  /// Called for each zone to delete.
  public final var perRecordZoneDeleteBlock: ((CKRecordZone.ID, Result<Void, any Error>) -> Void)?
  /// Called once at the end; a success when only single zones failed.
  public final var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with the changed zones; `partialFailure` if single zones failed.
  public final var modifyRecordZonesCompletionBlock:
    (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that creates and deletes zones.
  public convenience init(
    recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
  ) {
    self.init()
    self.recordZonesToSave = recordZonesToSave
    self.recordZoneIDsToDelete = recordZoneIDsToDelete
  }

  override func run() async {
    await perform {
      try await requests.modifyZones(
        saving: recordZonesToSave ?? [], deleting: recordZoneIDsToDelete ?? [])
    } reporting: { results in
      try await report(results.saved) { self.perRecordZoneSaveBlock?($0, $1.widened) }
      try await report(results.deleted) { self.perRecordZoneDeleteBlock?($0, $1.widened) }
    } concluding: { results, result, error in
      self.modifyRecordZonesResultBlock?(result)
      self.modifyRecordZonesCompletionBlock?(
        results?.saved.values, results?.deleted.successfulIDs, error)
    }
  }
}
