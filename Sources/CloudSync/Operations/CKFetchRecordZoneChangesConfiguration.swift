public import Foundation
import Records
import Synchronization

/// The settings of the fetch of one zone: known to apps as
/// `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
///
/// It can be used from any thread: the values are guarded by a lock. See CS-60.
public final class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying,
  Sendable
{
  private struct Values {
    var token: CKServerChangeToken?
    var resultsLimit = 0
    var desiredKeys: [CKRecord.FieldKey]?
  }

  private let values: Mutex<Values>

  /// Creates settings that fetch everything.
  public override init() { values = Mutex(Values()) }

  private init(values: Values) { self.values = Mutex(values) }

  /// Creates settings for the changes after a token.
  ///
  /// - Parameters:
  ///   - previousServerChangeToken: The token of the last fetch; `nil` fetches all records.
  ///   - resultsLimit: The maximum number of changes in a page; the server may return fewer.
  ///   - desiredKeys: The fields to fetch; `nil` fetches all, an empty list none.
  public convenience init(
    previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil
  ) {
    self.init(
      values: Values(
        token: previousServerChangeToken, resultsLimit: resultsLimit ?? 0,
        desiredKeys: desiredKeys))
  }

  /// The token of the last fetch; `nil` fetches all records.
  public var previousServerChangeToken: CKServerChangeToken? {
    get { values.withLock { $0.token } }
    set { values.withLock { $0.token = newValue } }
  }

  /// The maximum number of changes in a page; 0 leaves it to the server.
  public var resultsLimit: Int {
    get { values.withLock { $0.resultsLimit } }
    set { values.withLock { $0.resultsLimit = newValue } }
  }

  /// The fields to fetch; `nil` fetches all, an empty list none.
  public var desiredKeys: [CKRecord.FieldKey]? {
    get { values.withLock { $0.desiredKeys } }
    set { values.withLock { $0.desiredKeys = newValue } }
  }

  /// Creates settings with the same values.
  public func copy(with zone: NSZone? = nil) -> Any {
    CKFetchRecordZoneChangesConfiguration(values: values.withLock { $0 })
  }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the values.
  public func encode(with coder: NSCoder) {
    let values = values.withLock { $0 }
    ArchivedBytes.encode("CloudSyncZoneConfiguration", with: coder) { writer in
      writer.write(optional: values.token) { $0.write($1.value.bytes) }
      writer.write(fixed: UInt64(bitPattern: Int64(values.resultsLimit)))
      writer.write(optional: values.desiredKeys) { writer, keys in
        writer.write(list: keys) { $0.write($1) }
      }
    }
  }

  /// Decodes the values; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let values = ArchivedBytes.decode("CloudSyncZoneConfiguration", with: coder) { reader in
      var values = Values()
      values.token = try reader.optional { (reader) throws(ByteFormatError) in
        CKServerChangeToken(ChangeToken(bytes: try reader.byteArray()))
      }
      values.resultsLimit = Int(truncatingIfNeeded: try reader.fixed64())
      values.desiredKeys = try reader.optional { (reader) throws(ByteFormatError) in
        try reader.list { (reader) throws(ByteFormatError) in try reader.string() }
      }
      return values
    }
    guard let values else { return nil }
    self.init(values: values)
  }
}
