package import CloudProtocol
package import CloudSync
import Foundation
import Records

extension CKNotification {
  /// A push in the form in which apps receive it.
  ///
  /// - Parameters:
  ///   - push: The push.
  ///   - notificationID: The ID of the push.
  package static func remoteNotificationDictionary(
    for push: CloudPush, notificationID: String
  ) -> [AnyHashable: Any] {
    var details: [AnyHashable: Any] = [
      "dbs": Int(push.database.rawValue), "sid": push.subscription.rawValue,
    ]
    if let zone = push.zone {
      details["zid"] = zone.name
      details["zoid"] = zone.owner
    }
    if let query = push.query {
      details["rid"] = query.record.name
      details["fo"] = Int(query.reason.rawValue)
      let fields = query.fields.map { ($0.key, $0.field.value.boxed as Any) }
      if !fields.isEmpty { details["af"] = Dictionary(fields) { $1 } }
    }
    let kind = push.query != nil ? "qry" : push.zone == nil ? "met" : "fet"
    let content: [AnyHashable: Any] = [
      "cid": push.container, "nid": notificationID,
      kind: details,
    ]
    return ["aps": ["content-available": 1], "ck": content]
  }
}
