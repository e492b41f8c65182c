import CloudProtocol
import Records

/// A position in query results, as encoded in a cursor.
///
/// A cursor contains a hash of everything that determines the results, so it can be rejected but
/// never misread. It contains the sort keys of the last record, not an offset, so concurrent
/// changes do not shift the following records.
struct QueryPosition: Hashable {
  /// The sort keys of the record.
  var keys: [QueryValue?]
  /// The record.
  var id: RecordID

  private static let version: UInt8 = 1
  /// The size of a binding, a SHA-256.
  private static let bindingBytes = 32

  init(keys: [QueryValue?], id: RecordID) {
    self.keys = keys
    self.id = id
  }

  /// Decodes `cursor`; `nil` if it is damaged or does not belong to `binding`.
  init?(_ cursor: QueryCursor, of binding: [UInt8]) {
    self.init(cursor, ofAny: binding.count) { $0.elementsEqual(binding) }
  }

  /// The record of a cursor that may belong to another query; `nil` if it is damaged.
  static func record(in cursor: QueryCursor) -> RecordID? {
    QueryPosition(cursor, ofAny: bindingBytes) { _ in true }?.id
  }

  private init?(
    _ cursor: QueryCursor, ofAny bindingBytes: Int, where isRight: (ArraySlice<UInt8>) -> Bool
  ) {
    guard cursor.bytes.count >= 4 else { return nil }
    let end = cursor.bytes.count - 4
    var reader = ByteReader(cursor.bytes)
    do {
      guard try reader.byte() == QueryPosition.version, isRight(try reader.raw(bindingBytes))
      else { return nil }
      keys = try reader.list { (reader) throws(ByteFormatError) in
        try reader.optional { (reader) throws(ByteFormatError) in try reader.queryValue() }
      }
      id = try reader.recordID()
      let checksum = try reader.fixed32()
      try reader.finish()
      guard checksum == Checksum.of(cursor.bytes[..<end]) else { return nil }
    } catch {
      return nil
    }
  }

  /// The cursor for this position.
  func cursor(of binding: [UInt8]) -> QueryCursor {
    var writer = ByteWriter(capacity: 128)
    writer.write(QueryPosition.version)
    writer.write(raw: binding)
    writer.write(list: keys) { $0.write(optional: $1) { $0.write($1) } }
    writer.write(id)
    writer.write(fixed: Checksum.of(writer.bytes))
    return QueryCursor(bytes: writer.bytes)
  }

  /// The hash that a cursor is bound to: storage, database, account, zone and query.
  static func binding(
    storage: UInt64, database: DatabaseID, user: UserID?, zone: ZoneID?, query: Query
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.write(fixed: storage)
    writer.write(database.container)
    writer.write(database.environment.rawValue)
    writer.write(database.scope.rawValue)
    writer.write(optional: database.owner) { $0.write($1.rawValue) }
    writer.write(optional: user) { $0.write($1.rawValue) }
    writer.write(optional: zone) { $0.write($1) }
    writer.write(query)
    return SHA256.digest(of: writer.bytes)
  }
}
