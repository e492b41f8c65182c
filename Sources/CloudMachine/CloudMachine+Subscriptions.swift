import CloudProtocol
import Records

/// Subscriptions belong to one user, also in the public and the shared database, so they are
/// kept under a database ID that names the user.
extension CloudMachine {
  /// The subscriptions asked for, or all by name.
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
        guard let subscription = try context.storage.subscription(id, in: home) else {
          return ItemResult(id: id, .failure(.missingSubscription))
        }
        return ItemResult(id: id, .success(subscription))
      })
  }

  /// Saves and deletes subscriptions, each on its own; saving one again replaces it.
  func modifySubscriptions(
    _ request: ModifySubscriptions, _ context: RequestContext
  ) throws -> (CloudReply, Ledger) {
    try refuse(itemCount: request.save.count + request.delete.count)
    let ids = request.save.map(\.id) + request.delete
    guard Set(ids).count == ids.count else {
      throw Refusal(.invalidArguments, "a subscription can't be named twice in one request")
    }
    let home = context.subscriptionHome
    var ledger = Ledger(
      try context.storage.database(home) ?? DatabaseRow(id: home, incarnation: 1),
      now: context.now)
    let saved = try request.save.map { subscription in
      if let error = try fault(of: subscription, context) {
        return ItemResult<SubscriptionID, Subscription>(id: subscription.id, .failure(error))
      }
      ledger.append(.putSubscription(subscription, in: home))
      return ItemResult(id: subscription.id, .success(subscription))
    }
    let deleted = try request.delete.map { id in
      guard try context.storage.subscription(id, in: home) != nil else {
        return ItemResult<SubscriptionID, Done>(id: id, .failure(.missingSubscription))
      }
      ledger.append(.removeSubscription(id, in: home))
      return ItemResult(id: id, .success(Done()))
    }
    return (.subscriptionsModified(saved: saved, deleted: deleted), ledger)
  }

  /// Why a subscription is refused.
  ///
  /// Source: cloudkit-surface 2.6.
  private func fault(
    of subscription: Subscription, _ context: RequestContext
  ) throws -> CloudError? {
    if let error = context.names.faultOfSubscriptionName(subscription.id.rawValue) { return error }
    guard let info = subscription.notificationInfo else {
      return CloudError(.invalidArguments, "a subscription needs a notificationInfo")
    }
    guard info.desiredKeys.count <= limits.subscriptionKeys else {
      return CloudError(
        .invalidArguments, "a push carries at most \(limits.subscriptionKeys) desired keys")
    }
    switch (subscription.kind, context.database.scope) {
    case (.database, .private), (.database, .shared): return nil
    case (.query(let watched), .private), (.query(let watched), .public):
      return try fault(of: watched, context)
    case (.zone(.default, _), .private):
      return CloudError(
        .invalidArguments, "the default zone can be watched by a query subscription only")
    case (.zone(let zone, _), .private): return try missing(zone, context)
    case (.database, .public), (.zone, .public), (.zone, .shared), (.query, .shared):
      return CloudError(
        .invalidArguments, "this database does not take subscriptions of this kind")
    }
  }

  private func missing(_ zone: ZoneID, _ context: RequestContext) throws -> CloudError? {
    if case .failure(let error) = try context.zone(zone) { error } else { nil }
  }

  /// The pushes that the changes in all of a request's databases call for.
  func pushes(for books: inout Books, _ context: RequestContext) throws -> [PushOrder] {
    var orders: [PushOrder] = []
    for position in books.ledgers.indices {
      var context = context.at(books[position].database.id)
      if let owner = context.database.owner, owner != context.account?.user {
        context.account = try context.storage.account(owner)
      }
      var found = try pushes(for: books[position].events, context)
      found.merge(try queryPushes(for: &books[position], context))
      orders += found
    }
    return orders
  }

  /// The pushes that a request's changes in one database call for: one for each subscription that
  /// matches, to all of the user's devices but the one that asked.
  ///
  /// Changes in the default zone fire no database subscription. Query subscriptions are told of
  /// single records, by `queryPushes(for:_:)`.
  func pushes(
    for events: [Ledger.ZoneEvent], _ context: RequestContext
  ) throws -> [PushOrder] {
    guard context.database.scope != .public, let account = context.account, !events.isEmpty
    else { return [] }
    return try context.storage.subscriptions(in: context.database).compactMap { subscription in
      guard let zone = subscription.match(events) else { return nil }
      return PushOrder(
        user: account.user, exceptDevice: context.device,
        push: CloudPush(
          container: context.database.container, database: context.database.scope,
          subscription: subscription.id, zone: zone))
    }
  }
}

extension RequestContext {
  /// Where the asking user's subscriptions to this database are kept.
  var subscriptionHome: DatabaseID {
    var home = database
    home.owner = account?.user
    return home
  }
}

extension Subscription {
  /// Whether `events` fire it, and the zone its push names: `nil` when they don't, `.some(nil)`
  /// when the push names no zone.
  fileprivate func match(_ events: [Ledger.ZoneEvent]) -> ZoneID?? {
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

extension Ledger.ZoneEvent {
  fileprivate func concerns(_ type: String?) -> Bool {
    guard let type else { return true }
    return types.contains(type)
  }
}

extension CloudError {
  fileprivate static let missingSubscription = CloudError(
    .unknownItem, "there is no such subscription")
}
