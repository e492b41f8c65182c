public import Foundation
package import Records

/// The ID of a record: its name and its zone.
///
/// Known to apps as `CKRecord.ID`. Two IDs with the same names are equal. See CS-27.
public final class CKRecordID: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The ID as a value.
  package let value: RecordID

  /// Wraps an ID.
  package init(_ value: RecordID) { self.value = value }

  /// Creates the ID of a record, by default with a new name in the default zone.
  public convenience init(
    recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = CKRecordZone.ID.default
  ) {
    self.init(RecordID(name: recordName, zone: zoneID.value))
  }

  /// The record's name, unique in its zone.
  public var recordName: String { value.name }

  /// The zone that holds the record.
  public var zoneID: CKRecordZone.ID { CKRecordZoneID(value.zone) }

  /// Whether `object` is an ID with the same names.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKRecordID else { return false }
    return self === other || value == other.value
  }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The names.
  public override var description: String {
    "<CKRecordID: recordName=\(value.name), zoneID=\(value.zone.name):\(value.zone.owner)>"
  }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the names.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncRecordID", with: coder) { $0.write(value) }
  }

  /// Decodes an ID; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncRecordID", with: coder) { try $0.recordID() }
    guard let value = value ?? RecordID(appleArchive: coder) else { return nil }
    self.init(value)
  }
}
