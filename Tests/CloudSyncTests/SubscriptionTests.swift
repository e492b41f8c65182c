import CloudSync
import Foundation
import Records
import Testing

@Suite("Subscriptions: queries")
struct SubscriptionTests {
  private func subscription(_ predicate: NSPredicate) -> CKQuerySubscription {
    let subscription = CKQuerySubscription(
      recordType: "Note", predicate: predicate, subscriptionID: "q",
      options: [.firesOnRecordCreation, .firesOnce])
    subscription.zoneID = CKRecordZone.ID(zoneName: "Z")
    subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "new")
    return subscription
  }

  @Test("a query subscription keeps its parts, in copies and archives too")
  func parts() throws {
    let original = subscription(NSPredicate(value: true))
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: original, requiringSecureCoding: true)
    let archived = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: CKQuerySubscription.self, from: data)
    let copy = original.copy() as? CKQuerySubscription
    original.notificationInfo = nil
    for found in [try #require(archived), try #require(copy)] {
      #expect(found.subscriptionID == "q" && found.subscriptionType == .query)
      #expect(found.recordType == "Note" && found.zoneID?.zoneName == "Z")
      #expect(found.querySubscriptionOptions == [.firesOnRecordCreation, .firesOnce])
      #expect(found.predicate == NSPredicate(value: true))
      #expect(found.notificationInfo?.alertBody == "new")
    }
    let unnamed = CKQuerySubscription(recordType: "Note", predicate: NSPredicate(value: true))
    #expect(unnamed.querySubscriptionOptions.rawValue == 7 && !unnamed.subscriptionID.isEmpty)
  }

  @Test("the predicate becomes a query when the subscription is sent; a block is refused")
  func predicates() throws {
    let sent = try subscription(NSPredicate(value: true)).checkedValue()
    let zone = ZoneID(name: "Z")
    #expect(
      sent.kind
        == .query(
          QuerySubscription(
            query: Query(recordType: "Note"), zone: zone,
            options: [.firesOnRecordCreation, .firesOnce])))
    let block = subscription(NSPredicate(block: { _, _ in true }))
    #expect(throws: CKError.self) { try block.checkedValue() }
    #expect((block.copy() as? CKQuerySubscription)?.predicate === block.predicate)
    let face = CKSubscription.face(sent) as? CKQuerySubscription
    #expect(face?.recordType == "Note" && face?.predicate == NSPredicate(value: true))
  }
}
