public import Foundation
package import Records
import Synchronization

/// A standing wish to be told of changes by push.
///
/// Made as one of its subclasses. It can be used from any thread.
/// See CS-91 to CS-97.
///
/// `@unchecked` because a class that others inherit from cannot be checked; the one stored
/// property is a `Mutex`, and subclasses add none of their own.
public class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// Names a subscription, unique in its database.
  public typealias ID = String
  /// How a push looks.
  public typealias NotificationInfo = CKNotificationInfo

  /// What kind of changes is watched.
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

  /// A predicate as the app made it.
  ///
  /// `@unchecked` because a predicate is not marked; it is guarded by being immutable.
  private struct PredicateBox: @unchecked Sendable { let predicate: NSPredicate }

  private let state: Mutex<State>

  /// Wraps a subscription of the vocabulary.
  package convenience init(_ value: Subscription) { self.init(value, predicate: nil) }

  /// Wraps a subscription and the predicate the app gave for it.
  init(_ value: Subscription, predicate: NSPredicate?) {
    state = Mutex(
      State(
        value: value, notificationInfo: value.notificationInfo.map { CKNotificationInfo($0) },
        predicate: predicate.map { PredicateBox(predicate: $0) }))
  }

  /// The predicate the app gave; absent when the subscription came from the server or an archive.
  var ownPredicate: NSPredicate? { state.withLock { $0.predicate }?.predicate }

  /// The subscription as the vocabulary spells it.
  package var value: Subscription {
    state.withLock { state in
      var value = state.value
      value.notificationInfo = state.notificationInfo?.value
      return value
    }
  }

  /// Changes what is watched.
  func update(_ change: (inout Subscription) -> Void) { state.withLock { change(&$0.value) } }

  /// The name, unique in its database.
  public var subscriptionID: CKSubscription.ID { state.withLock { $0.value.id.rawValue } }

  /// What kind of changes is watched.
  public var subscriptionType: CKSubscription.SubscriptionType {
    switch state.withLock({ $0.value.kind }) {
    case .query: .query
    case .zone: .recordZone
    case .database: .database
    }
  }

  /// How a push looks; must be set before the subscription is saved.
  public var notificationInfo: CKSubscription.NotificationInfo? {
    get { state.withLock { $0.notificationInfo } }
    set { state.withLock { $0.notificationInfo = newValue } }
  }

  /// The subclass that fits a subscription of the vocabulary.
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

  /// The same as `description`.
  public override var debugDescription: String { description }

  /// Another subscription object with the same contents.
  public func copy(with zone: NSZone? = nil) -> Any {
    guard let predicate = ownPredicate else { return CKSubscription.face(value) }
    return CKQuerySubscription(value, predicate: predicate)
  }

  /// Always true.
  public class var supportsSecureCoding: Bool { true }

  /// Archives the subscription.
  public func encode(with coder: NSCoder) {
    let value = (try? checkedValue()) ?? value
    ArchivedBytes.encode("CloudSyncSubscription", with: coder) { $0.write(value) }
  }

  /// Reads a subscription back; `nil` when the archive is damaged or of another class.
  public required init?(coder: NSCoder) {
    let value = ArchivedBytes.decode("CloudSyncSubscription", with: coder) {
      (reader) throws(ByteFormatError) in try reader.subscription()
    }
    guard let value else { return nil }
    state = Mutex(
      State(
        value: value, notificationInfo: value.notificationInfo.map { CKNotificationInfo($0) }))
  }
}
