import Foundation
import Records

/// A subscription to all custom zones of a database.
///
/// `@unchecked` as its superclass is: its state is guarded by the superclass's lock.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
  /// Creates a subscription to the database in which it is saved, with the ID `subscriptionID`.
  public convenience init(subscriptionID: CKSubscription.ID) {
    self.init(
      Subscription(
        id: SubscriptionID(subscriptionID), kind: .database(recordType: nil),
        notificationInfo: nil))
  }

  /// Creates a subscription to the database in which it is saved, with a new ID.
  @available(*, deprecated, message: "Use init(subscriptionID:), so that it can be found again.")
  public convenience init() { self.init(subscriptionID: UUID().uuidString) }

  /// The record type of the subscription; `nil` for all.
  public var recordType: CKRecord.RecordType? {
    get {
      guard case .database(let recordType) = value.kind else { return nil }
      return recordType
    }
    set { update { $0.kind = .database(recordType: newValue) } }
  }

  /// Always true.
  ///
  /// Foundation on Apple's platforms asks each class that inherits `init(coder:)`.
  public override class var supportsSecureCoding: Bool { true }
}

/// A subscription to one zone.
///
/// `@unchecked` as its superclass is: its state is guarded by the superclass's lock.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
  /// Creates a subscription to the zone `zoneID`, with the ID `subscriptionID`.
  public convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
    self.init(
      Subscription(
        id: SubscriptionID(subscriptionID), kind: .zone(zoneID.value, recordType: nil),
        notificationInfo: nil))
  }

  /// Creates a subscription to the zone `zoneID`, with a new ID.
  @available(*, deprecated, message: "Use init(zoneID:subscriptionID:).")
  public convenience init(zoneID: CKRecordZone.ID) {
    self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
  }

  /// The zone whose changes cause pushes.
  public var zoneID: CKRecordZone.ID {
    guard case .zone(let zone, _) = value.kind else { return .default }
    return CKRecordZoneID(zone)
  }

  /// The record type of the subscription; `nil` for all.
  public var recordType: CKRecord.RecordType? {
    get {
      guard case .zone(_, let recordType) = value.kind else { return nil }
      return recordType
    }
    set {
      update { subscription in
        guard case .zone(let zone, _) = subscription.kind else { return }
        subscription.kind = .zone(zone, recordType: newValue)
      }
    }
  }

  /// Always true.
  ///
  /// Foundation on Apple's platforms asks each class that inherits `init(coder:)`.
  public override class var supportsSecureCoding: Bool { true }
}
