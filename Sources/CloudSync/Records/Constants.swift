/// The owner name that stands for the signed-in account in the ID of a zone.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The older name of `CKCurrentUserDefaultName`.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = CKCurrentUserDefaultName

/// The record name of a share that covers a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

extension CKRecord {
  /// The record types that the system uses itself.
  public enum SystemType {
    /// The type of the record that each account has in the public database.
    public static let userRecord: CKRecord.RecordType = "Users"
    /// The type of the record of a share; apps create ``CKShare`` instead.
    public static let share: CKRecord.RecordType = "cloudkit.share"
  }

  /// The names by which queries know what the system keeps of each record.
  public enum SystemFieldKey {
    /// The record's ID.
    public static let recordID: CKRecord.FieldKey = "___recordID"
    /// The user who created the record.
    public static let creatorUserRecordID: CKRecord.FieldKey = "___createdBy"
    /// The time of its creation.
    public static let creationDate: CKRecord.FieldKey = "___createTime"
    /// The user who last modified the record.
    public static let lastModifiedUserRecordID: CKRecord.FieldKey = "___modifiedBy"
    /// The time of its last change.
    public static let modificationDate: CKRecord.FieldKey = "___modTime"
    /// Its parent record.
    public static let parent: CKRecord.FieldKey = "___parent"
    /// Its share.
    public static let share: CKRecord.FieldKey = "___share"
  }
}

/// The older name of `CKRecordZone.ID.defaultZoneName`.
@available(*, deprecated, renamed: "CKRecordZone.ID.defaultZoneName")
public let CKRecordZoneDefaultName = CKRecordZoneID.defaultZoneName

/// The older name of `CKRecord.SystemType.userRecord`.
@available(*, deprecated, renamed: "CKRecord.SystemType.userRecord")
public let CKRecordTypeUserRecord = CKRecord.SystemType.userRecord

/// The older name of `CKRecord.SystemType.share`.
@available(*, deprecated, renamed: "CKRecord.SystemType.share")
public let CKRecordTypeShare = CKRecord.SystemType.share

/// The older name of `CKRecord.SystemFieldKey.parent`.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.parent")
public let CKRecordParentKey = CKRecord.SystemFieldKey.parent

/// The older name of `CKRecord.SystemFieldKey.share`.
@available(*, deprecated, renamed: "CKRecord.SystemFieldKey.share")
public let CKRecordShareKey = CKRecord.SystemFieldKey.share

/// The older name of `CKRecord.ReferenceAction`.
public typealias CKRecord_Reference_Action = CKRecord.ReferenceAction
