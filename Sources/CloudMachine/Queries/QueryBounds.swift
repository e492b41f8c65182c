import CloudProtocol
import Records

/// The limits of a query.
extension CloudLimits {
  /// The error of a query above the limits; `nil` when it is within them.
  ///
  /// These limits bound the work per record for every query.
  func excess(of query: Query) -> CloudError? {
    let terms = query.filters.count + query.sorts.count
    guard terms <= self.queryTerms else {
      return CloudError(
        .limitExceeded,
        "the query has \(terms) filters and sorts, and a query takes at most \(self.queryTerms)")
    }
    let byteCount = ByteWriter.byteCount { $0.write(query) }
    guard byteCount <= self.requestBytes else {
      return CloudError(
        .limitExceeded,
        "the query has \(byteCount) bytes, "
          + "and a request takes at most \(self.requestBytes)")
    }
    for filter in query.filters {
      let count = filter.valueCount
      guard count <= self.filterValues else {
        return CloudError(
          .limitExceeded,
          "the filter \(filter.comparator.rawValue) on '\(filter.key)' has \(count) values, and a "
            + "filter takes at most \(self.filterValues); divide them among several queries")
      }
    }
    return nil
  }
}

extension ByteWriter {
  /// The number of bytes that `write` writes.
  static func byteCount(_ write: (inout ByteWriter) -> Void) -> Int {
    var writer = ByteWriter()
    write(&writer)
    return writer.bytes.count
  }
}

extension Query.Filter {
  /// The number of values that a record is compared with: the members of a list, or the words to
  /// search for.
  fileprivate var valueCount: Int {
    if case .words = comparator.split.comparison {
      return value.texts.reduce(0) { $0 + TextTokens.wanted(in: $1).count }
    }
    guard case .list(let values) = value else { return 1 }
    return values.count
  }
}
