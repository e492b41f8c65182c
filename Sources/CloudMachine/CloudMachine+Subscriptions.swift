import CloudProtocol
import Records

/// A subscription belongs to one user, even in the public and the shared database, so it is stored
/// under a database ID with that user as owner.
extension CloudMachine {
  /// The requested subscriptions, or all by name.
  func fetchSubscriptions(
    _ ids: [SubscriptionID]?, _ context: RequestContext
  ) throws -> CloudReply {
    let home = context.subscriptionHome
    guard let ids else {
      return .subscriptions(
        try context.storage.subscriptions(in: home).map { ItemResult(id: $0.id, .success($0)) })
    }
    try refuse(itemCount: ids.count)
    return .subscriptions(
      try ids.map { id in
        try ItemResult(id) { try context.storedSubscription(id) }
      })
  }

  /// Saves and deletes subscriptions, each independently; saving one again replaces it.
  func modifySubscriptions(
    _ request: ModifySubscriptions, _ context: RequestContext
  ) throws -> (CloudReply, ChangeSet) {
    try refuse(itemCount: request.save.count + request.delete.count)
    let ids = request.save.map(\.id) + request.delete
    guard Set(ids).count == ids.count else {
      throw Refusal(.invalidArguments, "a subscription can't be named twice in one request")
    }
    let home = context.subscriptionHome
    var changeSet = ChangeSet(
      try context.storage.database(home) ?? DatabaseRow(id: home, incarnation: 1),
      now: context.now)
    var known =
      request.save.isEmpty ? [] : Set(try context.storage.subscriptions(in: home).map(\.id))
    known.subtract(request.delete)
    let saved = try request.save.map { subscription in
      try ItemResult(subscription.id) {
        try check(subscription, context)
        guard known.contains(subscription.id) || known.count < limits.subscriptions else {
          throw Refusal(
            .limitExceeded,
            "a user has at most \(limits.subscriptions) subscriptions in a database; delete one")
        }
        known.insert(subscription.id)
        changeSet.append(.putSubscription(subscription, in: home))
        return subscription
      }
    }
    let deleted = try request.delete.map { id in
      try ItemResult(id) {
        _ = try context.storedSubscription(id)
        changeSet.append(.removeSubscription(id, in: home))
        return Done()
      }
    }
    return (.subscriptionsModified(saved: saved, deleted: deleted), changeSet)
  }

  /// Refuses an invalid subscription.
  ///
  /// Rules: CS-91, CS-92 and CS-136.
  private func check(_ subscription: Subscription, _ context: RequestContext) throws {
    try Refusal.check(context.names.faultOfSubscriptionName(subscription.id.rawValue))
    let byteCount = ByteWriter.byteCount { $0.write(subscription) }
    guard byteCount <= limits.subscriptionBytes else {
      throw Refusal(
        .limitExceeded,
        "the subscription has \(byteCount) bytes, and a subscription takes at most "
          + "\(limits.subscriptionBytes)")
    }
    guard let info = subscription.notificationInfo else {
      throw Refusal(.invalidArguments, "a subscription needs a notificationInfo")
    }
    guard info.desiredKeys.count <= limits.subscriptionKeys else {
      throw Refusal(
        .invalidArguments, "a push carries at most \(limits.subscriptionKeys) desired keys")
    }
    switch (subscription.kind, context.database.scope) {
    case (.database, .private), (.database, .shared): break
    case (.query(let watched), .private), (.query(let watched), .public):
      try check(watched, context)
    case (.zone(.default, _), .private):
      throw Refusal(.invalidArguments, "the default zone supports query subscriptions only")
    case (.zone(let zone, _), .private): _ = try context.zone(zone)
    case (.database, .public), (.zone, .public), (.zone, .shared), (.query, .shared):
      throw Refusal(
        .invalidArguments, "this database does not support subscriptions of this kind")
    }
  }

  /// The pushes for the changes in all of a request's databases.
  func pushes(for transaction: inout WriteTransaction, _ context: RequestContext) throws
    -> [OutgoingPush]
  {
    var orders: [OutgoingPush] = []
    for position in transaction.changeSets.indices {
      var context = context.at(transaction[position].database.id)
      if let owner = context.database.owner, owner != context.account?.user {
        context.account = try context.storage.account(owner)
        // The owner may have a device of the same name.
        context.device = nil
      }
      var found = try pushes(for: transaction[position].events, context)
      found.merge(try queryPushes(for: &transaction[position], context))
      orders += found
    }
    return orders
  }

  /// The pushes for a request's changes in one database: one for each matching subscription, to all
  /// of the user's devices except the requesting one.
  ///
  /// Changes in the default zone trigger no database subscription. For query subscriptions see
  /// `queryPushes(for:_:)`.
  func pushes(
    for events: [ChangeSet.ZoneEvent], _ context: RequestContext
  ) throws -> [OutgoingPush] {
    guard context.database.scope != .public, let account = context.account, !events.isEmpty
    else { return [] }
    return try context.storage.subscriptions(in: context.database).compactMap { subscription in
      guard let zone = subscription.match(events) else { return nil }
      return OutgoingPush(
        user: account.user, exceptDevice: context.device,
        push: CloudPush(
          container: context.database.container, database: context.database.scope,
          subscription: subscription.id, zone: zone, environment: context.database.environment))
    }
  }
}

extension RequestContext {
  /// The database ID under which the requester's subscriptions to this database are stored.
  var subscriptionHome: DatabaseID {
    var home = database
    home.owner = account?.user
    return home
  }

  fileprivate func storedSubscription(_ id: SubscriptionID) throws -> Subscription {
    guard let subscription = try storage.subscription(id, in: subscriptionHome) else {
      throw Refusal(.unknownItem, "there is no such subscription")
    }
    return subscription
  }
}

extension Subscription {
  /// The zone that the subscription's push names if `events` trigger it: `nil` if they don't,
  /// `.some(nil)` if the push names no zone.
  fileprivate func match(_ events: [ChangeSet.ZoneEvent]) -> ZoneID?? {
    switch kind {
    case .database(let type):
      let fires = events.contains { $0.zone != .default && $0.concerns(type) }
      return fires ? .some(nil) : nil
    case .zone(let zone, let type):
      let fires = events.contains { $0.zone == zone && !$0.types.isEmpty && $0.concerns(type) }
      return fires ? .some(zone) : nil
    case .query: return nil
    }
  }
}

extension ChangeSet.ZoneEvent {
  fileprivate func concerns(_ type: String?) -> Bool {
    guard let type else { return true }
    return mayChangeOthers || types.contains(type)
  }
}
