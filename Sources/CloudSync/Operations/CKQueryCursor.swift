import CloudProtocol
public import Foundation
import Records

/// Where a page of a query's answer ended: known to apps as `CKQueryOperation.Cursor`.
///
/// It carries the query, so that going on needs nothing else. See CS-86.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// What is looked for, as it was sent for the first page.
  let query: Query
  /// The zone looked in, or all.
  let zone: ZoneID?
  /// The server's part.
  let position: QueryCursor

  /// Goes on at `position` of the answer to `query`.
  init(query: Query, zone: ZoneID?, position: QueryCursor) {
    self.query = query
    self.zone = zone
    self.position = position
  }

  /// Whether `object` is the same place in the answer to the same query.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKQueryCursor else { return false }
    return other.query == query && other.zone == zone && other.position == position
  }

  /// Agrees with `isEqual`.
  public override var hash: Int { position.hashValue }

  /// The record type and how long the server's part is; no values.
  public override var description: String {
    "<CKQueryCursor: recordType=\(query.recordType), \(position.bytes.count) bytes>"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }

  /// Itself: a cursor never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the query and the place.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncQueryCursor", with: coder) { writer in
      writer.write(query)
      writer.write(optional: zone) { $0.write($1) }
      writer.write(position.bytes)
    }
  }

  /// Reads the cursor back; `nil` when the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let parts = ArchivedBytes.decode("CloudSyncQueryCursor", with: coder) {
      (reader) throws(ByteFormatError) in
      let query = try reader.query()
      let zone = try reader.optional { (reader) throws(ByteFormatError) in try reader.zoneID() }
      return (query, zone, QueryCursor(bytes: try reader.byteArray()))
    }
    guard let (query, zone, position) = parts else { return nil }
    self.init(query: query, zone: zone, position: position)
  }
}
