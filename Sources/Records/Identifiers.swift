/// Names one record zone: its own name and the user whose database it lives in.
///
/// Inside a user's own private database the owner is `ZoneID.currentOwner`, as CloudKit spells
/// it; a zone that another user shares carries that user's name.
/// See CS-30.
public struct ZoneID: Hashable, Sendable, Codable, Comparable {
  /// The owner name that stands for "the user who asks".
  public static let currentOwner = "__defaultOwner__"

  /// The name of the zone every database has from the start.
  public static let defaultName = "_defaultZone"

  /// The default zone of the asking user.
  public static let `default` = ZoneID(name: defaultName)

  /// The zone's name: 1 to 255 ASCII characters, checked by the server.
  public var name: String

  /// The user name of the owner, or `currentOwner`.
  public var owner: String

  /// Names the zone `name` of `owner`.
  public init(name: String, owner: String = ZoneID.currentOwner) {
    self.name = name
    self.owner = owner
  }

  /// Orders by owner, then by name, so that zones have one order on every machine.
  public static func < (first: ZoneID, second: ZoneID) -> Bool {
    (first.owner, first.name) < (second.owner, second.name)
  }
}

/// Names one record: unique within its zone.
public struct RecordID: Hashable, Sendable, Codable, Comparable {
  /// The record's name: 1 to 255 ASCII characters, checked by the server.
  public var name: String

  /// The zone that holds the record.
  public var zone: ZoneID

  /// Names the record `name` in `zone`.
  public init(name: String, zone: ZoneID) {
    self.name = name
    self.zone = zone
  }

  /// Orders by zone, then by name, so that records have one order on every machine.
  public static func < (first: RecordID, second: RecordID) -> Bool {
    if first.zone != second.zone { return first.zone < second.zone }
    return first.name < second.name
  }
}

/// The user record name of one account, such as `_3f2a…`.
public struct UserID: Hashable, Sendable, Codable, Comparable {
  /// The name as the server spells it.
  public var rawValue: String

  /// Wraps a user record name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Orders by name.
  public static func < (first: UserID, second: UserID) -> Bool { first.rawValue < second.rawValue }
}

/// The name of a subscription, chosen by the client and unique in its database.
public struct SubscriptionID: Hashable, Sendable, Codable, Comparable {
  /// The name as the client chose it.
  public var rawValue: String

  /// Wraps a subscription name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Orders by name.
  public static func < (first: SubscriptionID, second: SubscriptionID) -> Bool {
    first.rawValue < second.rawValue
  }
}

/// Which of a container's three databases a request is about.
public enum DatabaseScope: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// One for all users of the container.
  case `public` = 1
  /// The asking user's own.
  case `private` = 2
  /// What other users shared with the asking user.
  case shared = 3
}

/// The version of a record on the server; a different tag means different contents.
///
/// Opaque to clients. See CS-110.
public struct ChangeTag: Hashable, Sendable, Codable {
  /// The tag as it travels.
  public var rawValue: String

  /// Wraps a tag that came from the server.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// A position in a change feed.
///
/// Opaque to clients: bound by the server to account, zone and epoch; no order may be inferred.
/// See CS-35.
public struct ChangeToken: Hashable, Sendable, Codable {
  /// The token as it travels.
  public var bytes: [UInt8]

  /// Wraps a token that came from the server.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}
