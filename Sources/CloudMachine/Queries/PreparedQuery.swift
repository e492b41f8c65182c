import CloudProtocol
import Records

/// A validated query, ready to be evaluated on many records.
struct PreparedQuery {
  /// One sort level.
  private struct Level {
    var field: QueryField
    var isAscending: Bool
    var place: Location?
    /// Whether an index of the field may have the order of this level.
    var isIndexable: Bool

    /// The sort key of `record` at this level.
    func key(_ record: Record) -> QueryValue? {
      guard let value = field.value(in: record) else { return nil }
      guard let place else { return QueryValue(value) }
      guard case .location(let location) = value else { return nil }
      return .number(location.distance(to: place))
    }
  }

  /// The filters on one field, or on the words of the whole record.
  private struct FieldFilters {
    var field: QueryField?
    /// Whether the field may have an index.
    var isIndexable: Bool
    var filters: [PreparedFilter]

    func hold(for examined: inout ExaminedField) -> Bool {
      filters.allSatisfy { $0.holds(for: &examined) }
    }
  }

  /// The first sort level, if an index may have its order.
  struct IndexedSort {
    var field: QueryField
    var isAscending: Bool
    /// Whether there is no other level.
    var isOnly: Bool
  }

  let recordType: String
  /// The number of filters and sorts.
  let termCount: Int
  /// The filters by field, so that each field of a record is read once.
  private let filters: [FieldFilters]
  private let type: RecordTypeRow?
  private let levels: [Level]

  /// Prepares `query`; throws if it is invalid.
  ///
  /// - Parameters:
  ///   - type: the row of the record type.
  ///   - user: the requester, for filters that name the current user.
  init(_ query: Query, type: RecordTypeRow?, user: UserID?) throws(CloudError) {
    recordType = query.recordType
    if query.filters.isEmpty {
      try QueryField.system(.recordID).require(.queryable, in: type)
    }
    termCount = query.filters.count + query.sorts.count
    self.type = type
    var filters: [FieldFilters] = []
    for filter in query.filters {
      let prepared = try PreparedFilter(filter, type: type, user: user)
      if let index = filters.firstIndex(where: { $0.field == prepared.field }) {
        filters[index].filters.append(prepared)
      } else {
        let isKnown = prepared.field.map { $0.shape(in: type) != nil } ?? false
        filters.append(
          FieldFilters(field: prepared.field, isIndexable: isKnown, filters: [prepared]))
      }
    }
    self.filters = filters
    var levels: [Level] = []
    for sort in query.sorts {
      let field = try QueryField(sort.key)
      try field.require(.sortable, in: type)
      try PreparedQuery.check(sort, field, field.shape(in: type))
      // Records that are equal in a level before are equal in the same one again.
      guard !levels.contains(where: { $0.field == field && $0.place == sort.relativeTo })
      else { continue }
      let kind = field.shape(in: type)?.kind
      levels.append(
        Level(
          field: field, isAscending: sort.ascending, place: sort.relativeTo,
          isIndexable: kind != nil && kind != .reference && sort.relativeTo == nil))
    }
    self.levels = levels
  }

  /// Whether the results are in the order of the records' IDs.
  var isUnsorted: Bool { levels.isEmpty }

  /// The filters on fields that may have an index.
  var indexedFilters: [(field: QueryField, filter: PreparedFilter)] {
    var found: [(field: QueryField, filter: PreparedFilter)] = []
    for group in filters where group.isIndexable {
      guard let field = group.field else { continue }
      found += group.filters.map { (field, $0) }
    }
    return found
  }

  /// The first sort level, if an index may have its order.
  var indexedSort: IndexedSort? {
    guard let first = levels.first, first.isIndexable else { return nil }
    return IndexedSort(
      field: first.field, isAscending: first.isAscending, isOnly: levels.count == 1)
  }

  /// The number of filters.
  var filterCount: Int { termCount - levels.count }

  /// Whether `record` matches the query.
  func matches(_ record: Record) -> Bool {
    var examined = ExaminedRecord(record, type: type)
    return matches(&examined)
  }

  /// Whether a record that other queries may have examined matches the query.
  func matches(_ examined: inout ExaminedRecord) -> Bool {
    examined.record.type == recordType
      && filters.allSatisfy { filters in
        examined.withField(filters.field) { filters.hold(for: &$0) }
      }
  }

  /// The position of `record` in the results.
  func position(of record: Record) -> QueryPosition {
    QueryPosition(keys: levels.map { $0.key(record) }, id: record.id)
  }

  /// Whether one position in the results is before another.
  func isBefore(_ first: QueryPosition, _ second: QueryPosition) -> Bool {
    for (index, level) in levels.enumerated() {
      guard index < first.keys.count, index < second.keys.count else { break }
      switch QueryValue.sortOrder(of: first.keys[index], to: second.keys[index]) {
      case .less: return level.isAscending
      case .greater: return !level.isAscending
      case .equal: continue
      }
    }
    return first.id < second.id
  }

  private static func check(
    _ sort: Query.Sort, _ field: QueryField, _ shape: FieldShape?
  ) throws(CloudError) {
    guard let shape else { return }
    if shape.isEncrypted { throw .unqueryable(field, "is encrypted") }
    switch shape.kind {
    case .asset, .list: throw .unqueryable(field, "holds \(shape.words)")
    case .location:
      if sort.relativeTo == nil {
        throw .unqueryable(field, "holds locations, which can be ordered only by distance,")
      }
    case .string, .int64, .double, .date, .bytes, .reference:
      if sort.relativeTo != nil { throw .unqueryable(field, "holds no location to measure from") }
    }
  }
}
