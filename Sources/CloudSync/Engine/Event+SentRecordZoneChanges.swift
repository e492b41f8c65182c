#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKSyncEngine.Event {
  /// A request about records was answered.
  public struct SentRecordZoneChanges: Sendable {
    /// A record that could not be saved, and why.
    public struct FailedRecordSave: Sendable {
      /// The record as the delegate gave it out.
      public let record: CKRecord
      /// Why it could not be saved.
      public let error: CKError

      /// Notes a failure.
      public init(record: CKRecord, error: CKError) {
        self.record = record
        self.error = error
      }
    }

    /// Records as they are on the server now; keep their system fields.
    public let savedRecords: [CKRecord]

    /// Records that could not be saved, and why.
    public let failedRecordSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave]

    /// Records that are gone now.
    public let deletedRecordIDs: [CKRecord.ID]

    /// Records that could not be deleted, and why.
    public let failedRecordDeletes: [CKRecord.ID: CKError]

    /// Builds the payload; in CloudKit only the engine can.
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
  }
}

extension CKSyncEngine.Event.SentRecordZoneChanges: CustomStringConvertible {
  /// What it is about, with counts of what it carries.
  public var description: String {
    "SentRecordZoneChanges(savedRecords: \(savedRecords.count), "
      + "failedRecordSaves: \(failedRecordSaves.count), "
      + "deletedRecordIDs: \(deletedRecordIDs.count), "
      + "failedRecordDeletes: \(failedRecordDeletes.count))"
  }
}

extension CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave: CustomStringConvertible {
  /// The record's ID and the error.
  public var description: String {
    "FailedRecordSave(recordID: \(record.recordID), error: \(error))"
  }
}
