import CloudProtocol
import Records

/// Query subscriptions tell of single records, to the devices of the user who subscribed.
///
/// Source: cloudkit-surface 1.9.
extension CloudMachine {
  /// The pushes that the record changes in `ledger` call for.
  ///
  /// One for each subscription and record that matches. A subscription that fires only once is
  /// taken away in `ledger`.
  /// A record that matches as it is now was created or updated; one that is gone must have
  /// matched as it was. One that just stopped matching tells nothing.
  func queryPushes(
    for ledger: inout Ledger, _ context: RequestContext
  ) throws -> [PushOrder] {
    let (orders, spent) = try orders(for: ledger.recordEvents, context)
    for (id, home) in spent { ledger.append(.removeSubscription(id, in: home)) }
    return orders
  }

  /// The query pushes that changes after `sequence` in `database` call for, whoever made them.
  ///
  /// As `pushes(forChangesAfter:in:storage:)`, this is for a server whose storage another process
  /// changed. What a record was before is not known any more, so deletions are told only to those
  /// who watch a whole type. The other process told those who want to hear once, and took their
  /// subscriptions away.
  package func queryPushes(
    forChangesAfter sequence: UInt64, in database: DatabaseID, storage: any CloudStorage
  ) throws -> [PushOrder] {
    let context = RequestContext(
      storage: storage, limits: limits, plantedBugs: plantedBugs, database: database,
      account: try database.owner.flatMap { try storage.account($0) }, device: nil,
      now: Timestamp(secondsSinceReferenceDate: 0))
    guard
      try homes(context).contains(where: { !(try storage.subscriptions(in: $0).isEmpty) })
    else { return [] }
    let changed = try storage.zoneChanges(in: database, after: sequence, limit: .max)
      .filter { $0.deletion == nil }.map(\.id)
    var orders: [PushOrder] = []
    // The default zone is in no feed, but its records are numbered like all others.
    for zone in [.default] + changed {
      var position = sequence
      while true {
        let rows = try storage.recordChanges(of: zone, in: database, after: position, limit: 500)
        orders += try self.orders(for: rows.map { Ledger.RecordEvent(foreign: $0) }, context).orders
        guard let last = rows.last, rows.count == 500 else { break }
        position = last.changedAt
      }
    }
    var sorted: [PushOrder] = []
    sorted.merge(orders)
    return sorted
  }

  /// The pushes for `events`, and the subscriptions that had their one.
  private func orders(
    for events: [Ledger.RecordEvent], _ context: RequestContext
  ) throws -> (orders: [PushOrder], spent: [(SubscriptionID, DatabaseID)]) {
    var orders: [PushOrder] = []
    var spent: [(SubscriptionID, DatabaseID)] = []
    guard !events.isEmpty else { return (orders, spent) }
    for home in try homes(context) {
      guard let owner = home.owner else { continue }
      for subscription in try context.storage.subscriptions(in: home) {
        guard case .query(let watched) = subscription.kind,
          let query = try? PreparedQuery(watched.query, type: nil, user: owner)
        else { continue }
        for event in events where event.fires(watched, query) {
          guard let record = event.after ?? event.before, let reason = event.reason else {
            continue
          }
          orders.append(
            PushOrder(
              user: owner, exceptDevice: context.device,
              push: CloudPush(
                container: home.container, database: home.scope, subscription: subscription.id,
                zone: record.id.zone,
                query: QueryPush(
                  record: record.id, reason: reason,
                  fields: pushed(record.fields, subscription.notificationInfo)))))
          if watched.options.contains(.firesOnce) {
            spent.append((subscription.id, home))
            break
          }
        }
      }
    }
    return (orders, spent)
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
  /// What can still be told of a change that another process made.
  fileprivate init(foreign row: RecordRow) {
    isForeign = true
    after = row.record
    let isNew = row.record?.created?.time == row.record?.modified?.time
    before = row.record.map { isNew ? nil : $0 } ?? Record(id: row.id, type: row.type)
  }

  /// What happened to the record.
  fileprivate var reason: QueryPush.Reason? {
    switch (before, after) {
    case (nil, _?): .created
    case (_?, _?): .updated
    case (_?, nil): .deleted
    case (nil, nil): nil
    }
  }

  /// Whether a subscription to `watched`, which is `query`, is to be told.
  fileprivate func fires(_ watched: QuerySubscription, _ query: PreparedQuery) -> Bool {
    guard let record = after ?? before, watched.zone.map({ $0 == record.id.zone }) ?? true,
      let reason, watched.options.contains(reason.option)
    else { return false }
    if isForeign {
      let isVague = after == nil && !watched.query.filters.isEmpty
      guard !isVague, !watched.options.contains(.firesOnce) else { return false }
    }
    return query.matches(record)
  }
}

extension QueryPush.Reason {
  fileprivate var option: QuerySubscription.Options {
    switch self {
    case .created: .firesOnRecordCreation
    case .updated: .firesOnRecordUpdate
    case .deleted: .firesOnRecordDeletion
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
