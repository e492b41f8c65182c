public import Foundation
import Records

/// A subscription to the records that match a query, in the public or private database.
///
/// A predicate that CloudKit does not support is rejected when the subscription is saved.
///
/// `@unchecked` as its superclass is: its state is guarded by the superclass's lock.
public final class CKQuerySubscription: CKSubscription, @unchecked Sendable {
  /// The events on which a query subscription fires.
  public struct Options: OptionSet, Sendable {
    /// The bits, with the values CloudKit gives them.
    public let rawValue: UInt

    /// Wraps the bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A matching record is created.
    public static let firesOnRecordCreation = Options(rawValue: 1)

    /// A matching record is changed.
    public static let firesOnRecordUpdate = Options(rawValue: 2)

    /// A matching record is deleted.
    public static let firesOnRecordDeletion = Options(rawValue: 4)

    /// It fires once and is then deleted.
    public static let firesOnce = Options(rawValue: 8)
  }

  /// Creates a subscription to matching records of `recordType`, with the ID `subscriptionID`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records.
  ///   - predicate: The condition that a record must match.
  ///   - subscriptionID: The ID, unique among the user's subscriptions in the database.
  ///   - options: When it fires; without one of the three kinds of change the process stops, as
  ///     with CloudKit.
  public convenience init(
    recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
    options: CKQuerySubscription.Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
  ) {
    precondition(
      options.rawValue & 7 != 0,
      "CKQuerySubscription: the options must say when it fires: on creation, update or deletion.")
    let query = QuerySubscription(
      query: Query(recordType: recordType), zone: nil,
      options: QuerySubscription.Options(rawValue: options.rawValue))
    self.init(
      Subscription(
        id: SubscriptionID(subscriptionID), kind: .query(query), notificationInfo: nil),
      predicate: predicate)
  }

  /// Creates a subscription to matching records of `recordType`, with a new ID.
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

  /// The record type of the subscription.
  public var recordType: CKRecord.RecordType? { watched?.query.recordType }

  /// The predicate; for a subscription from the server or an archive, an equivalent one.
  public var predicate: NSPredicate {
    ownPredicate ?? watched.map { CKQuery($0.query).predicate } ?? NSPredicate(value: false)
  }

  /// The zone of the subscription; `nil` for the whole database.
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

  /// The events on which it fires.
  public var querySubscriptionOptions: CKQuerySubscription.Options {
    Options(rawValue: watched?.options.rawValue ?? 0)
  }

  /// Always true.
  ///
  /// Foundation on Apple's platforms asks each class that inherits `init(coder:)`.
  public override class var supportsSecureCoding: Bool { true }
}
