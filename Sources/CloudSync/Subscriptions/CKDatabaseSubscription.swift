import Foundation
import Records

/// Watches all custom zones of a database.
///
/// `@unchecked` as its parent is: all it holds is behind the parent's lock.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
  /// Watches the database it is saved in, under the name `subscriptionID`.
  public convenience init(subscriptionID: CKSubscription.ID) {
    self.init(
      Subscription(
        id: SubscriptionID(subscriptionID), kind: .database(recordType: nil),
        notificationInfo: nil))
  }

  /// Watches the database it is saved in, under a new name.
  @available(*, deprecated, message: "Use init(subscriptionID:), so that it can be found again.")
  public convenience init() { self.init(subscriptionID: UUID().uuidString) }

  /// The one type of record watched; `nil` for all.
  public var recordType: CKRecord.RecordType? {
    get {
      guard case .database(let recordType) = value.kind else { return nil }
      return recordType
    }
    set { update { $0.kind = .database(recordType: newValue) } }
  }
}

/// Watches one zone.
///
/// `@unchecked` as its parent is: all it holds is behind the parent's lock.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
  /// Watches the zone `zoneID`, under the name `subscriptionID`.
  public convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
    self.init(
      Subscription(
        id: SubscriptionID(subscriptionID), kind: .zone(zoneID.value, recordType: nil),
        notificationInfo: nil))
  }

  /// Watches the zone `zoneID`, under a new name.
  @available(*, deprecated, message: "Use init(zoneID:subscriptionID:).")
  public convenience init(zoneID: CKRecordZone.ID) {
    self.init(zoneID: zoneID, subscriptionID: UUID().uuidString)
  }

  /// The zone watched.
  public var zoneID: CKRecordZone.ID {
    guard case .zone(let zone, _) = value.kind else { return .default }
    return CKRecordZoneID(zone)
  }

  /// The one type of record watched; `nil` for all.
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
}
