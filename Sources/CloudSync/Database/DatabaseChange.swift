package import Records

extension CKDatabase {
  /// The elements of a database's change feed: changed and deleted zones.
  public enum DatabaseChange {
    /// A zone that is new or has changes.
    public struct Modification: Hashable, Sendable {
      /// The zone whose changes can be fetched.
      public let zoneID: CKRecordZone.ID

      /// Creates the change of `zoneID`.
      public init(zoneID: CKRecordZone.ID) { self.zoneID = zoneID }
    }

    /// A zone that was deleted.
    public struct Deletion: Hashable, Sendable {
      /// The reason of a deletion; it determines the reaction of the app.
      public enum Reason: Hashable, Sendable {
        /// An app deleted it: drop the local data.
        case deleted
        /// The user removed the app's data: drop the local data, upload nothing.
        case purged
        /// The user reset encrypted data: keep the local data and upload it again.
        case encryptedDataReset
      }

      /// The deleted zone.
      public let zoneID: CKRecordZone.ID
      /// Who deleted the zone, which decides what the app does with its local data.
      public let reason: Reason

      /// Creates the deletion of `zoneID`.
      public init(zoneID: CKRecordZone.ID, reason: Reason = .deleted) {
        self.zoneID = zoneID
        self.reason = reason
      }

      /// Whether the user removed the app's data.
      public var purged: Bool { reason == .purged }

      /// Converts a deletion.
      package init(_ value: ZoneDeletion) {
        self.init(zoneID: CKRecordZoneID(value.zone), reason: Reason(value.reason))
      }
    }
  }

  /// The elements of a zone's change feed: saved and deleted records.
  public enum RecordZoneChange {
    /// A record that is new or changed.
    public struct Modification: Hashable, Sendable {
      /// The record as it is now.
      public let record: CKRecord

      /// Creates the change of `record`.
      public init(record: CKRecord) { self.record = record }
    }

    /// A record that was deleted.
    public struct Deletion: Hashable, Sendable {
      /// The ID of the deleted record.
      public let recordID: CKRecord.ID
      /// The type that the deleted record had.
      public let recordType: CKRecord.RecordType

      /// Creates the deletion of a record.
      public init(recordID: CKRecord.ID, recordType: CKRecord.RecordType) {
        self.recordID = recordID
        self.recordType = recordType
      }

      /// Converts a deletion.
      package init(_ value: RecordDeletion) {
        self.init(recordID: CKRecordID(value.id), recordType: value.type)
      }
    }
  }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
  /// Converts a reason.
  package init(_ value: ZoneDeletionReason) {
    switch value {
    case .deleted: self = .deleted
    case .purged: self = .purged
    case .encryptedDataReset: self = .encryptedDataReset
    }
  }
}
