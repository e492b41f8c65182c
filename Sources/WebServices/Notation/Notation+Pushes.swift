package import CloudProtocol
package import Records

/// Pushes, as the web courier delivers them. Rules: WS-68 to WS-74.
extension Notation {
  /// A push.
  ///
  /// - Parameters:
  ///   - push: The push.
  ///   - number: The notification ID.
  ///   - info: The subscription's notification info, if known.
  package func json(
    _ push: CloudPush, number: String, info: Subscription.NotificationInfo? = nil
  ) -> JSON {
    var content = JSON.Members()
    content.add("sid", .string(push.subscription.rawValue))
    if let zone = push.query?.record.zone ?? push.zone {
      content.add("zid", .string(zone.name))
      content.add(
        "zoid", .string(zone.owner == ZoneID.currentOwner ? user?.rawValue ?? "" : zone.owner))
    }
    content.add("dbs", .integer(Int(push.database.rawValue)))
    if let query = push.query {
      content.add("rid", .string(query.record.name))
      content.add("fo", .integer(Int(query.reason.rawValue)))
      let fields = query.fields.map { element in
        JSON.Members.Element(
          name: element.key,
          value: json(element.field, element.key, of: query.record)["value"] ?? .null)
      }
      content.add("af", fields.isEmpty ? nil : .object(JSON.Members(fields)))
    }
    var kit = JSON.Members()
    kit.add("nid", .string(number))
    kit.add("cid", .string(push.container))
    kit.add(push.query != nil ? "qry" : push.zone != nil ? "fet" : "met", .object(content))
    kit.add(Notation.extra, exact { $0.write(push) })
    return .members(["aps": aps(info), "ck": .object(kit)])
  }

  private func aps(_ info: Subscription.NotificationInfo?) -> JSON {
    guard let info else { return .members(["content-available": .integer(1)]) }
    func text(_ name: String) -> JSON? {
      guard case .string(let text) = info.others[name]?.value else { return nil }
      return .string(text)
    }
    let alert = JSON.members([
      "body": info.alertBody.map { .string($0) }, "loc-key": text("alertLocalizationKey"),
      "loc-args": Notation.localizationArguments(info).map { .array($0) },
      "action-loc-key": text("alertActionLocalizationKey"),
      "launch-image": text("alertLaunchImage"),
    ])
    return .members([
      "alert": alert.members?.elements.isEmpty == false ? alert : nil,
      "sound": text("soundName"), "badge": info.shouldBadge ? .integer(1) : nil,
      "content-available": info.shouldSendContentAvailable ? .integer(1) : nil,
    ])
  }

  /// Decodes a push; `nil` for an unknown kind.
  package func push(_ json: JSON) throws(CloudError) -> CloudPush? {
    guard let kit = json["ck"] else { return nil }
    if let push = try exact(in: kit, { (reader) throws(ByteFormatError) in try reader.push() }) {
      return push
    }
    let container = try kit.optionalText("cid") ?? container
    for name in ["qry", "fet", "met"] {
      guard let content = kit[name] else { continue }
      guard let number = content["dbs"]?.integer.flatMap({ UInt8(exactly: $0) }),
        let scope = DatabaseScope(rawValue: number)
      else { throw .malformed("a push names no database") }
      var zone: ZoneID?
      if let zoneName = try content.optionalText("zid") {
        let owner = try content.optionalText("zoid") ?? ""
        zone = ZoneID(
          name: zoneName,
          owner: scope == .shared && !owner.isEmpty ? owner : ZoneID.currentOwner)
      }
      var query: QueryPush?
      if let record = try content.optionalText("rid") {
        guard
          let reason = content["fo"]?.integer.flatMap({ UInt8(exactly: $0) })
            .flatMap({ QueryPush.Reason(rawValue: $0) })
        else { throw .malformed("a push names no reason") }
        query = QueryPush(
          record: RecordID(name: record, zone: zone ?? .default), reason: reason)
      }
      return CloudPush(
        container: container, database: scope,
        subscription: SubscriptionID(try content.optionalText("sid") ?? ""), zone: zone,
        query: query)
    }
    return nil
  }
}
