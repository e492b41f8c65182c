/// A subscription to pushes about changes.
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
