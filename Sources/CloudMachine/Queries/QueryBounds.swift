import CloudProtocol
import Records

/// How much one query may ask for.
extension CloudLimits {
  /// Why `query` asks for too much; `nil` when it is within the limits.
  ///
  /// With these limits the work for one record is bounded, whatever the query says.
  func excess(of query: Query) -> CloudError? {
    let terms = query.filters.count + query.sorts.count
    guard terms <= queryTerms else {
      return CloudError(
        .limitExceeded,
        "the query has \(terms) filters and sorts, and a query takes at most \(queryTerms)")
    }
    var writer = ByteWriter()
    writer.write(query)
    guard writer.bytes.count <= requestBytes else {
      return CloudError(
        .limitExceeded,
        "the query has \(writer.bytes.count) bytes, and a request takes at most \(requestBytes)")
    }
    for filter in query.filters {
      let count = filter.valueCount
      guard count <= filterValues else {
        return CloudError(
          .limitExceeded,
          "the filter \(filter.comparator.rawValue) on '\(filter.key)' has \(count) values, and a "
            + "filter takes at most \(filterValues); divide them among several queries")
      }
    }
    return nil
  }
}

extension Query.Filter {
  /// How many values a record is compared with: the members of a list, or the words to look for.
  fileprivate var valueCount: Int {
    if case .words = comparator.split.comparison {
      return value.texts.reduce(0) { $0 + TextTokens.wanted(in: $1).count }
    }
    guard case .list(let values) = value else { return 1 }
    return values.count
  }
}
