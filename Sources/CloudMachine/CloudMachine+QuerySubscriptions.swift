import CloudProtocol
import Records

/// Query subscriptions send a push for each matching record to the devices of the subscriber.
///
/// Rules: CS-91 to CS-103.
extension CloudMachine {
  /// The pushes for the record changes in `changeSet`.
  ///
  /// One for each subscription and record that matches. A subscription that fires only once is
  /// removed in `changeSet`. A created or updated record must match after the change; a deleted one
  /// must have matched before. A record that just stopped matching triggers no push.
  func queryPushes(
    for changeSet: inout ChangeSet, _ context: RequestContext
  ) throws -> [OutgoingPush] {
    let (orders, spent) = try orders(for: changeSet.recordEvents, context)
    for (id, home) in spent { changeSet.append(.removeSubscription(id, in: home)) }
    return orders
  }

  /// The query pushes for all changes after `position` in `database`.
  ///
  /// As `pushes(forChangesAfter:in:storage:)`, this is for a server whose storage was changed by
  /// another process. The previous content of a record is unknown, so a deletion triggers only
  /// subscriptions to a whole type. A record that was created and changed after `position` triggers
  /// subscriptions to both, with its latest content. Subscriptions that fire once were already
  /// fired and removed by the other process.
  package func queryPushes(
    forChangesAfter position: DatabasePosition, in database: DatabaseID, storage: any CloudStorage
  ) throws -> [OutgoingPush] {
    let context = try RequestContext(storage, limits, database)
    guard
      try homes(context).contains(where: { !(try storage.subscriptions(in: $0).isEmpty) })
    else { return [] }
    let changed = try storage.zoneChanges(in: database, after: position.sequence, limit: .max)
      .filter { $0.deletion == nil }.map(\.id)
    var orders: [OutgoingPush] = []
    // The default zone has no feed, but its records have sequence numbers as well.
    for zone in [.default] + changed {
      try storage.forEachPage(of: zone, in: database, after: position.sequence) { rows in
        let events = rows.flatMap { ChangeSet.RecordEvent.events(foreign: $0, after: position) }
        orders += try self.orders(for: events, context).orders
      }
    }
    var sorted: [OutgoingPush] = []
    sorted.merge(orders)
    return sorted
  }

  /// A query subscription that watches records of the type of an event.
  private struct Watcher {
    let home: DatabaseID
    let owner: UserID
    let subscription: Subscription
    let watched: QuerySubscription
    let query: PreparedQuery
  }

  /// The pushes for `events`, and the fired subscriptions that fire only once.
  private func orders(
    for events: [ChangeSet.RecordEvent], _ context: RequestContext
  ) throws -> (orders: [OutgoingPush], spent: [(SubscriptionID, DatabaseID)]) {
    var orders: [OutgoingPush] = []
    var spent: [(SubscriptionID, DatabaseID)] = []
    guard !events.isEmpty else { return (orders, spent) }
    let watchers = try watchers(of: events, context)
    // Once for all subscriptions: to find the words of a long text takes time.
    var examined = try examined(events, watchers, context)
    for watcher in watchers {
      let (watched, subscription, home) = (watcher.watched, watcher.subscription, watcher.home)
      for (index, event) in events.enumerated() where event.concerns(watched) {
        guard event.matches(watched, watcher.query, &examined[index])
        else { continue }
        let record = examined[index].record
        var push = CloudPush(
          container: home.container, database: home.scope, subscription: subscription.id,
          zone: record.id.zone,
          query: QueryPush(
            record: record.id, reason: event.reason,
            fields: pushed(record.fields, subscription.notificationInfo)),
          environment: home.environment)
        let isSpent = watched.options.contains(.firesOnce)
        if isSpent { push.spentInfo = subscription.notificationInfo }
        orders.append(
          OutgoingPush(
            user: watcher.owner,
            exceptDevice: watcher.owner == context.account?.user ? context.device : nil,
            push: push))
        if isSpent {
          spent.append((subscription.id, home))
          break
        }
      }
    }
    return (orders, spent)
  }

  private func watchers(
    of events: [ChangeSet.RecordEvent], _ context: RequestContext
  ) throws -> [Watcher] {
    let homes = try homes(context)
    try context.storage.foresee {
      var plan = ReadPlan()
      plan.subscriptions = homes
      return plan
    }
    var watchers: [Watcher] = []
    for home in homes {
      guard let owner = home.owner else { continue }
      for subscription in try context.storage.subscriptions(in: home) {
        // A public database has subscriptions of all its users, so a query is prepared only if an
        // event concerns its type.
        guard case .query(let watched) = subscription.kind,
          events.contains(where: { $0.concerns(watched) }),
          let query = try? PreparedQuery(watched.query, type: nil, user: owner)
        else { continue }
        watchers.append(
          Watcher(
            home: home, owner: owner, subscription: subscription, watched: watched, query: query))
      }
    }
    return watchers
  }

  /// The records of `events`; the type of one is read if a query searches the whole record.
  private func examined(
    _ events: [ChangeSet.RecordEvent], _ watchers: [Watcher], _ context: RequestContext
  ) throws -> [ExaminedRecord] {
    var types: [String: RecordTypeRow] = [:]
    for query in watchers.map(\.watched.query) where query.filters.contains(where: \.key.isEmpty) {
      guard types[query.recordType] == nil else { continue }
      types[query.recordType] = try context.storage.recordType(
        RecordTypeID(
          container: context.database.container, environment: context.database.environment,
          name: query.recordType))
    }
    return events.map { event in
      ExaminedRecord(event.record, type: types[event.record.type])
    }
  }

  /// The databases whose subscriptions watch the changed database: its owner's, or every user's.
  private func homes(_ context: RequestContext) throws -> [DatabaseID] {
    switch context.database.scope {
    case .private: [context.database]
    case .public: try context.storage.subscriptionHomes(of: context.database)
    case .shared: []
    }
  }

  /// Refuses an invalid query subscription.
  func check(_ watched: QuerySubscription, _ context: RequestContext) throws {
    let whens: QuerySubscription.Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ]
    guard !watched.options.isDisjoint(with: whens) else {
      throw Refusal(
        .invalidArguments,
        "a query subscription needs to say whether it fires on creation, update or deletion")
    }
    _ = try context.prepared(watched.query)
    if let zone = watched.zone { _ = try context.zone(zone) }
  }

  /// The desired fields that fit in a push: scalar values only, long texts truncated, up to the
  /// size limit.
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

extension ChangeSet.RecordEvent {
  /// The events for the changes of a record that another process made after `position`.
  fileprivate static func events(
    foreign row: RecordRow, after position: DatabasePosition
  ) -> [ChangeSet.RecordEvent] {
    guard let record = row.record else {
      return [
        ChangeSet.RecordEvent(
          record: Record(id: row.id, type: row.type), reason: .deleted, isForeign: true)
      ]
    }
    var reasons: [QueryPush.Reason] = []
    let isNew = record.created.map { $0.time > position.time } ?? true
    if isNew { reasons.append(.created) }
    // A record that only joined or left a share has a new place in the feed, and was not updated.
    let isModified = record.modified.map { $0.time > position.time } ?? true
    if isModified, !isNew || record.modified?.time != record.created?.time {
      reasons.append(.updated)
    }
    return reasons.map {
      ChangeSet.RecordEvent(record: record, reason: $0, isForeign: true)
    }
  }

  /// Whether the event is of the kind, type and zone that `watched` watches.
  fileprivate func concerns(_ watched: QuerySubscription) -> Bool {
    record.type == watched.query.recordType && watched.options.contains(reason.option)
      && watched.zone.map { $0 == record.id.zone } ?? true
  }

  /// Whether an event that concerns `watched` triggers it; `query` is its prepared query, and
  /// `examined` the event's record.
  fileprivate func matches(
    _ watched: QuerySubscription, _ query: PreparedQuery, _ examined: inout ExaminedRecord
  ) -> Bool {
    if isForeign {
      let isVague = reason == .deleted && !watched.query.filters.isEmpty
      guard !isVague, !watched.options.contains(.firesOnce) else { return false }
    }
    return query.matches(&examined)
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

extension [OutgoingPush] {
  /// Merges `orders`, so that all are in the order of their subscriptions' names.
  mutating func merge(_ orders: [OutgoingPush]) {
    guard !orders.isEmpty else { return }
    self = (self + orders).enumerated().sorted {
      ($0.element.push.subscription, $0.offset) < ($1.element.push.subscription, $1.offset)
    }.map(\.element)
  }
}
