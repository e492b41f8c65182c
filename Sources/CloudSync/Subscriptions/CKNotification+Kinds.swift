import Foundation
import Records

/// A push of a subscription to a database.
///
/// `@unchecked` as its superclass is: immutable.
public final class CKDatabaseNotification: CKNotification, @unchecked Sendable {
  /// The database that changed.
  public var databaseScope: CKDatabase.Scope { content.scope }
}

/// A push of a subscription to a zone.
///
/// `@unchecked` as its superclass is: immutable.
public final class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
  /// The zone that changed.
  public var recordZoneID: CKRecordZone.ID? { content.zone.map { CKRecordZoneID($0) } }

  /// The database that holds the zone.
  public var databaseScope: CKDatabase.Scope { content.scope }
}

/// A push of a query subscription: a record was created, changed or deleted.
///
/// `@unchecked` as its superclass is: immutable.
public final class CKQueryNotification: CKNotification, @unchecked Sendable {
  /// The change of the record.
  public enum Reason: Int, Sendable {
    /// The record was created.
    case recordCreated = 1
    /// The record was changed.
    case recordUpdated = 2
    /// The record was deleted.
    case recordDeleted = 3
  }

  /// The change of the record.
  public var queryNotificationReason: CKQueryNotification.Reason { content.reason }

  /// The fields that the subscription's `desiredKeys` asked for, as far as they fitted.
  public var recordFields: [String: Any]? {
    content.recordFields.map { fields in
      Dictionary(fields.map { ($0.key, $0.field.value.boxed as Any) }) { $1 }
    }
  }

  /// The record it is about.
  public var recordID: CKRecord.ID? { content.record.map { CKRecordID($0) } }

  /// The database that holds the record.
  public var databaseScope: CKDatabase.Scope { content.scope }
}
