public import CloudProtocol
import Foundation
import Records
import WebServices

extension CloudPush {
  /// The payload with which the push reaches an app, without an alert.
  ///
  /// It has the form that `application(_:didReceiveRemoteNotification:)` gets on Apple's platforms,
  /// so a test can hand it to the app's code, which reads it with
  /// `CKNotification(fromRemoteNotificationDictionary:)`. Each call gives the notification an ID of
  /// its own.
  public var userInfo: [AnyHashable: Any] {
    let notation = Notation(
      container: container, database: database, user: UserID(ZoneID.currentOwner), isExact: false)
    let payload = notation.json(self, number: UUID().uuidString).bytes
    return (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any] ?? [:]
  }
}
