/// The owner name that stands for the user who asks.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The older name of `CKCurrentUserDefaultName`.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = CKCurrentUserDefaultName

/// The record name of a zone-wide share.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

extension CKRecord {
  /// The record types that the system uses itself.
  public enum SystemType {
    /// The type of user records.
    public static let userRecord: CKRecord.RecordType = "Users"
    /// The type of share records.
    public static let share: CKRecord.RecordType = "cloudkit.share"
  }

  /// The names by which queries know what the system keeps of each record.
  public enum SystemFieldKey {
    /// The record's ID.
    public static let recordID: CKRecord.FieldKey = "___recordID"
    /// Who created it.
    public static let creatorUserRecordID: CKRecord.FieldKey = "___createdBy"
    /// When it was created.
    public static let creationDate: CKRecord.FieldKey = "___createTime"
    /// Who changed it last.
    public static let lastModifiedUserRecordID: CKRecord.FieldKey = "___modifiedBy"
    /// When it was changed last.
    public static let modificationDate: CKRecord.FieldKey = "___modTime"
    /// The record it hangs under.
    public static let parent: CKRecord.FieldKey = "___parent"
    /// The share it is in.
    public static let share: CKRecord.FieldKey = "___share"
  }
}
