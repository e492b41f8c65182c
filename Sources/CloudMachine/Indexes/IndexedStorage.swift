package import Records

/// A storage with indexes of fields, by which queries find records without reading all of their
/// type.
///
/// An index is made at the first query that needs it. A query first calls `prepareIndex` in each of
/// its transactions until the index is ready; from then on every commit keeps the index current,
/// and the other methods may be called. An index contains one entry for each live record of the
/// type, with the record's `IndexKey`. The other methods throw `LostFieldIndexError` if the index
/// is not there any more; the query then begins again.
package protocol IndexedStorage: CloudStorage {
  /// Continues to make an index, and returns its state.
  ///
  /// - Parameter limit: the number of records to read at a time.
  func prepareIndex(_ index: FieldIndexID, limit: Int) throws -> FieldIndexState

  /// The number of entries in `ranges`, which do not overlap, counted up to `limit`.
  func entryCount(of index: FieldIndexID, in ranges: [IndexRange], upTo limit: Int) throws -> Int

  /// The entries in `range`, those after `place`, at most `limit`.
  ///
  /// The order is that of the keys, or its reverse, and that of the names among equal keys.
  func entries(
    of index: FieldIndexID, in range: IndexRange, after place: IndexEntry?, isDescending: Bool,
    limit: Int
  ) throws -> [IndexEntry]

  /// The entries in `ranges`, which do not overlap, of names after `name`, at most `limit`, in no
  /// particular order and without keys.
  func entries(
    of index: FieldIndexID, in ranges: [IndexRange], afterName name: String?, limit: Int
  ) throws -> [IndexEntry]

  /// The records of the first of `entries`, as many as have some `byteCount` bytes, and the number
  /// of entries that were read.
  ///
  /// An entry whose record was deleted or replaced since has no record, unless `areCurrent`: then
  /// the entries come from the running transaction, and an index with one that does not fit its
  /// record is removed.
  func records(
    of entries: ArraySlice<IndexEntry>, in index: FieldIndexID, byteCount: Int, areCurrent: Bool
  ) throws -> (rows: [RecordRow], count: Int)
}

/// The error for an index that was removed: its zone was emptied, or it did not match the records.
package struct LostFieldIndexError: Error {
  /// Creates an error.
  package init() {}
}

/// The index of one field of the records of one type in one zone.
package struct FieldIndexID: Hashable, Sendable {
  /// The record type.
  package var type: String
  /// The field, or a system field.
  package var field: String
  /// The zone whose records are indexed.
  package var zone: ZoneID
  /// The zone's database.
  package var database: DatabaseID

  /// Names an index.
  package init(type: String, field: String, zone: ZoneID, database: DatabaseID) {
    self.type = type
    self.field = field
    self.zone = zone
    self.database = database
  }
}

/// Whether a query can use an index.
package enum FieldIndexState: Hashable, Sendable {
  /// The index can be used.
  case ready
  /// The index is not complete.
  case incomplete
  /// There is no index, because the zone is small or the storage may not be written.
  case unavailable
}

/// A record in an index, in the place of its key.
package struct IndexEntry: Hashable, Sendable {
  /// The key; empty where it is not needed.
  package var key: IndexKey
  /// The record's name.
  package var name: String
  /// The number of the record's row in the storage.
  package var row: Int64

  /// Creates an entry.
  package init(key: IndexKey, name: String, row: Int64) {
    self.key = key
    self.name = name
    self.row = row
  }
}
