public import Foundation
package import Records
import Synchronization

/// A subscription to changes, which the server reports by push.
///
/// Create one of its subclasses. It can be used from any thread.
/// See CS-91 to CS-97.
///
/// `@unchecked` because a class that others inherit from cannot be checked; the one stored
/// property is a `Mutex`, and subclasses add none.
public class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The ID of a subscription, unique in its database.
  public typealias ID = String
  /// The settings of a push.
  public typealias NotificationInfo = CKNotificationInfo

  /// The kind of the changes.
  public enum SubscriptionType: Int, Sendable {
    /// Records that match a query.
    case query = 1
    /// One zone.
    case recordZone = 2
    /// All custom zones of a database.
    case database = 3
  }

  private struct State {
    var value: Subscription
    var notificationInfo: NotificationInfo?
    var predicate: PredicateBox?
  }

  /// A predicate of the app.
  ///
  /// `@unchecked` because a predicate is not marked; it is guarded by being immutable.
  private struct PredicateBox: @unchecked Sendable { let predicate: NSPredicate }

  private let state: Mutex<State>

  /// Wraps a subscription.
  package convenience init(_ value: Subscription) { self.init(value, predicate: nil) }

  /// Wraps a subscription and its predicate.
  init(_ value: Subscription, predicate: NSPredicate?) {
    state = Mutex(
      State(
        value: value, notificationInfo: value.notificationInfo.map { CKNotificationInfo($0) },
        predicate: predicate.map { PredicateBox(predicate: $0) }))
  }

  /// The app's predicate; `nil` for a subscription from the server or an archive.
  var ownPredicate: NSPredicate? { state.withLock { $0.predicate }?.predicate }

  /// The subscription as a value.
  package var value: Subscription {
    state.withLock { state in
      var value = state.value
      value.notificationInfo = state.notificationInfo?.value
      return value
    }
  }

  /// Changes the subscription.
  func update(_ change: (inout Subscription) -> Void) { state.withLock { change(&$0.value) } }

  /// The ID, unique in its database.
  public var subscriptionID: CKSubscription.ID { state.withLock { $0.value.id.rawValue } }

  /// The kind of the changes.
  public var subscriptionType: CKSubscription.SubscriptionType {
    switch state.withLock({ $0.value.kind }) {
    case .query: .query
    case .zone: .recordZone
    case .database: .database
    }
  }

  /// The settings of its pushes; set them before the subscription is saved.
  ///
  /// Setting them copies them.
  public var notificationInfo: CKSubscription.NotificationInfo? {
    get { state.withLock { $0.notificationInfo } }
    set {
      let copy = newValue.map { NotificationInfo($0.value) }
      state.withLock { $0.notificationInfo = copy }
    }
  }

  /// Creates an object of the subclass for a subscription.
  package static func face(_ value: Subscription) -> CKSubscription {
    switch value.kind {
    case .database: CKDatabaseSubscription(value)
    case .zone: CKRecordZoneSubscription(value)
    case .query: CKQuerySubscription(value)
    }
  }

  /// The name and the kind.
  public override var description: String {
    "<\(type(of: self)): subscriptionID=\(subscriptionID), type=\(subscriptionType)>"
  }

  /// Creates a subscription object with the same contents.
  public func copy(with zone: NSZone? = nil) -> Any {
    guard let predicate = ownPredicate else { return CKSubscription.face(value) }
    return CKQuerySubscription(value, predicate: predicate)
  }

  /// Always true.
  public class var supportsSecureCoding: Bool { true }

  /// Archives the subscription; a closure as a predicate cannot be archived, and the subscription
  /// read back is refused wherever it is used.
  public func encode(with coder: NSCoder) {
    let value = (try? checkedValue()) ?? value
    ArchivedBytes.encode("CloudSyncSubscription", with: coder) { $0.write(value) }
    guard coder.allowsKeyedCoding, let predicate = ownPredicate else { return }
    ArchivedBytes.encode(CKSubscription.predicateKey, with: coder) {
      $0.write(PredicateTree(predicate))
    }
  }

  /// The key of the app's predicate in an archive; absent in archives of older versions.
  private static let predicateKey = "CloudSyncSubscriptionPredicate"

  /// Decodes a subscription; returns `nil` if the archive is damaged or of another class.
  public required init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncSubscription", with: coder) { try $0.subscription() }
    guard let value else { return nil }
    var predicate: PredicateBox?
    if ArchivedBytes.holds(CKSubscription.predicateKey, in: coder) {
      let tree = ArchivedBytes.decode(CKSubscription.predicateKey, with: coder) {
        try $0.predicateTree()
      }
      guard let tree else { return nil }
      predicate = PredicateBox(predicate: tree.predicate)
    }
    state = Mutex(
      State(
        value: value, notificationInfo: value.notificationInfo.map { CKNotificationInfo($0) },
        predicate: predicate))
    super.init()
    guard isKind(of: type(of: CKSubscription.face(value))) || type(of: self) == CKSubscription.self
    else { return nil }
  }

  /// The subscription with the query of its predicate.
  ///
  /// - Throws: `invalidArguments` for a predicate that CloudKit does not support.
  package func checkedValue() throws(CKError) -> Subscription {
    var value = value
    guard case .query(var watched) = value.kind, let predicate = ownPredicate else { return value }
    let query = CKQuery(recordType: watched.query.recordType, predicate: predicate)
    watched.query = try query.converted()
    value.kind = .query(watched)
    return value
  }
}
