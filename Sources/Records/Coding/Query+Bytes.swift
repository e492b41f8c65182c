/// The binary form of a query, kept with subscriptions and bound into cursors.
extension ByteWriter {
  /// Appends a query with its filters and sorts.
  public mutating func write(_ query: Query) {
    write(query.recordType)
    write(list: query.filters) {
      $0.write($1.key)
      $0.write($1.comparator.rawValue)
      $0.write($1.value)
      $0.write(optional: $1.distance) { $0.write($1) }
    }
    write(list: query.sorts) {
      $0.write($1.key)
      $0.write($1.ascending)
      $0.write(optional: $1.relativeTo.map(FieldValue.location)) { $0.write($1) }
    }
  }
}

extension ByteReader {
  /// A query with its filters and sorts.
  public mutating func query() throws(ByteFormatError) -> Query {
    let type = try string()
    let filters = try list { (reader) throws(ByteFormatError) in
      let key = try reader.string()
      guard let comparator = Query.Filter.Comparator(rawValue: try reader.string()) else {
        throw reader.fault("the comparator of a filter is unknown")
      }
      let value = try reader.fieldValue()
      return Query.Filter(
        key: key, comparator: comparator, value: value,
        distance: try reader.optional { (reader) throws(ByteFormatError) in try reader.double() })
    }
    let sorts = try list { (reader) throws(ByteFormatError) in
      let key = try reader.string()
      let ascending = try reader.bool()
      let place = try reader.optional { (reader) throws(ByteFormatError) in
        try reader.fieldValue()
      }
      guard let place else { return Query.Sort(key: key, ascending: ascending) }
      guard case .location(let location) = place else { throw reader.fault("a place is none") }
      return Query.Sort(key: key, ascending: ascending, relativeTo: location)
    }
    return Query(recordType: type, filters: filters, sorts: sorts)
  }
}
