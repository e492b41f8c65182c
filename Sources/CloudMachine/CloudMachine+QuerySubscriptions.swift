import CloudProtocol
import Records

/// Query subscriptions tell of single records, to the devices of the user who subscribed.
///
/// Source: cloudkit-surface 1.9.
extension CloudMachine {
  /// The pushes that the record changes in `ledger` call for: one for each subscription and
  /// record that matches. A subscription that fires only once is taken away in `ledger`.
  ///
  /// A record that matches as it is now was created or updated; one that is gone must have
  /// matched as it was. One that just stopped matching tells nothing.
  func queryPushes(
    for ledger: inout Ledger, _ context: RequestContext
  ) throws -> [PushOrder] {
    let events = ledger.recordEvents
    guard !events.isEmpty else { return [] }
    var orders: [PushOrder] = []
    for home in try homes(context) {
      guard let owner = home.owner else { continue }
      for subscription in try context.storage.subscriptions(in: home) {
        guard case .query(let watched) = subscription.kind,
          let query = try? PreparedQuery(watched.query, type: nil, user: owner)
        else { continue }
        let firesOnce = watched.options.contains(.firesOnce)
        for event in events {
          guard let record = event.after ?? event.before,
            watched.zone.map({ $0 == record.id.zone }) ?? true,
            let reason = event.reason(watched.options), query.matches(record)
          else { continue }
          orders.append(
            PushOrder(
              user: owner, exceptDevice: context.device,
              push: CloudPush(
                container: home.container, database: home.scope, subscription: subscription.id,
                zone: record.id.zone,
                query: QueryPush(
                  record: record.id, reason: reason,
                  fields: pushed(record.fields, subscription.notificationInfo)))))
          if firesOnce {
            ledger.append(.removeSubscription(subscription.id, in: home))
            break
          }
        }
      }
    }
    return orders
  }

  /// Where subscriptions to the database that changes are kept: its owner's, or everybody's.
  private func homes(_ context: RequestContext) throws -> [DatabaseID] {
    switch context.database.scope {
    case .private: [context.database]
    case .public: try context.storage.subscriptionHomes(of: context.database)
    case .shared: []
    }
  }

  /// Why a query subscription is refused.
  func fault(of watched: QuerySubscription, _ context: RequestContext) throws -> CloudError? {
    let whens: QuerySubscription.Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
    guard !watched.options.isDisjoint(with: whens) else {
      return CloudError(
        .invalidArguments,
        "a query subscription needs to say whether it fires on creation, update or deletion")
    }
    if case .failure(let error) = try context.prepared(watched.query) { return error }
    guard let zone = watched.zone, case .failure(let error) = try context.zone(zone) else {
      return nil
    }
    return error
  }

  /// The wanted fields as far as a push can carry them: plain values, long texts cut short, as
  /// many as there is room for.
  private func pushed(_ fields: Fields, _ info: Subscription.NotificationInfo?) -> Fields {
    var pushed = Fields()
    for key in (info?.desiredKeys ?? []).prefix(limits.subscriptionKeys) {
      guard let field = fields[key], !field.isEncrypted else { continue }
      switch field.value {
      case .string(let text): pushed[key] = Field(.string(String(text.prefix(100))))
      case .int64, .double, .date, .reference, .location: pushed[key] = field
      case .bytes, .asset, .list: continue
      }
      if pushed.byteCount > limits.pushFieldBytes { pushed[key] = nil }
    }
    return pushed
  }
}

extension Ledger.RecordEvent {
  /// Why a subscription with `options` fires, if it does.
  fileprivate func reason(_ options: QuerySubscription.Options) -> QueryPush.Reason? {
    switch (before, after) {
    case (nil, _?): options.contains(.firesOnRecordCreation) ? .created : nil
    case (_?, _?): options.contains(.firesOnRecordUpdate) ? .updated : nil
    case (_, nil): options.contains(.firesOnRecordDeletion) ? .deleted : nil
    }
  }
}

extension [PushOrder] {
  /// Adds `orders`, so that all are in the order of their subscriptions' names.
  mutating func merge(_ orders: [PushOrder]) {
    guard !orders.isEmpty else { return }
    self = (self + orders).enumerated().sorted {
      ($0.element.push.subscription, $0.offset) < ($1.element.push.subscription, $1.offset)
    }.map(\.element)
  }
}
