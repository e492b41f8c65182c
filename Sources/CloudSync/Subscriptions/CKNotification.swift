public import Foundation
import Records

/// A push as an app receives it; it reports a change, not its content.
///
/// `CKNotification(fromRemoteNotificationDictionary:)` gives an object of the subclass that fits,
/// so that `as? CKDatabaseNotification` works. See CS-100 and CS-101.
///
/// `@unchecked` because a class that others inherit from cannot be checked; it and its
/// subclasses are immutable.
public class CKNotification: NSObject, _CKNotificationMaking, @unchecked Sendable {
  /// The kind of a push.
  public enum NotificationType: Int, Sendable {
    /// Records that match a query.
    case query = 1
    /// One zone.
    case recordZone = 2
    /// A push that another device has read; not sent any more.
    case readNotification = 3
    /// A change in any zone of a database.
    case database = 4
  }

  /// The parts of a push.
  package struct Content: Sendable {
    var type: NotificationType
    var notificationID: String?
    var container: String?
    var subscription: String?
    var scope: CKDatabase.Scope
    var zone: ZoneID?
    var subscriptionOwner: String?
    var isPruned = false
    var record: RecordID?
    var reason: CKQueryNotification.Reason = .recordUpdated
    var recordFields: Fields?
    var alert = AlertContent()
  }

  /// The parts of the push.
  let content: Content

  /// Wraps the parts of a push.
  init(content: Content) { self.content = content }

  /// The kind of the push.
  public var notificationType: CKNotification.NotificationType { content.type }

  /// The ID of the push.
  public var notificationID: CKNotification.ID? {
    content.notificationID.map { CKNotificationID($0) }
  }

  /// The container in which the change was made.
  public var containerIdentifier: String? { content.container }

  /// The subscription that fired.
  public var subscriptionID: CKSubscription.ID? { content.subscription }

  /// The owner of the subscription, if it is another user.
  public var subscriptionOwnerUserRecordID: CKRecord.ID? {
    content.subscriptionOwner.map { CKRecordID(recordName: $0) }
  }

  /// Whether parts were left out to make the push small enough; then fetch the changes.
  public var isPruned: Bool { content.isPruned }

  /// The kind, container and subscription.
  public override var description: String {
    "<\(type(of: self)): containerIdentifier=\(content.container ?? "none"), "
      + "subscriptionID=\(content.subscription ?? "none")>"
  }

  /// Creates an object of the subclass for a push; `nil` if the dictionary is no push.
  fileprivate static func notification(_ dictionary: [AnyHashable: Any]) -> CKNotification? {
    guard let content = Content(dictionary) else { return nil }
    switch content.type {
    case .database: return CKDatabaseNotification(content: content)
    case .recordZone: return CKRecordZoneNotification(content: content)
    case .query: return CKQueryNotification(content: content)
    case .readNotification: return CKNotification(content: content)
    }
  }
}

/// Gives `CKNotification` the initializer that returns an object of a subclass, as CloudKit's does.
///
/// Only an initializer of a protocol can do that. The protocol is public because its initializer
/// is; code outside this module has no use for it.
public protocol _CKNotificationMaking {}

extension _CKNotificationMaking {
  /// Reads a push; `nil` if the dictionary is no push of CloudKit, or one of another subclass.
  public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
    guard let notification = CKNotification.notification(notificationDictionary) as? Self else {
      return nil
    }
    self = notification
  }
}

extension CKNotification {
  /// The ID of a push.
  public typealias ID = CKNotificationID
}

/// The ID of a push: known to apps as `CKNotification.ID`.
public final class CKNotificationID: NSObject, NSSecureCoding, NSCopying, Sendable {
  private let value: String

  /// Wraps an ID.
  package init(_ value: String) { self.value = value }

  /// Whether `object` is an equal ID.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKNotificationID)?.value == value
  }

  /// The hash, consistent with `isEqual`.
  public override var hash: Int { value.hashValue }

  /// The name.
  public override var description: String { "<CKNotificationID: \(value)>" }

  /// Returns the object itself, since it is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Always true.
  public static var supportsSecureCoding: Bool { true }

  /// Archives the ID.
  public func encode(with coder: NSCoder) {
    ArchivedBytes.encode("CloudSyncNotificationID", with: coder) { $0.write(value) }
  }

  /// Decodes an ID; returns `nil` if the archive is damaged.
  public convenience init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncNotificationID", with: coder) { try $0.string() }
    guard let value else { return nil }
    self.init(value)
  }
}
