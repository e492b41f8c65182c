import Records

/// Converts a predicate and an order to a query, or names the part that CloudKit does not support.
///
/// See CS-71 and CS-72. Sentences show the shape of a part, with the kinds
/// of its values instead of the values.
struct QueryConversion {
  /// The value of `now()`.
  let now: Timestamp

  /// The whole query.
  func query(
    recordType: String, predicate: PredicateTree, sorts: [PredicateSort]
  ) throws(CKError) -> Query {
    if recordType.isEmpty { throw refusal("A query needs a record type; this one has none.") }
    if recordType == CKRecord.SystemType.userRecord {
      throw refusal(
        "The record type \"Users\" cannot be queried; fetch user records by their IDs.")
    }
    var query = Query(recordType: recordType)
    query.filters = try filters(predicate)
    for sort in sorts { query.sorts.append(try converted(sort)) }
    return query
  }

  /// The filters that together mean `tree`.
  func filters(_ tree: PredicateTree) throws(CKError) -> [Query.Filter] {
    switch tree {
    case .constant(true): return []
    case .constant(false): return [QueryConversion.never]
    case .comparison(let comparison): return try filters(comparison)
    case .and(let parts):
      var filters: [Query.Filter] = []
      for part in parts { filters += try self.filters(part) }
      return filters
    case .or(let parts) where parts.count == 1: return try filters(parts[0])
    case .or([]): return [QueryConversion.never]
    case .or:
      throw refusal(
        "OR is not supported in queries, in \"\(tree.summary)\"; run one query for each side.")
    case .not(let part): return try negated(part)
    case .invalid(let error): throw refusal(error.sentence)
    case .block:
      throw refusal(
        "A predicate made from a block cannot be sent to a server; use a format string.")
    }
  }

  /// The filters that mean `NOT tree`.
  private func negated(_ tree: PredicateTree) throws(CKError) -> [Query.Filter] {
    switch tree {
    case .constant(let value): return try filters(.constant(!value))
    case .not(let part): return try filters(part)
    case .invalid, .block: return try filters(tree)
    case .and([]): return [QueryConversion.never]
    case .or([]): return []
    case .and(let parts) where parts.count == 1: return try negated(parts[0])
    case .or(let parts) where parts.count == 1: return try negated(parts[0])
    case .and:
      throw refusal("NOT cannot negate an AND, in \"NOT (\(tree.summary))\"; negate its parts.")
    case .or:
      throw refusal("NOT cannot negate an OR, in \"NOT (\(tree.summary))\"; negate its parts.")
    case .comparison(let comparison):
      if comparison.operation == .between {
        throw refusal(
          "NOT cannot negate BETWEEN, in \"NOT \(tree.summary)\"; compare with < or >.")
      }
      var filters = try filters(comparison)
      guard filters.count == 1, let opposite = filters[0].comparator.opposite else {
        throw refusal(
          """
          NOT cannot negate a search for words or a test of distance, in \
          "NOT \(tree.summary)".
          """)
      }
      filters[0].comparator = opposite
      return filters
    }
  }

  private func converted(_ sort: PredicateSort) throws(CKError) -> Query.Sort {
    guard let key = sort.key else {
      throw refusal("A sort descriptor without a key cannot be sent; use init(key:ascending:).")
    }
    return Query.Sort(
      key: try queryKey(key, in: "the sort descriptor"), ascending: sort.ascending,
      relativeTo: sort.relativeTo)
  }

  /// A filter that matches no record.
  static let never = Query.Filter(
    key: SystemField.recordID.rawValue, comparator: .isIn, value: .list([]))

  /// The server's name of the field `name`.
  func queryKey(_ name: String, in part: String) throws(CKError) -> String {
    if let field = SystemField(fieldName: name) { return field.rawValue }
    func isLetter(_ byte: UInt8) -> Bool {
      (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
    if name.utf8.contains(0x2e) {
      throw refusal(
        """
        The key "\(name)" in \(part) is a path; queries cannot look into other records, use a \
        field's name.
        """)
    }
    guard let first = name.utf8.first, isLetter(first), name.utf8.count <= 255,
      name.utf8.allSatisfy({
        isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x5f || $0 == 0x24
      })
    else {
      throw refusal(
        """
        The key "\(name)" in \(part) is not a field's name: a letter, then letters, digits, \
        underscores and dollar signs.
        """)
    }
    return name
  }

  /// The error for an unsupported part.
  func refusal(_ sentence: String) -> CKError { CKError(.invalidArguments, sentence) }
}

extension Query.Filter.Comparator {
  /// The comparator that passes exactly what this one does not; absent where a query cannot say it.
  fileprivate var opposite: Self? {
    for (one, other) in Self.opposites {
      if self == one { return other }
      if self == other { return one }
    }
    return nil
  }

  private static let opposites: [(Self, Self)] = [
    (.equals, .notEquals), (.lessThan, .greaterThanOrEquals), (.lessThanOrEquals, .greaterThan),
    (.isIn, .isNotIn), (.beginsWith, .notBeginsWith), (.listContains, .notListContains),
    (.listContainsAny, .notListContainsAny), (.listContainsAll, .notListContainsAll),
    (.listMemberBeginsWith, .notListMemberBeginsWith),
  ]
}
