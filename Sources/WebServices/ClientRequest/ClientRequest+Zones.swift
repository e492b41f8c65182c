import CloudProtocol
import Records

extension ClientRequest {
  static func fetchZones(_ zones: [ZoneID]?, _ notation: Notation) -> ClientRequest {
    guard let zones else {
      return ClientRequest(.zonesList, of: notation.database, body: nil) {
        answer throws(CloudError) in
        var results: [ItemResult<ZoneID, Zone>] = []
        for item in try answer.list("zones") {
          if let error = try notation.error(item) {
            results.append(ItemResult(id: try notation.zone(in: item), .failure(error)))
          } else {
            let zone = try notation.zone(describedBy: item, asked: nil)
            results.append(ItemResult(id: zone.id, .success(zone)))
          }
        }
        return .zones(results)
      }
    }
    let body = JSON.members(["zones": .array(zones.map { notation.json($0) })])
    return ClientRequest(.zonesLookup, of: notation.database, body: body) {
      answer throws(CloudError) in
      .zones(
        try results(try answer.list("zones"), of: zones, notation) {
          item, id throws(CloudError) in
          var zone = try notation.zone(describedBy: item, asked: id)
          zone.id = notation.named(zone.id, askedAs: id)
          return ItemResult(id: zone.id, .success(zone))
        })
    }
  }

  static func modifyZones(_ request: ModifyZones, _ notation: Notation) -> ClientRequest {
    func operation(_ type: String, _ zone: ZoneID) -> JSON {
      .members([
        "operationType": .string(type), "zone": .members(["zoneID": notation.json(zone)]),
      ])
    }
    let body = JSON.members([
      "operations": .array(
        request.save.map { operation("create", $0) }
          + request.delete.map { operation("delete", $0) })
    ])
    let ids = (request.save, request.delete)
    return ClientRequest(.zonesModify, of: notation.database, body: body) {
      answer throws(CloudError) in
      let items = try answer.list("zones")
      let count = ids.0.count
      guard items.count == count + ids.1.count else {
        throw .malformed(
          "\(items.count) items were received where \(count + ids.1.count) were requested")
      }
      return .zonesModified(
        saved: try results(
          Array(items[..<count]), of: ids.0, notation
        ) { item, id throws(CloudError) in
          var zone = try notation.zone(describedBy: item, asked: id)
          zone.id = notation.named(zone.id, askedAs: id)
          return ItemResult(id: zone.id, .success(zone))
        },
        deleted: try results(
          Array(items[count...]), of: ids.1, notation
        ) { item, id throws(CloudError) in
          let zone = try notation.zone(in: item, or: id)
          return ItemResult(id: notation.named(zone, askedAs: id), .success(Done()))
        })
    }
  }

  static func fetchSubscriptions(_ ids: [SubscriptionID]?, _ notation: Notation) -> ClientRequest {
    guard let ids else {
      return ClientRequest(.subscriptionsList, of: notation.database, body: nil) {
        answer throws(CloudError) in
        var found: [ItemResult<SubscriptionID, Subscription>] = []
        for item in try answer.list("subscriptions") {
          let id = SubscriptionID(try item.text("subscriptionID"))
          if let error = try notation.error(item) {
            found.append(ItemResult(id: id, .failure(error)))
          } else {
            // The exact form may spell the ID differently and takes precedence.
            let subscription = try notation.subscription(item)
            found.append(ItemResult(id: subscription.id, .success(subscription)))
          }
        }
        return .subscriptions(found)
      }
    }
    let body = JSON.members([
      "subscriptions": .array(ids.map { .members(["subscriptionID": .string($0.rawValue)]) })
    ])
    return ClientRequest(.subscriptionsLookup, of: notation.database, body: body) {
      answer throws(CloudError) in
      .subscriptions(
        try results(try answer.list("subscriptions"), of: ids, notation) {
          item, id throws(CloudError) in
          ItemResult(id: id, .success(try notation.subscription(item)))
        })
    }
  }

  static func modifySubscriptions(
    _ request: ModifySubscriptions, _ notation: Notation
  ) -> ClientRequest {
    func operation(_ type: String, _ subscription: JSON) -> JSON {
      .members(["operationType": .string(type), "subscription": subscription])
    }
    let body = JSON.members([
      "operations": .array(
        request.save.map { operation("create", notation.json($0)) }
          + request.delete.map {
            operation("delete", .members(["subscriptionID": .string($0.rawValue)]))
          })
    ])
    let sent = request
    return ClientRequest(.subscriptionsModify, of: notation.database, body: body) {
      answer throws(CloudError) in
      let items = try answer.list("subscriptions")
      let count = sent.save.count
      guard items.count == count + sent.delete.count else {
        throw .malformed("the number of items is not the number of operations")
      }
      return .subscriptionsModified(
        saved: try results(
          Array(items[..<count]), of: sent.save.map(\.id), notation
        ) { item, id throws(CloudError) in
          ItemResult(id: id, .success(try notation.subscription(item)))
        },
        deleted: try results(
          Array(items[count...]), of: sent.delete, notation
        ) { _, id throws(CloudError) in ItemResult(id: id, .success(Done())) })
    }
  }
}
