public import Foundation
package import Records
import Synchronization

/// A zone: a part of a database whose records are fetched, changed and shared together.
///
/// Two zone objects are equal only when they are the same object, as with CloudKit; compare
/// `zoneID`. See CS-30 to CS-34.
public final class CKRecordZone: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The ID of a zone.
  public typealias ID = CKRecordZoneID

  /// The features that a zone supports: change feeds, atomic saves and sharing.
  public struct Capabilities: OptionSet, Sendable {
    /// The bits, with the values CloudKit gives them.
    public let rawValue: UInt

    /// Wraps the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Changes can be fetched by token.
    public static let fetchChanges = Capabilities(rawValue: 1)
    /// All changes of a request succeed or fail together.
    public static let atomic = Capabilities(rawValue: 2)
    /// Records can be shared by hierarchy.
    public static let sharing = Capabilities(rawValue: 4)
    /// The whole zone can be shared.
    public static let zoneWideSharing = Capabilities(rawValue: 8)
  }

  /// The scope of the keys of encrypted values.
  public enum EncryptionScope: Int, Sendable {
    /// Each record has its own key.
    case perRecord = 0
    /// All records of the zone have one key.
    case perZone = 1
  }

  private static let defaultZone = CKRecordZone(zoneID: .default)

  /// The default zone, which every database has; always the same object.
  public class func `default`() -> CKRecordZone { defaultZone }

  /// The zone as a value.
  package let value: Zone

  private let scope = Mutex(EncryptionScope.perRecord)

  /// Wraps a zone as the server described it.
  package init(_ value: Zone) { self.value = value }

  /// Creates a zone of the current user, which exists on the server once it was saved.
  public convenience init(zoneName: String) {
    self.init(zoneID: CKRecordZoneID(zoneName: zoneName))
  }

  /// Creates a zone with an ID, which exists on the server once it was saved.
  public convenience init(zoneID: CKRecordZone.ID) { self.init(Zone(id: zoneID.value)) }

  /// The zone's name and owner.
  public var zoneID: CKRecordZone.ID { CKRecordZoneID(value.id) }

  /// The capabilities of the zone; empty before it was saved or fetched.
  public var capabilities: Capabilities { Capabilities(rawValue: value.capabilities.rawValue) }

  /// The zone-wide share, on a fetched zone that has one.
  public var share: CKRecord.Reference? {
    value.share.map { CKReference(Reference(target: $0, action: .none)) }
  }

  /// The scope of the keys of encrypted values; set it before the first save.
  ///
  /// Stored in this object and its archive; this library's servers treat both scopes alike.
  public var encryptionScope: CKRecordZone.EncryptionScope {
    get { scope.withLock { $0 } }
    set { scope.withLock { $0 = newValue } }
  }

  /// The ID and the capabilities.
  public override var description: String {
    "<CKRecordZone: zoneID=\(zoneID), capabilities=\(value.capabilities.rawValue)>"
  }

  /// Creates an object for the same zone.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = CKRecordZone(value)
    copy.encryptionScope = encryptionScope
    return copy
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  private static let perZoneKey = "CloudSyncZoneIsEncryptedPerZone"

  /// Archives the zone.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncZone", with: coder) { writer in
      writer.write(value.id)
      writer.write(variable: UInt64(value.capabilities.rawValue))
      writer.write(optional: value.share) { $0.write($1) }
    }
    guard coder.allowsKeyedCoding, encryptionScope == .perZone else { return }
    coder.encode(true, forKey: CKRecordZone.perZoneKey)
  }

  /// Decodes a zone; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncZone", with: coder) { reader in
      let id = try reader.zoneID()
      let bits = UInt(truncatingIfNeeded: try reader.variable())
      let share = try reader.optional { (reader) throws(ByteFormatError) in
        try reader.recordID()
      }
      return Zone(id: id, capabilities: Zone.Capabilities(rawValue: bits), share: share)
    }
    guard let value = value ?? Zone(appleArchive: coder) else { return nil }
    self.init(value)
    guard coder.allowsKeyedCoding, coder.containsValue(forKey: CKRecordZone.perZoneKey) else {
      return
    }
    encryptionScope = coder.decodeBool(forKey: CKRecordZone.perZoneKey) ? .perZone : .perRecord
  }
}
