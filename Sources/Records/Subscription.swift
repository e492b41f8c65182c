/// A standing wish to be told of changes by push.
public struct Subscription: Hashable, Sendable, Codable {
  /// What is watched.
  public enum Kind: Hashable, Sendable, Codable {
    /// Any custom zone of the database, or only records of one type.
    case database(recordType: String?)
    /// One zone, or only records of one type in it.
    case zone(ZoneID, recordType: String?)
    /// Records that match a query.
    case query(QuerySubscription)
  }

  /// What a push shows or does; only the parts that decide how it is delivered.
  public struct NotificationInfo: Hashable, Sendable, Codable {
    /// Text to show, absent for a silent push.
    public var alertBody: String?
    /// Whether the push wakes the app.
    public var shouldSendContentAvailable: Bool
    /// Whether the push may be changed before it is shown.
    public var shouldSendMutableContent: Bool
    /// Whether the push counts up the badge.
    public var shouldBadge: Bool
    /// Up to three fields sent along.
    public var desiredKeys: [String]
    /// The remaining settings by their CloudKit names, in the order of the names.
    public var others: Fields

    /// Describes a push; the default is a silent one that wakes the app.
    public init(
      alertBody: String? = nil, shouldSendContentAvailable: Bool = true,
      shouldSendMutableContent: Bool = false, shouldBadge: Bool = false,
      desiredKeys: [String] = [], others: Fields = Fields()
    ) {
      self.alertBody = alertBody
      self.shouldSendContentAvailable = shouldSendContentAvailable
      self.shouldSendMutableContent = shouldSendMutableContent
      self.shouldBadge = shouldBadge
      self.desiredKeys = desiredKeys
      self.others = others
    }
  }

  /// The name, unique in its database.
  public var id: SubscriptionID

  /// What is watched.
  public var kind: Kind

  /// How a push looks; the server refuses a subscription without it.
  public var notificationInfo: NotificationInfo?

  /// Describes a subscription.
  public init(
    id: SubscriptionID, kind: Kind, notificationInfo: NotificationInfo? = NotificationInfo()
  ) {
    self.id = id
    self.kind = kind
    self.notificationInfo = notificationInfo
  }
}

/// What a query subscription watches and when it fires.
public struct QuerySubscription: Hashable, Sendable, Codable {
  /// When a query subscription fires.
  public struct Options: OptionSet, Hashable, Sendable, Codable {
    /// The bits, with the values CloudKit gives them.
    public var rawValue: UInt

    /// Wraps the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A matching record appears.
    public static let firesOnRecordCreation = Options(rawValue: 1)
    /// A matching record changes.
    public static let firesOnRecordUpdate = Options(rawValue: 2)
    /// A matching record goes.
    public static let firesOnRecordDeletion = Options(rawValue: 4)
    /// Only once.
    public static let firesOnce = Options(rawValue: 8)
  }

  /// The query whose matches are watched.
  public var query: Query

  /// The one zone watched, or all of the database.
  public var zone: ZoneID?

  /// When it fires.
  public var options: Options

  /// Describes what to watch.
  public init(query: Query, zone: ZoneID?, options: Options) {
    self.query = query
    self.zone = zone
    self.options = options
  }
}

/// A question for records of one type.
public struct Query: Hashable, Sendable, Codable {
  /// One comparison; all of a query's filters must hold.
  public struct Filter: Hashable, Sendable, Codable {
    /// How a field is compared. The names are those of CloudKit Web Services.
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
    }

    /// The field, or the name of a system field.
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
    /// The field, or the name of a system field.
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
