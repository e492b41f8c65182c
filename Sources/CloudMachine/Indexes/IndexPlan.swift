import CloudProtocol
import Records

/// The way in which a query finds the records of one zone.
enum QuerySource {
  /// All records of the type, by name.
  case type
  /// The records of some entries, by name.
  case entries(ArraySlice<IndexEntry>, FieldIndexID)
  /// The records of a range of an index, in its order.
  case walk(IndexWalk)
}

/// A position in a range of an index that is read in order.
struct IndexWalk {
  let index: FieldIndexID
  let range: IndexRange
  let isDescending: Bool
  /// The last entry that was read.
  var last: IndexEntry?
}

/// Chooses the way in which a query finds the records of one zone.
struct IndexPlan {
  /// The maximum number of ranges that are counted, to bound the work of one transaction.
  private static let mostRanges = 2_000

  let query: PreparedQuery
  /// The position after which the page begins.
  let start: QueryPosition?
  /// The zone in the requester's spelling.
  let zone: ZoneID
  /// The name after which the records of a query without sorts begin.
  let name: String?
  let storage: any IndexedStorage
  /// The maximum number of entries that are read at once, and sorted by name.
  let mostEntries: Int
  /// The index of a field in the zone.
  let index: (QueryField) -> FieldIndexID

  /// The filters on a field, as far as an index can help with them.
  private struct Term {
    var field: QueryField
    var filterCount: Int
    /// The ranges that contain every record that matches all of the filters.
    var ranges: [IndexRange]
  }

  /// Returns the way, or `nil` while an index that it needs is not complete.
  ///
  /// - Parameter limit: the number of records to read at a time for an index.
  func source(limit: Int) throws -> QuerySource? {
    var terms = terms
    var sort = query.indexedSort
    var ready: Set<QueryField> = []
    for field in Set(terms.map(\.field) + [sort?.field].compactMap { $0 }) {
      switch try storage.prepareIndex(index(field), limit: limit) {
      case .ready: ready.insert(field)
      case .incomplete: return nil
      case .unavailable: break
      }
    }
    terms.removeAll { !ready.contains($0.field) }
    if let field = sort?.field {
      let isUsable = try ready.contains(field) && isSortable(field)
      if !isUsable { sort = nil }
    }
    if sort == nil, let term = terms.first, terms.count == 1, term.ranges.count > 2,
      term.ranges.count <= IndexPlan.mostRanges
    {
      // Many values: their entries are not counted first.
      return try entries(of: term) ?? .type
    }
    let best = try mostSelective(of: terms)
    if let sort {
      // Names, and texts without a place in the order, are not in a sortable index.
      let own = terms.first { $0.field == sort.field }
      let ranges = own?.ranges.filter {
        $0.lower.lexicographicallyPrecedes(IndexRange.unsortable.lower)
      }
      let isCovered = (own?.filterCount ?? 0) == query.filterCount && (ranges?.count ?? 1) == 1
      if best == nil || isCovered { return walk(sort, ranges ?? [.all]) }
    } else if query.isUnsorted, let walk = try walk(ofOneKeyIn: terms, best) {
      return walk
    }
    return try best.flatMap { try entries(of: $0.term) } ?? .type
  }

  /// The entries of a term by name; `nil` if there are more than can be read at once.
  private func entries(of term: Term) throws -> QuerySource? {
    let index = index(term.field)
    var entries = try storage.entries(
      of: index, in: term.ranges, afterName: name, limit: mostEntries + 1)
    guard entries.count <= mostEntries else { return nil }
    entries.sort { $0.name < $1.name }
    return .entries(entries[...], index)
  }

  /// The filters by field.
  private var terms: [Term] {
    var terms: [Term] = []
    for (field, filter) in query.indexedFilters {
      guard let ranges = filter.ranges else { continue }
      if let place = terms.firstIndex(where: { $0.field == field }) {
        terms[place].ranges = IndexRange.intersection(terms[place].ranges, ranges)
        terms[place].filterCount += 1
      } else {
        terms.append(Term(field: field, filterCount: 1, ranges: ranges))
      }
    }
    return terms
  }

  /// Whether the order of the index of a field is that of a sort.
  private func isSortable(_ field: QueryField) throws -> Bool {
    try storage.entryCount(of: index(field), in: [.unsortable], upTo: 1) == 0
  }

  /// The term with the fewest entries, if it has no more than can be read at once.
  private func mostSelective(of terms: [Term]) throws -> (term: Term, count: Int)? {
    var best: (term: Term, count: Int)?
    var ranges = 0
    for term in terms.sorted(by: { $0.ranges.count < $1.ranges.count }) {
      ranges += term.ranges.count
      guard ranges <= IndexPlan.mostRanges else { break }
      let limit = best?.count ?? mostEntries + 1
      let count = try storage.entryCount(of: index(term.field), in: term.ranges, upTo: limit)
      if count < limit { best = (term, count) }
    }
    return best
  }

  /// The records in the order of the first sort, from the position after which the page begins.
  ///
  /// - Parameter ranges: the ranges of the filters on the field, in order.
  private func walk(_ sort: PreparedQuery.IndexedSort, _ ranges: [IndexRange]) -> QuerySource {
    let range = IndexRange(lower: ranges.first?.lower ?? [], upper: ranges.last?.upper ?? [])
    var walk = IndexWalk(index: index(sort.field), range: range, isDescending: !sort.isAscending)
    guard let start, let first = start.keys.first else { return .walk(walk) }
    let key = IndexKey(first)
    if sort.isOnly, key.isExact, start.id.zone == zone {
      walk.last = IndexEntry(key: key, name: start.id.name, row: 0)
    } else {
      let rest =
        sort.isAscending
        ? IndexRange(lower: key.bytes, upper: IndexRange.all.upper)
        : IndexRange(lower: [], upper: IndexRange(key).upper)
      walk = IndexWalk(
        index: walk.index, range: range.intersection(rest), isDescending: walk.isDescending)
    }
    return .walk(walk)
  }

  /// The entries of one key by name, if a term has a single one and no other term has fewer
  /// entries.
  private func walk(
    ofOneKeyIn terms: [Term], _ best: (term: Term, count: Int)?
  ) throws -> QuerySource? {
    for term in best.map({ [$0.term] }) ?? terms {
      guard let range = term.ranges.first, range.isOneKey,
        term.ranges.dropFirst().allSatisfy({ $0 == .unordered })
      else { continue }
      let index = index(term.field)
      let others = Array(term.ranges.dropFirst())
      guard try storage.entryCount(of: index, in: others, upTo: 1) == 0 else { continue }
      let last = name.map { IndexEntry(key: IndexKey(bytes: range.lower), name: $0, row: 0) }
      return .walk(IndexWalk(index: index, range: range, isDescending: false, last: last))
    }
    return nil
  }
}
