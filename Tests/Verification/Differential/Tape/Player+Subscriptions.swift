import CloudProtocol
import Records
import SimulationSupport

/// Subscriptions, the pushes that come of them, and a device without an account.
extension Player {
  /// Saves or deletes a subscription of any kind.
  mutating func subscribe(_ site: Site) async {
    let id = SubscriptionID("sub\(random.below(4))")
    var request = ModifySubscriptions()
    if random.chance(0.2) {
      request.delete = [id]
    } else {
      request.save = [randomSubscription(id, site)]
    }
    let answer = await send(.modifySubscriptions(request), from: site.device, in: site.scope)
    let asked =
      "\(site.label) subscribe \(request.save.map { describe($0) })"
      + " -\(request.delete.map(\.rawValue))"
    guard case .success(.subscriptionsModified(let saved, let deleted)) = answer else {
      return note(asked, describe(failure: answer))
    }
    if saved.contains(where: { $0.error != nil }) { count(.subscriptionRefused) }
    let words =
      saved.map {
        $0.value.map { "+\(describe($0))" } ?? "+\($0.error.map { names.describe($0) } ?? "")"
      }
      + deleted.map { "-\($0.error.map { names.describe($0) } ?? "")" }
    note(asked, words.joined(separator: "; "))
  }

  mutating func fetchSubscriptions(_ site: Site) async {
    let ids: [SubscriptionID]? =
      random.chance(0.5) ? nil : [SubscriptionID("sub\(random.below(4))")]
    let answer = await send(.fetchSubscriptions(ids), from: site.device, in: site.scope)
    let asked = "\(site.label) subscriptions \(ids?.map(\.rawValue) ?? ["all"])"
    guard case .success(.subscriptions(let results)) = answer else {
      return note(asked, describe(failure: answer))
    }
    let words = results.map { result in
      result.value.map { describe($0) } ?? result.error.map { names.describe($0) } ?? ""
    }
    note(asked, words.sorted().joined(separator: "; "))
  }

  private mutating func randomSubscription(_ id: SubscriptionID, _ site: Site) -> Subscription {
    let type = random.chance(0.3) ? "Note" : nil
    let kind: Subscription.Kind
    let draw = random.below(10) + (site.scope == .public ? 4 : 0)
    switch draw {
    case 0..<4: kind = .database(recordType: type)
    case 4, 5: kind = .zone(site.zone, recordType: type)
    default:
      var query = Query(recordType: random.chance(0.8) ? "Note" : "Task")
      if random.chance(0.5) { query.filters = randomQuery(site.zone).filters }
      let options = QuerySubscription.Options(
        rawValue: random.pick([0, 1, 2, 4, 7, 7, 7, 7, 15, 9]))
      kind = .query(
        QuerySubscription(
          query: query, zone: random.chance(0.4) ? site.zone : nil, options: options))
    }
    let keys = random.pick([[], ["n", "s"], ["n", "t", "f"], ["n", "s", "d", "l"]])
    let info = Subscription.NotificationInfo(desiredKeys: keys)
    return Subscription(id: id, kind: kind, notificationInfo: random.chance(0.04) ? nil : info)
  }

  private func describe(_ subscription: Subscription) -> String {
    let kind =
      switch subscription.kind {
      case .database(let type): "database \(type ?? "")"
      case .zone(let zone, let type): "zone \(names.name(zone)) \(type ?? "")"
      case .query(let watched):
        "\(watched.query.recordType) "
          + watched.query.filters.map {
            "\($0.key) \($0.comparator) \(names.describe($0.value))"
          }.joined(separator: " and ")
          + " in \(watched.zone.map { names.name($0) } ?? "all") on \(watched.options.rawValue)"
      }
    return
      "\(subscription.id.rawValue): \(kind) \(subscription.notificationInfo?.desiredKeys ?? ["-"])"
  }

  /// Takes down which pushes came to which devices; their order is the server's to choose.
  mutating func notePushes() async {
    let deliveries = await cloud.takeDeliveries(container: container)
    if deliveries.isEmpty { return }
    let words = deliveries.map { delivery in
      let push = delivery.push
      let zone = push.zone.map { " \(names.name($0))" } ?? ""
      let query = push.query.map { query in
        let fields = query.fields.map { "\($0.key)=\(names.describe($0.field.value))" }
        return " \(query.reason) \(query.record.name) \(fields)"
      }
      return
        "\(delivery.device): \(push.database) \(push.subscription.rawValue)\(zone)\(query ?? "")"
    }
    for push in deliveries.map(\.push) {
      switch (push.database, push.query?.reason) {
      case (.shared, _): count(.pushShared)
      case (.public, _): count(.pushPublic)
      case (.private, nil): count(push.zone == nil ? .pushDatabase : .pushZone)
      case (.private, .created?): count(.pushCreated)
      case (.private, .updated?): count(.pushUpdated)
      case (.private, .deleted?): count(.pushDeleted)
      }
    }
    note("pushes", words.sorted().joined(separator: "; "))
  }

  /// Requests of a device without an account, which may read the public database.
  mutating func askAsGuest() async {
    let site = Site(device: .guest, scope: .public, zone: .default)
    switch random.below(6) {
    case 0, 1:
      count(.guestRead)
      await read(site, [id(random.pick(Player.recordNames), .default)])
    case 2: await query(site)
    case 3:
      count(.guestRefused)
      names.home = Device.publicHome
      await modify(site, ModifyRecords(save: [randomSave(id("r0", .default))]))
    case 4: await read(self.site(.guest), [id("r0", .default)])
    default: await fetchSubscriptions(site)
    }
  }
}
