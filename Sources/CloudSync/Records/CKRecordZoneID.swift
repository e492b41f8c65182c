public import Foundation
package import Records

/// The ID of a record zone: its name and its owner.
///
/// Known to apps as `CKRecordZone.ID`. Two IDs with the same names are equal. See CS-30 and CS-176.
public final class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The default zone of the current user.
  public static let `default` = CKRecordZoneID(ZoneID.default)

  /// The name of the default zone, which every database has.
  public static let defaultZoneName = ZoneID.defaultName

  /// The ID as a value.
  package let value: ZoneID

  /// Wraps an ID.
  package init(_ value: ZoneID) {
    self.value = value
    // Every app makes a zone ID early; from then on Foundation knows Apple's class names, also
    // where an archive is read by a call that never reaches our code first.
    _ = AppleArchive.knowsClassNames
  }

  /// Creates the ID of the zone `zoneName` of `ownerName`, by default of the current user.
  public convenience init(
    zoneName: String = CKRecordZoneID.defaultZoneName,
    ownerName: String = CKCurrentUserDefaultName
  ) {
    self.init(ZoneID(name: zoneName, owner: ownerName))
  }

  /// Creates the ID of a zone, of the current user if `ownerName` is `nil`.
  @available(*, deprecated, message: "Give a name of the owner, or leave it out.")
  @_disfavoredOverload
  public convenience init(zoneName: String, ownerName: String?) {
    self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
  }

  /// The zone's name, unique in its database.
  public var zoneName: String { value.name }

  /// The owner's user record name, or `CKCurrentUserDefaultName`.
  public var ownerName: String { value.owner }

  /// Whether `object` is an ID with the same names.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKRecordZoneID else { return false }
    return self === other || value == other.value
  }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The names.
  public override var description: String {
    "<CKRecordZoneID: zoneName=\(value.name), ownerName=\(value.owner)>"
  }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the names.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncZoneID", with: coder) { $0.write(value) }
  }

  /// Decodes an ID; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncZoneID", with: coder) { try $0.zoneID() }
    guard let value = value ?? ZoneID(appleArchive: coder) else { return nil }
    self.init(value)
  }
}
