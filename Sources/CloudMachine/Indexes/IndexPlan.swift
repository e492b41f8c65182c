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

  /// A filter that an index can help with.
  private struct Term {
    var field: QueryField
    var ranges: [IndexRange]
  }

  /// Returns the way, or `nil` while an index that it needs is not complete.
  ///
  /// - Parameter limit: the number of records to read at a time for an index.
  func source(limit: Int) throws -> QuerySource? {
    var terms = query.indexedFilters.compactMap { field, filter in
      filter.ranges.map { Term(field: field, ranges: $0) }
    }
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
    if let field = sort?.field, try !ready.contains(field) || !isSortable(field) { sort = nil }
    let best = try mostSelective(of: terms)
    if let sort {
      let own = terms.filter { $0.field == sort.field }
      if best == nil || own.count == query.filterCount { return walk(sort, own) }
    } else if query.isUnsorted, let walk = try walk(ofOneKeyIn: terms, best) {
      return walk
    }
    guard let best, best.count <= mostEntries else { return .type }
    let index = index(best.term.field)
    var entries = try storage.entries(
      of: index, in: best.term.ranges, afterName: name, limit: mostEntries)
    entries.sort { $0.name < $1.name }
    return .entries(entries[...], index)
  }

  /// Whether the order of the index of a field is that of a sort.
  private func isSortable(_ field: QueryField) throws -> Bool {
    try storage.entryCount(of: index(field), in: [.unsortable], upTo: 1) == 0
  }

  /// The term with the fewest entries, if it has no more than can be read at once.
  private func mostSelective(of terms: [Term]) throws -> (term: Term, count: Int)? {
    var best: (term: Term, count: Int)?
    for term in terms {
      let limit = best?.count ?? mostEntries + 1
      let count = try storage.entryCount(of: index(term.field), in: term.ranges, upTo: limit)
      if count < limit { best = (term, count) }
    }
    return best
  }

  /// The records in the order of the first sort, from the position after which the page begins.
  private func walk(_ sort: PreparedQuery.IndexedSort, _ terms: [Term]) -> QuerySource {
    var range = IndexRange.all
    for term in terms {
      let lower = term.ranges.first?.lower ?? []
      // The range of texts without a place in the order, the last, is empty in a sortable index.
      let upper = term.ranges.last { $0 != .unordered }?.upper ?? lower
      range = range.intersection(IndexRange(lower: lower, upper: upper))
    }
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
