package import CloudProtocol
import Foundation
import Records

/// The form of a push on the wire: beside `aps`, a dictionary `ck` with the container (`cid`),
/// the push's name (`nid`), and under `met` (database), `fet` (zone) or `qry` (query) the
/// subscription (`sid`), the database (`dbs`) and the zone (`zid`, `zoid`).
extension CKNotification.Content {
  /// Reads a push; `nil` when it has no such dictionary.
  package init?(_ dictionary: [AnyHashable: Any]) {
    guard let content = dictionary["ck"] as? [AnyHashable: Any] else { return nil }
    let kinds: [(String, CKNotification.NotificationType)] = [
      ("met", .database), ("fet", .recordZone), ("qry", .query),
    ]
    for (key, type) in kinds {
      guard let details = content[key] as? [AnyHashable: Any] else { continue }
      let scope = (details["dbs"] as? NSNumber)?.intValue ?? (details["dbs"] as? Int)
      self.init(
        type: type, notificationID: content["nid"] as? String,
        container: content["cid"] as? String, subscription: details["sid"] as? String,
        scope: scope.flatMap(CKDatabase.Scope.init(rawValue:)) ?? .private,
        zone: (details["zid"] as? String).map {
          ZoneID(name: $0, owner: details["zoid"] as? String ?? ZoneID.currentOwner)
        })
      return
    }
    return nil
  }
}

extension CKNotification {
  /// A push of the vocabulary in the form in which apps receive it.
  ///
  /// - Parameters:
  ///   - push: What the server told.
  ///   - notificationID: A name for the push.
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
    let content: [AnyHashable: Any] = [
      "cid": push.container, "nid": notificationID,
      push.zone == nil ? "met" : "fet": details,
    ]
    return ["aps": ["content-available": 1], "ck": content]
  }
}
