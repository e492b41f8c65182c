import Foundation

/// The form of the archives that CloudKit's classes write on Apple's platforms.
///
/// Their classes are named without a module (`CKRecordID`), and their keys are not documented;
/// the names used here were found in archives of apps. This library writes another
/// form, so Apple's framework can't read its archives.
enum AppleArchive {
  /// Registers the classes that replace Apple's with Foundation, at the first use.
  ///
  /// Not before `main`: in a program that is linked statically, the standard library has not
  /// set itself up by then, and what is registered is not found again.
  static let knowsClassNames: Bool = {
    let classes: [(String, AnyClass)] = [
      ("CKRecord", CKRecord.self), ("CKRecordID", CKRecordID.self),
      ("CKRecordZone", CKRecordZone.self), ("CKRecordZoneID", CKRecordZoneID.self),
      ("CKReference", CKReference.self), ("CKAsset", CKAsset.self),
      ("CKServerChangeToken", CKServerChangeToken.self), ("CLLocation", CLLocation.self),
      ("CKRecordValueStore", AppleRecordValues.self),
    ]
    #if !canImport(ObjectiveC)
      for (name, type): (String, AnyClass) in classes {
        NSKeyedUnarchiver.setClass(type, forClassName: name)
      }
    #endif
    return !classes.isEmpty
  }()

  /// All classes that can occur in such an archive.
  ///
  /// Every object is read as one of these and then checked: on Linux an object of a class that
  /// was not named beforehand ends the process.
  static var readableClasses: [AnyClass] {
    [
      NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSNull.self,
      NSArray.self, NSDictionary.self, NSSet.self, CKRecord.self, CKRecordID.self,
      CKRecordZone.self, CKRecordZoneID.self, CKReference.self, CKAsset.self, CLLocation.self,
      CKServerChangeToken.self, CKSubscription.self, CKNotificationInfo.self,
      CKNotificationID.self, CKQuery.self, CKQueryCursor.self, CKShareParticipant.self,
      CKShareMetadata.self, CKUserIdentity.self, CKUserIdentityLookupInfo.self,
      CKOperationGroup.self, CKFetchRecordZoneChangesConfiguration.self,
      CKAllowedSharingOptions.self, AppleRecordValues.self,
    ]
  }

  /// Makes a coder return `nil` for damage, where it would end the process.
  ///
  /// That is what an unarchiver does by itself on Apple platforms. Foundation on Linux refuses
  /// the change once anything was read, and shows that only in a private field; where that
  /// field cannot be seen, nothing is changed.
  static func tolerateDamage(_ coder: NSCoder) {
    #if !canImport(ObjectiveC)
      guard let unarchiver = coder as? NSKeyedUnarchiver,
        unarchiver.decodingFailurePolicy == .raiseException,
        let flags = Mirror(reflecting: unarchiver).descendant("_flags", "rawValue") as? UInt,
        flags & 4 == 0
      else { return }
      unarchiver.decodingFailurePolicy = .setErrorAndReturn
    #endif
  }
}

extension NSCoder {
  /// The object of the class `type` under one of Apple's keys; `nil` when there is none.
  func appleObject<Object: NSObject & NSCoding>(
    _ type: Object.Type, forKey key: String
  ) -> Object? {
    guard AppleArchive.knowsClassNames, allowsKeyedCoding, containsValue(forKey: key) else {
      return nil
    }
    return decodeObject(of: AppleArchive.readableClasses + [type], forKey: key) as? Object
  }

  /// The text under one of Apple's keys.
  func appleText(forKey key: String) -> String? {
    appleObject(NSString.self, forKey: key).map { String(describing: $0) }
  }

  /// The number under one of Apple's keys, 0 when there is none.
  func appleNumber(forKey key: String) -> Int64 {
    allowsKeyedCoding ? decodeInt64(forKey: key) : 0
  }
}
