package import Records

extension CKDatabase {
  /// What can happen to the zones of a database.
  public enum DatabaseChange {
    /// A zone is new or holds changes.
    public struct Modification: Hashable, Sendable {
      /// The zone.
      public let zoneID: CKRecordZone.ID

      /// Notes that `zoneID` is new or holds changes.
      public init(zoneID: CKRecordZone.ID) { self.zoneID = zoneID }
    }

    /// A zone is gone.
    public struct Deletion: Hashable, Sendable {
      /// Why a zone is gone; each kind asks for something else of the app.
      public enum Reason: Hashable, Sendable {
        /// An app deleted it: drop the local data.
        case deleted
        /// The user removed the app's data: drop the local data, upload nothing.
        case purged
        /// The user reset encrypted data: keep the local data and upload it again.
        case encryptedDataReset
      }

      /// The zone that was there.
      public let zoneID: CKRecordZone.ID
      /// Why it went.
      public let reason: Reason

      /// Notes that `zoneID` went for `reason`.
      public init(zoneID: CKRecordZone.ID, reason: Reason = .deleted) {
        self.zoneID = zoneID
        self.reason = reason
      }

      /// Whether the user removed the app's data.
      public var purged: Bool { reason == .purged }

      /// The deletion of the vocabulary.
      package init(_ value: ZoneDeletion) {
        self.init(zoneID: CKRecordZoneID(value.zone), reason: Reason(value.reason))
      }
    }
  }

  /// What can happen to the records of a zone.
  public enum RecordZoneChange {
    /// A record is new or changed.
    public struct Modification: Hashable, Sendable {
      /// The record as it is now.
      public let record: CKRecord

      /// Notes that `record` is new or changed.
      public init(record: CKRecord) { self.record = record }
    }

    /// A record is gone.
    public struct Deletion: Hashable, Sendable {
      /// The record that was there.
      public let recordID: CKRecord.ID
      /// Its type.
      public let recordType: CKRecord.RecordType

      /// Notes that the record went.
      public init(recordID: CKRecord.ID, recordType: CKRecord.RecordType) {
        self.recordID = recordID
        self.recordType = recordType
      }

      /// The deletion of the vocabulary.
      package init(_ value: RecordDeletion) {
        self.init(recordID: CKRecordID(value.id), recordType: value.type)
      }
    }
  }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
  /// The reason of the vocabulary.
  package init(_ value: ZoneDeletionReason) {
    switch value {
    case .deleted: self = .deleted
    case .purged: self = .purged
    case .encryptedDataReset: self = .encryptedDataReset
    }
  }
}
