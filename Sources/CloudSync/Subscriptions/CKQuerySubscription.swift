public import Foundation
import Records

/// Watches the records that match a query, in the public or private database.
///
/// A predicate that CloudKit refuses is found when the subscription is saved, not here.
///
/// `@unchecked` as its parent is: all it holds is behind the parent's lock.
public final class CKQuerySubscription: CKSubscription, @unchecked Sendable {
  /// When a query subscription fires.
  public struct Options: OptionSet, Sendable {
    /// The bits, with the values CloudKit gives them.
    public let rawValue: UInt

    /// Wraps the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A matching record appears.
    public static let firesOnRecordCreation = Options(rawValue: 1)

    /// A matching record changes.
    public static let firesOnRecordUpdate = Options(rawValue: 2)

    /// A matching record goes.
    public static let firesOnRecordDeletion = Options(rawValue: 4)

    /// Only once; then the subscription is gone.
    public static let firesOnce = Options(rawValue: 8)
  }

  /// Watches records of `recordType` that match `predicate`, under the name `subscriptionID`.
  ///
  /// - Parameter options: When it fires; without one of the three kinds of change the process
  ///   stops, as with CloudKit.
  public convenience init(
    recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
    options: CKQuerySubscription.Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  ) {
    precondition(
      options.rawValue & 7 != 0,
      "CKQuerySubscription: say with options when it fires: on creation, update or deletion.")
    let query = QuerySubscription(
      query: Query(recordType: recordType), zone: nil,
      options: QuerySubscription.Options(rawValue: options.rawValue))
    self.init(
      Subscription(
        id: SubscriptionID(subscriptionID), kind: .query(query), notificationInfo: nil),
      predicate: predicate)
  }

  /// Watches records of `recordType` that match `predicate`, under a new name.
  public convenience init(
    recordType: CKRecord.RecordType, predicate: NSPredicate,
    options: CKQuerySubscription.Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  ) {
    self.init(
      recordType: recordType, predicate: predicate, subscriptionID: UUID().uuidString,
      options: options)
  }

  private var watched: QuerySubscription? {
    guard case .query(let query) = value.kind else { return nil }
    return query
  }

  /// The type of record watched.
  public var recordType: CKRecord.RecordType? { watched?.query.recordType }

  /// What records must match; of a subscription from the server or an archive, rebuilt.
  public var predicate: NSPredicate {
    ownPredicate ?? watched.map { .matching($0.query) } ?? NSPredicate(value: false)
  }

  /// The one zone watched; `nil` for the whole database.
  public var zoneID: CKRecordZone.ID? {
    get { watched?.zone.map { CKRecordZoneID($0) } }
    set {
      update { subscription in
        guard case .query(var query) = subscription.kind else { return }
        query.zone = newValue?.value
        subscription.kind = .query(query)
      }
    }
  }

  /// When it fires.
  public var querySubscriptionOptions: CKQuerySubscription.Options {
    Options(rawValue: watched?.options.rawValue ?? 0)
  }
}
