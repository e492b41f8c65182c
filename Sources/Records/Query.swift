/// A question for records of one type.
public struct Query: Hashable, Sendable, Codable {
  /// One comparison; all of a query's filters must hold.
  public struct Filter: Hashable, Sendable, Codable {
    /// How a field is compared.
    ///
    /// The names are those of CloudKit Web Services.
    public enum Comparator: String, Hashable, Sendable, Codable, CaseIterable {
      /// The same.
      case equals = "EQUALS"
      /// Not the same.
      case notEquals = "NOT_EQUALS"
      /// Smaller.
      case lessThan = "LESS_THAN"
      /// Smaller or the same.
      case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
      /// Larger.
      case greaterThan = "GREATER_THAN"
      /// Larger or the same.
      case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
      /// One of a list.
      case isIn = "IN"
      /// None of a list.
      case isNotIn = "NOT_IN"
      /// Text that starts so.
      case beginsWith = "BEGINS_WITH"
      /// Text that does not start so.
      case notBeginsWith = "NOT_BEGINS_WITH"
      /// A list that holds the value.
      case listContains = "LIST_CONTAINS"
      /// A list that does not.
      case notListContains = "NOT_LIST_CONTAINS"
      /// A place within a distance.
      case near = "NEAR"
      /// Text that holds all the words.
      case containsAllTokens = "CONTAINS_ALL_TOKENS"
      /// Text that holds one of the words.
      case containsAnyTokens = "CONTAINS_ANY_TOKENS"
      /// A list that holds one of a list.
      case listContainsAny = "LIST_CONTAINS_ANY"
      /// A list that holds none of a list.
      case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
      /// A list that holds all of a list.
      case listContainsAll = "LIST_CONTAINS_ALL"
      /// A list that lacks one of a list.
      case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
      /// A list with a member that starts so.
      case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
      /// A list with no member that starts so.
      case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
    }

    /// The field, or a system field by the name `SystemField` has for it; empty for the full text
    /// of the record, which only the token comparators search.
    public var key: String
    /// How it is compared.
    public var comparator: Comparator
    /// With what.
    public var value: FieldValue
    /// The radius in metres for `near`.
    public var distance: Double?

    /// Compares the field `key` with `value`.
    public init(
      key: String, comparator: Comparator, value: FieldValue, distance: Double? = nil
    ) {
      self.key = key
      self.comparator = comparator
      self.value = value
      self.distance = distance
    }
  }

  /// One level of order.
  public struct Sort: Hashable, Sendable, Codable {
    /// The field, or a system field by the name `SystemField` has for it.
    public var key: String
    /// Whether small values come first.
    public var ascending: Bool
    /// The place distances are measured from, when sorting by distance.
    public var relativeTo: Location?

    /// Orders by the field `key`.
    public init(key: String, ascending: Bool, relativeTo: Location? = nil) {
      self.key = key
      self.ascending = ascending
      self.relativeTo = relativeTo
    }
  }

  /// The type of the records looked for.
  public var recordType: String

  /// What must hold; all of it.
  public var filters: [Filter]

  /// The order of the answer, most significant first.
  public var sorts: [Sort]

  /// Asks for records of `recordType`.
  public init(recordType: String, filters: [Filter] = [], sorts: [Sort] = []) {
    self.recordType = recordType
    self.filters = filters
    self.sorts = sorts
  }
}

/// What the system knows of every record, by the names that queries use.
///
/// See CS-91 to CS-98.
public enum SystemField: String, Hashable, Sendable, Codable, CaseIterable {
  /// The record's name; a reference.
  case recordID = "___recordID"
  /// When it was first saved.
  case created = "___createTime"
  /// When it was last saved.
  case modified = "___modTime"
  /// Who saved it first; a reference.
  case createdBy = "___createdBy"
  /// Who saved it last; a reference.
  case modifiedBy = "___modifiedBy"
  /// The record it hangs under; a reference.
  case parent = "___parent"
  /// The share it is in; a reference.
  case share = "___share"
}

/// Where a page of a query's answer ended; means something to the server alone.
public struct QueryCursor: Hashable, Sendable, Codable {
  /// The bytes to send back for the next page.
  public var bytes: [UInt8]

  /// Wraps the server's bytes.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}
