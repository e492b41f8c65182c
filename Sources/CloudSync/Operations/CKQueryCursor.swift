import CloudProtocol
public import Foundation
import Records

/// The end of a page of query results: known to apps as `CKQueryOperation.Cursor`.
///
/// It contains the request for the next page. See CS-86.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The request for the next page.
  let value: QueryRecords

  /// Wraps the request for the next page.
  init(_ value: QueryRecords) { self.value = value }

  /// Whether `object` is an equal cursor of the same query.
  public override func isEqual(_ object: Any?) -> Bool { (object as? Self)?.value == value }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.cursor.hashValue }

  /// The record type and the length of the server's part; no values.
  public override var description: String {
    "<CKQueryCursor: recordType=\(value.query.recordType), "
      + "\(value.cursor?.bytes.count ?? 0) bytes>"
  }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the request.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncQueryCursor", with: coder) { writer in
      writer.write(value.query)
      writer.write(optional: value.zone) { $0.write($1) }
      writer.write(value.cursor?.bytes ?? [])
    }
  }

  /// Decodes a cursor; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncQueryCursor", with: coder) { reader in
      let query = try reader.query()
      let zone = try reader.optional { (reader) throws(ByteFormatError) in try reader.zoneID() }
      let cursor = QueryCursor(bytes: try reader.byteArray())
      return QueryRecords(query: query, zone: zone, cursor: cursor)
    }
    guard let value else { return nil }
    self.init(value)
  }
}
