import CloudSync
import Foundation
import Testing

/// Strings and numbers that apps, archives and the service know.
///
/// See CS-2 to CS-4.
@Suite("Names and numbers")
struct ConstantTests {
  /// Proves CS-2.
  @Test("Keys, system names and the notification are the strings that CloudKit uses")
  func constantsMatchCloudKitStrings() {
    let table: [(String, String)] = [
      (CKErrorDomain, "CKErrorDomain"), (CKPartialErrorsByItemIDKey, "CKPartialErrors"),
      (CKErrorRetryAfterKey, "CKRetryAfter"),
      (CKRecordChangedErrorAncestorRecordKey, "AncestorRecord"),
      (CKRecordChangedErrorServerRecordKey, "ServerRecord"),
      (CKRecordChangedErrorClientRecordKey, "ClientRecord"),
      (CKErrorUserDidResetEncryptedDataKey, "CKUserDidResetEncryptedData"),
      (CKCurrentUserDefaultName, "__defaultOwner__"),
      (CKRecordZone.ID.defaultZoneName, "_defaultZone"), (CKRecord.SystemType.userRecord, "Users"),
      (CKRecord.SystemType.share, "cloudkit.share"),
      (CKRecordNameZoneWideShare, "cloudkit.zoneshare"),
      (CKRecord.SystemFieldKey.recordID, "___recordID"),
      (CKRecord.SystemFieldKey.creationDate, "___createTime"),
      (CKRecord.SystemFieldKey.modificationDate, "___modTime"),
      (CKRecord.SystemFieldKey.creatorUserRecordID, "___createdBy"),
      (CKRecord.SystemFieldKey.lastModifiedUserRecordID, "___modifiedBy"),
      (CKRecord.SystemFieldKey.parent, "___parent"), (CKRecord.SystemFieldKey.share, "___share"),
      (CKShare.SystemFieldKey.title, "cloudkit.title"),
      (CKShare.SystemFieldKey.thumbnailImageData, "cloudkit.thumbnailImageData"),
      (CKShare.SystemFieldKey.shareType, "cloudkit.type"),
      (Notification.Name.CKAccountChanged.rawValue, "CKAccountChangedNotification"),
    ]
    for (constant, text) in table { #expect(constant == text) }
    #expect(CKQueryOperation.maximumResults == 0, "the server decides")
    let root = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r"))
    #expect(CKShare(rootRecord: root).recordID.recordName.hasPrefix("Share-"))
  }

  /// Proves CS-3.
  @Test("Enumerations and option sets have CloudKit's raw values")
  func enumerationsMatchCloudKitRawValues() {
    typealias Group = CKOperationGroup.TransferSize
    let sizes: [Group] = [
      .unknown, .kilobytes, .megabytes, .tensOfMegabytes, .hundredsOfMegabytes, .gigabytes,
      .tensOfGigabytes, .hundredsOfGigabytes,
    ]
    let statuses: [CKAccountStatus] = [
      .couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable,
    ]
    let numbers: [(String, [Int], [Int])] = [
      ("transfer size", sizes.map(\.rawValue), Array(0...7)),
      ("account status", statuses.map(\.rawValue), Array(0...4)),
      ("scope", [CKDatabase.Scope.public, .private, .shared].map(\.rawValue), [1, 2, 3]),
      (
        "save policy",
        [
          CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged, .changedKeys,
          .allKeys,
        ].map(\.rawValue), [0, 1, 2]
      ),
      (
        "encryption scope",
        [CKRecordZone.EncryptionScope.perRecord, .perZone].map(\.rawValue), [0, 1]
      ),
      (
        "subscription type",
        [CKSubscription.SubscriptionType.query, .recordZone, .database].map(\.rawValue), [1, 2, 3]
      ),
      (
        "notification type",
        [CKNotification.NotificationType.query, .recordZone, .readNotification, .database].map(
          \.rawValue), [1, 2, 3, 4]
      ),
      (
        "reason",
        [CKQueryNotification.Reason.recordCreated, .recordUpdated, .recordDeleted].map(\.rawValue),
        [1, 2, 3]
      ),
      (
        "acceptance",
        [CKShare.ParticipantAcceptanceStatus.unknown, .pending, .accepted, .removed].map(
          \.rawValue), [0, 1, 2, 3]
      ),
      (
        "permission",
        [CKShare.ParticipantPermission.unknown, .none, .readOnly, .readWrite].map(\.rawValue),
        [0, 1, 2, 3]
      ),
      (
        "role",
        [CKShare.ParticipantRole.unknown, .owner, .administrator, .privateUser, .publicUser].map(
          \.rawValue), [0, 1, 2, 3, 4]
      ),
    ]
    for (name, found, wanted) in numbers { #expect(found == wanted, "\(name)") }
  }

  /// Proves CS-3.
  @Test("Option sets have CloudKit's bits")
  func optionSetsMatchCloudKitBits() {
    let bits: [(String, [UInt], [UInt])] = [
      ("action", [CKRecord.ReferenceAction.none, .deleteSelf].map(\.rawValue), [0, 1]),
      (
        "capabilities",
        [CKRecordZone.Capabilities.fetchChanges, .atomic, .sharing, .zoneWideSharing].map(
          \.rawValue), [1, 2, 4, 8]
      ),
      (
        "query subscription",
        [
          CKQuerySubscription.Options.firesOnRecordCreation, .firesOnRecordUpdate,
          .firesOnRecordDeletion, .firesOnce,
        ].map(\.rawValue), [1, 2, 4, 8]
      ),
      (
        "access",
        [CKSharingParticipantAccessOption.anyoneWithLink, .specifiedRecipientsOnly, .any].map(
          \.rawValue), [1, 2, 3]
      ),
      (
        "rights",
        [CKSharingParticipantPermissionOption.readOnly, .readWrite, .any].map(\.rawValue),
        [1, 2, 3]
      ),
    ]
    for (name, found, wanted) in bits { #expect(found == wanted, "\(name)") }
  }

  /// Proves CS-4.
  @Test("Names from older Swift versions equal the current names")
  func olderSwiftNamesEqualNewerNames() {
    let names = (OlderNames.self as any NamesInPairs.Type).pairs
    for (older, newer) in names { #expect(older == newer) }
    let action: CKRecord_Reference_Action = .deleteSelf
    #expect(action == CKRecord.ReferenceAction.deleteSelf)
    let permission: CKContainer_Application_Permissions = .userDiscoverability
    #expect(permission == CKContainer.ApplicationPermissions.userDiscoverability)
    let status: CKContainer_Application_PermissionStatus = .granted
    #expect(status == CKContainer.ApplicationPermissionStatus.granted)
  }

  /// Proves CS-173.
  @Test("A client token set on a modification stays on the operation and in its zone's result")
  func operationKeepsClientChangeToken() {
    let operation = CKModifyRecordsOperation()
    #expect(operation.clientChangeTokenData == nil)
    operation.clientChangeTokenData = Data([1, 2])
    #expect(operation.clientChangeTokenData == Data([1, 2]))
  }
}

/// Pairs of an older name and the one that stands for it now.
private protocol NamesInPairs {
  static var pairs: [(String, String)] { get }
}

private enum OlderNames: NamesInPairs {
  @available(*, deprecated, message: "they are what is tested")
  static var pairs: [(String, String)] {
    [
      (CKOwnerDefaultName, CKCurrentUserDefaultName),
      (CKRecordZoneDefaultName, CKRecordZone.ID.defaultZoneName),
      (CKRecordTypeUserRecord, CKRecord.SystemType.userRecord),
      (CKRecordTypeShare, CKRecord.SystemType.share),
      (CKRecordParentKey, CKRecord.SystemFieldKey.parent),
      (CKRecordShareKey, CKRecord.SystemFieldKey.share),
    ]
  }
}
