#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKSyncEngine.Event {
  /// The results of a request for record changes.
  public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
    /// A record that could not be saved, with its error.
    public struct FailedRecordSave: Sendable, CustomStringConvertible {
      /// The record as the delegate supplied it.
      public let record: CKRecord
      /// The server's reason for the refusal, or the failure of the request.
      public let error: CKError

      /// Creates a failure.
      public init(record: CKRecord, error: CKError) {
        self.record = record
        self.error = error
      }

      /// The record's ID and the error.
      public var description: String {
        "FailedRecordSave(recordID: \(record.recordID), error: \(error))"
      }
    }

    /// Saved records: the objects that the delegate supplied, with the server's change tags.
    ///
    /// Store their system fields.
    public let savedRecords: [CKRecord]

    /// Records that could not be saved, with their errors.
    public let failedRecordSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave]

    /// Records that were deleted.
    public let deletedRecordIDs: [CKRecord.ID]

    /// Records that could not be deleted, with their errors.
    public let failedRecordDeletes: [CKRecord.ID: CKError]

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(
      savedRecords: [CKRecord] = [],
      failedRecordSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = [],
      deletedRecordIDs: [CKRecord.ID] = [], failedRecordDeletes: [CKRecord.ID: CKError] = [:]
    ) {
      self.savedRecords = savedRecords
      self.failedRecordSaves = failedRecordSaves
      self.deletedRecordIDs = deletedRecordIDs
      self.failedRecordDeletes = failedRecordDeletes
    }

    /// A description with the numbers of items.
    public var description: String {
      "SentRecordZoneChanges(savedRecords: \(savedRecords.count), "
        + "failedRecordSaves: \(failedRecordSaves.count), "
        + "deletedRecordIDs: \(deletedRecordIDs.count), "
        + "failedRecordDeletes: \(failedRecordDeletes.count))"
    }
  }
}
