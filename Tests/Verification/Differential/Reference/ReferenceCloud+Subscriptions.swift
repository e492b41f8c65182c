import CloudProtocol
import Records

/// The account and the database of subscriptions.
struct ReferenceSubscriber: Hashable {
  let account: String
  let scope: DatabaseScope
}

/// Something that one request wrote: a record, or with no type a zone that came or went.
struct ReferenceChange {
  let home: String
  let zone: String
  var type: String?
  var before: Record?
  var after: Record?
  /// Whether only the participants of a share changed, which query subscriptions do not see.
  var isShareOnly = false
}

/// Subscriptions, and the pushes that changes call for.
///
/// Rules: CS-91 to CS-103; CS-91 to CS-98, CS-103.
extension ReferenceCloud {
  func fetch(
    _ ids: [SubscriptionID]?, _ ask: Ask
  ) throws(CloudError) -> [ItemResult<SubscriptionID, Subscription>] {
    let all = subscriptions[ReferenceSubscriber(account: ask.account, scope: ask.scope)] ?? [:]
    return (ids ?? all.keys.sorted()).map { id in
      ItemResult(id: id, all[id].map { .success($0) } ?? .failure(refusal(.unknownItem)))
    }
  }

  func modify(_ request: ModifySubscriptions, _ ask: Ask) throws(CloudError) -> CloudReply {
    let ids = request.save.map(\.id) + request.delete
    guard ids.count <= Limits.items else { throw refusal(.limitExceeded) }
    guard Set(ids).count == ids.count else { throw refusal(.invalidArguments) }
    let subscriber = ReferenceSubscriber(account: ask.account, scope: ask.scope)
    let known = subscriptions[subscriber] ?? [:]
    var kept = known
    let saved = request.save.map { asked in
      let subscription = asked.spelled(for: ask.account)
      do throws(CloudError) {
        try check(subscription, ask)
        kept[subscription.id] = subscription
        // The answer is in the asker's words. Rules: CS-243.
        return ItemResult(id: asked.id, .success(asked))
      } catch {
        return ItemResult<SubscriptionID, Subscription>(id: subscription.id, .failure(error))
      }
    }
    let deleted = request.delete.map { id in
      kept[id] = nil
      return ItemResult<SubscriptionID, Done>(
        id: id, known[id] == nil ? .failure(refusal(.unknownItem)) : .success(Done()))
    }
    subscriptions[subscriber] = kept
    return .subscriptionsModified(saved: saved, deleted: deleted)
  }

  private func check(_ subscription: Subscription, _ ask: Ask) throws(CloudError) {
    guard let info = subscription.notificationInfo, info.desiredKeys.count <= 3 else {
      throw refusal(.invalidArguments)
    }
    switch (subscription.kind, ask.scope) {
    case (.database, .private), (.database, .shared): return
    case (.zone(let zone, _), .private):
      if zone.name == ZoneID.defaultName { throw refusal(.invalidArguments) }
      _ = try place(zone, ask)
    case (.query(let watched), .private), (.query(let watched), .public):
      if watched.options.subtracting(.firesOnce).isEmpty { throw refusal(.invalidArguments) }
      try check(watched.query)
      if let zone = watched.zone { _ = try place(zone, ask) }
    case (.database, .public), (.zone, .public), (.zone, .shared), (.query, .shared):
      throw refusal(.invalidArguments)
    }
  }

  /// Brings shared databases up to date and tells devices what was written, but not the device
  /// called `name`.
  func tell(since old: [String: ReferenceDatabase], except name: String?) {
    var homes: [String] = []
    for change in written where !homes.contains(change.home) { homes.append(change.home) }
    for home in homes {
      let changes = written.filter { $0.home == home }
      if home != Device.publicHome {
        let own = ReferenceSubscriber(account: home, scope: .private)
        for (id, subscription) in subscriptions[own] ?? [:] {
          guard let zone = subscription.fires(on: changes) else { continue }
          deliver(id, to: own, zone: zone, except: name)
        }
        tellQueries(changes, own, except: name)
        for (guest, types) in settleVisits(of: home, since: old[home]) {
          let subscriber = ReferenceSubscriber(account: guest, scope: .shared)
          for (id, subscription) in subscriptions[subscriber] ?? [:] {
            guard case .database(let type) = subscription.kind,
              type.map(types.contains) ?? true
            else { continue }
            deliver(id, to: subscriber, zone: nil, except: name)
          }
        }
      } else {
        for account in Device.accounts {
          let subscriber = ReferenceSubscriber(account: account, scope: .public)
          tellQueries(changes, subscriber, except: name)
        }
      }
    }
  }

  private func tellQueries(
    _ changes: [ReferenceChange], _ subscriber: ReferenceSubscriber, except name: String?
  ) {
    for (id, subscription) in subscriptions[subscriber] ?? [:] {
      guard case .query(let watched) = subscription.kind else { continue }
      for change in changes where !change.isShareOnly {
        guard let record = change.after ?? change.before, record.type == watched.query.recordType,
          watched.zone.map({ $0.name == change.zone }) ?? true,
          watched.query.filters.allSatisfy({ $0.holds(for: record, asker: subscriber.account) })
        else { continue }
        let reason: QueryPush.Reason =
          change.after == nil ? .deleted : change.before == nil ? .created : .updated
        guard watched.options.rawValue & (1 << (UInt(reason.rawValue) - 1)) != 0 else { continue }
        var fields = Fields()
        for key in subscription.notificationInfo?.desiredKeys ?? [] {
          guard let field = record.fields[key], !field.isEncrypted, field.value.isPushed else {
            continue
          }
          fields[key] = field
        }
        deliver(
          id, to: subscriber, zone: ZoneID(name: change.zone), except: name,
          query: QueryPush(record: record.id, reason: reason, fields: fields))
        guard watched.options.contains(.firesOnce) else { continue }
        subscriptions[subscriber]?[id] = nil
        break
      }
    }
  }

  private func deliver(
    _ id: SubscriptionID, to subscriber: ReferenceSubscriber, zone: ZoneID?,
    except name: String?, query: QueryPush? = nil
  ) {
    let push = CloudPush(
      container: "", database: subscriber.scope, subscription: id, zone: zone, query: query)
    for device in Device.all where device.account == subscriber.account && device.name != name {
      deliveries.append(Delivery(device: device.name, push: push))
    }
  }
}

extension Subscription {
  /// The subscription with the asker's zones by the name that stands for the asker.
  fileprivate func spelled(for asker: String) -> Subscription {
    func own(_ zone: ZoneID) -> ZoneID { zone.owner == asker ? ZoneID(name: zone.name) : zone }
    var subscription = self
    switch kind {
    case .database: break
    case .zone(let zone, let type): subscription.kind = .zone(own(zone), recordType: type)
    case .query(var watched):
      watched.zone = watched.zone.map(own)
      watched.query.filters = watched.query.filters.map { $0.spelled(for: asker) }
      subscription.kind = .query(watched)
    }
    return subscription
  }

  /// The zone a push names, when `changes` fire it; `nil` when they don't.
  fileprivate func fires(on changes: [ReferenceChange]) -> ZoneID?? {
    func suits(_ change: ReferenceChange, _ type: String?) -> Bool {
      type == nil || type == change.type
    }
    switch kind {
    case .database(let type):
      let fires = changes.contains { $0.zone != ZoneID.defaultName && suits($0, type) }
      return fires ? .some(nil) : nil
    case .zone(let zone, let type):
      let fires = changes.contains { $0.zone == zone.name && $0.type != nil && suits($0, type) }
      return fires ? .some(ZoneID(name: zone.name)) : nil
    case .query: return nil
    }
  }
}

extension FieldValue {
  /// Whether a push can carry it.
  fileprivate var isPushed: Bool {
    switch self {
    case .string, .int64, .double, .date, .reference, .location: true
    case .bytes, .asset, .list: false
    }
  }
}
