import Foundation
import Records

/// The form of a push on the wire: beside `aps`, a dictionary `ck` with the container (`cid`),
/// the push's name (`nid`), the user (`ckuserid`), and under `met` (database), `fet` (zone) or
/// `qry` (query) the subscription (`sid`), the database (`dbs`), the zone (`zid`, `zoid`), and
/// for a query what happened (`fo`) to which record (`rid`) with which fields (`af`).
extension CKNotification.Content {
  /// Reads a push; `nil` when it has no such dictionary.
  package init?(_ dictionary: [AnyHashable: Any]) {
    guard let content = dictionary["ck"] as? [AnyHashable: Any] else { return nil }
    let kinds: [(String, CKNotification.NotificationType)] = [
      ("met", .database), ("fet", .recordZone), ("qry", .query),
    ]
    for (key, type) in kinds {
      guard let details = content[key] as? [AnyHashable: Any] else { continue }
      let scope = (details["dbs"] as? NSNumber)?.intValue
      self.init(
        type: type, notificationID: content["nid"] as? String,
        container: content["cid"] as? String, subscription: details["sid"] as? String,
        scope: scope.flatMap(CKDatabase.Scope.init(rawValue:)) ?? .private,
        zone: (details["zid"] as? String).map {
          ZoneID(name: $0, owner: details["zoid"] as? String ?? ZoneID.currentOwner)
        })
      subscriptionOwner = content["ckuserid"] as? String
      isPruned = (content["p"] as? NSNumber)?.boolValue ?? false
      alert = CKNotification.AlertContent(aps: dictionary["aps"] as? [AnyHashable: Any] ?? [:])
      if type == .query { readQuery(details) }
      return
    }
    return nil
  }

  private mutating func readQuery(_ details: [AnyHashable: Any]) {
    record = (details["rid"] as? String).map { RecordID(name: $0, zone: zone ?? .default) }
    let number = (details["fo"] as? NSNumber)?.intValue
    reason = number.flatMap(CKQueryNotification.Reason.init(rawValue:)) ?? .recordUpdated
    guard let values = details["af"] as? [AnyHashable: Any] else { return }
    recordFields = Fields(
      values.compactMap { key, value in
        guard let key = key as? String, let value = FieldValue(value) else { return nil }
        return Fields.Element(key: key, field: Field(value))
      })
  }
}
