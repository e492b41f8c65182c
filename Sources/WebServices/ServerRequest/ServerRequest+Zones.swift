import CloudProtocol
import Records

/// Zones and subscriptions. Rules: WS-66 and WS-67 and WS-68 to WS-74.
extension ServerRequest {
  static func zonesList(_ notation: Notation) -> ServerRequest {
    ServerRequest(.fetchZones(nil)) { reply throws(CloudError) in try zones(reply, notation) }
  }

  static func zonesLookup(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest {
    var ids: [ZoneID] = []
    for value in try notation.items(body, "zones") {
      // Some clients wrap the ID, others don't.
      ids.append(try notation.zone(value["zoneID"] ?? value))
    }
    return ServerRequest(.fetchZones(ids)) { reply throws(CloudError) in try zones(reply, notation)
    }
  }

  private static func zones(_ reply: CloudReply, _ notation: Notation) throws(CloudError) -> JSON {
    guard case .zones(let results) = reply else { throw mismatchedReply }
    return .members(["zones": .array(results.map { json($0, notation) })])
  }

  private static func json(_ result: ItemResult<ZoneID, Zone>, _ notation: Notation) -> JSON {
    switch result.outcome {
    case .success(let zone): return notation.json(zone)
    case .failure(let error): return failure(error, result.id, notation)
    }
  }

  private static func failure(_ error: CloudError, _ id: ZoneID, _ notation: Notation) -> JSON {
    var members = JSON.Members()
    members.add("zoneID", notation.json(id))
    return notation.json(error, of: members)
  }

  static func zonesModify(_ body: JSON, _ notation: Notation) throws(CloudError) -> ServerRequest {
    var request = ModifyZones()
    // The indexes of the operations among the saves or the deletions.
    var order: [(isSave: Bool, index: Int)] = []
    for value in try notation.items(body, "operations") {
      let zone = try value.object("zone")
      let id = try notation.zone(zone["zoneID"] ?? zone)
      let type = try value.text("operationType")
      switch type {
      case "create":
        order.append((true, request.save.count))
        request.save.append(id)
      case "delete":
        order.append((false, request.delete.count))
        request.delete.append(id)
      default: throw .unknown(type, "'operationType' of a zone", ["create", "delete"])
      }
    }
    let operationIndexes = order
    let next = describing(notation) { reply in
      guard case .zonesModified(let saved, _) = reply else { return [] }
      return saved.filter { $0.error == nil }.map(\.id)
    }
    return ServerRequest([.modifyZones(request)], next: next) { outcomes throws(CloudError) in
      guard case .zonesModified(let saved, let deleted) = try only(outcomes).get(),
        saved.count + deleted.count == operationIndexes.count
      else { throw mismatchedReply }
      let zones = describedZones(outcomes)
      return .members([
        "zones": .array(
          operationIndexes.map { place in
            if place.isSave {
              let zone = saved[place.index]
              return zones[zone.id].map(notation.json) ?? json(zone, notation)
            }
            let item = deleted[place.index]
            return item.error.map { failure($0, item.id, notation) }
              ?? .members(["zoneID": notation.json(item.id), "deleted": .bool(true)])
          })
      ])
    }
  }

  /// Makes the request that fetches the zones of a reply, so that the response has their tokens;
  /// `nil` for this package's client, which has no use for them.
  static func describing(
    _ notation: Notation, _ zones: @escaping @Sendable (CloudReply) -> [ZoneID]
  ) -> (@Sendable (CloudReply) -> CloudRequest?)? {
    guard !notation.isExact else { return nil }
    return { reply in
      let zones = zones(reply)
      return zones.isEmpty ? nil : .fetchZones(zones)
    }
  }

  /// The zones that the request of `describing` found.
  static func describedZones(_ outcomes: [Outcome]) -> [ZoneID: Zone] {
    guard outcomes.count > 1, case .success(.zones(let results)) = outcomes[1] else { return [:] }
    return results.reduce(into: [:]) { zones, result in zones[result.id] = result.value }
  }

  // MARK: Subscriptions

  static func subscriptionsList(_ notation: Notation) -> ServerRequest {
    ServerRequest(.fetchSubscriptions(nil)) { reply throws(CloudError) in
      try subscriptions(reply, notation)
    }
  }

  static func subscriptionsLookup(
    _ body: JSON, _ notation: Notation
  ) throws(CloudError) -> ServerRequest {
    var ids: [SubscriptionID] = []
    for value in try notation.items(body, "subscriptions") {
      ids.append(SubscriptionID(try value.text("subscriptionID")))
    }
    return ServerRequest(.fetchSubscriptions(ids)) { reply throws(CloudError) in
      try subscriptions(reply, notation)
    }
  }

  private static func subscriptions(
    _ reply: CloudReply, _ notation: Notation
  ) throws(CloudError) -> JSON {
    guard case .subscriptions(let results) = reply else { throw mismatchedReply }
    return .members(["subscriptions": .array(results.map { json($0, notation) })])
  }

  private static func json(
    _ result: ItemResult<SubscriptionID, Subscription>, _ notation: Notation
  ) -> JSON {
    switch result.outcome {
    case .success(let subscription): return notation.json(subscription)
    case .failure(let error): return failure(error, result.id, notation)
    }
  }

  private static func failure(
    _ error: CloudError, _ id: SubscriptionID, _ notation: Notation
  ) -> JSON {
    var members = JSON.Members()
    members.add("subscriptionID", .string(id.rawValue))
    return notation.json(error, of: members)
  }

  static func subscriptionsModify(
    _ body: JSON, _ notation: Notation, _ newName: () -> String
  ) throws(CloudError) -> ServerRequest {
    var request = ModifySubscriptions()
    var order: [(isSave: Bool, index: Int)] = []
    for value in try notation.items(body, "operations") {
      let described = try value.object("subscription")
      let type = try value.text("operationType")
      switch type {
      case "create", "update":
        order.append((true, request.save.count))
        request.save.append(try notation.subscription(described, newName: newName))
      case "delete":
        order.append((false, request.delete.count))
        request.delete.append(SubscriptionID(try described.text("subscriptionID")))
      default: throw .unknown(type, "'operationType'", ["create", "update", "delete"])
      }
    }
    let operationIndexes = order
    return ServerRequest(.modifySubscriptions(request)) { reply throws(CloudError) in
      guard case .subscriptionsModified(let saved, let deleted) = reply,
        saved.count + deleted.count == operationIndexes.count
      else { throw mismatchedReply }
      return .members([
        "subscriptions": .array(
          operationIndexes.map { place in
            if place.isSave { return json(saved[place.index], notation) }
            let item = deleted[place.index]
            return item.error.map { failure($0, item.id, notation) }
              ?? .members([
                "subscriptionID": .string(item.id.rawValue), "deleted": .bool(true),
              ])
          })
      ])
    }
  }
}
