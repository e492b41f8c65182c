#if !canImport(ObjectiveC)
  public import Foundation

  /// Marks the classes for which the methods below replace Foundation's.
  ///
  /// The protocol is public because it is a constraint of public methods; code outside this module
  /// has no use for it.
  public protocol _CKArchivedObject: NSObject, NSSecureCoding {}

  extension CKRecord: _CKArchivedObject {}
  extension CKRecordID: _CKArchivedObject {}
  extension CKRecordZone: _CKArchivedObject {}
  extension CKRecordZoneID: _CKArchivedObject {}
  extension CKReference: _CKArchivedObject {}
  extension CKAsset: _CKArchivedObject {}
  extension CLLocation: _CKArchivedObject {}
  extension CKServerChangeToken: _CKArchivedObject {}
  extension CKSubscription: _CKArchivedObject {}
  extension CKNotificationInfo: _CKArchivedObject {}
  extension CKNotificationID: _CKArchivedObject {}
  extension CKQuery: _CKArchivedObject {}
  extension CKQueryCursor: _CKArchivedObject {}
  extension CKShareParticipant: _CKArchivedObject {}
  extension CKShareMetadata: _CKArchivedObject {}
  extension CKUserIdentity: _CKArchivedObject {}
  extension CKUserIdentityLookupInfo: _CKArchivedObject {}
  extension CKOperationGroup: _CKArchivedObject {}
  extension CKFetchRecordZoneChangesConfiguration: _CKArchivedObject {}
  extension CKAllowedSharingOptions: _CKArchivedObject {}

  /// Makes these classes unarchive as on Apple's platforms: damage results in `nil` or an error
  /// where Foundation on Linux ends the process. Adds the methods for collections.
  extension NSKeyedUnarchiver {
    /// The object that is the root of the archive `data`.
    ///
    /// Throws when the archive is damaged or its root is of another class.
    public static func unarchivedObject<Object: NSObject & NSCoding & _CKArchivedObject>(
      ofClass type: Object.Type, from data: Data
    ) throws -> Object? {
      try root(of: data, as: Object.self)
    }

    /// The list that is the root of the archive `data`, all of one class.
    ///
    /// Throws when the archive is damaged or holds something else.
    public static func unarchivedArrayOfObjects<Object: NSObject & NSCoding>(
      ofClass type: Object.Type, from data: Data
    ) throws -> [Object]? {
      try root(of: data, as: [Object].self, holding: type)
    }

    /// The dictionary that is the root of the archive `data`, its keys and values of one class
    /// each.
    ///
    /// Throws when the archive is damaged or holds something else.
    public static func unarchivedDictionary<
      Key: NSObject & NSCoding & NSCopying, Object: NSObject & NSCoding
    >(ofKeyClass keyType: Key.Type, objectClass type: Object.Type, from data: Data)
      throws -> [Key: Object]?
    {
      try root(of: data, as: [Key: Object].self, holding: keyType, type)
    }

    /// The object under `key`; `nil` when there is none, or it is damaged or of another class.
    public func decodeObject<Object: NSObject & NSCoding & _CKArchivedObject>(
      of type: Object.Type, forKey key: String
    ) -> Object? {
      AppleArchive.tolerateDamage(self)
      let object = appleObject(type, forKey: key)
      return (object as? CKShare)?.isReadable == false ? nil : object
    }

    private static func root<Root>(
      of data: Data, as type: Root.Type, holding classes: AnyClass...
    ) throws -> Root {
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
      unarchiver.requiresSecureCoding = true
      unarchiver.decodingFailurePolicy = .setErrorAndReturn
      defer { unarchiver.finishDecoding() }
      let key = NSKeyedArchiveRootObjectKey
      let classes = AppleArchive.readableClasses + classes
      let root =
        AppleArchive.knowsClassNames ? unarchiver.decodeObject(of: classes, forKey: key) : nil
      if let error = unarchiver.error { throw error }
      guard let root = root as? Root, (root as? CKShare)?.isReadable != false else {
        throw CocoaError(.coderReadCorrupt)
      }
      return root
    }
  }
#endif
