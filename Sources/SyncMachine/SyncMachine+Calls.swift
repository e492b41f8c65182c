import CloudProtocol
package import Records

/// What the app may call at any time.
extension SyncMachine {
  // MARK: Pending changes

  /// Adds record changes that wait to be sent; in automatic mode a send is scheduled.
  package mutating func add(_ changes: [PendingChange<RecordID>], now: Moment) {
    for change in changes where state.records.add(change) { note(.addRecord(change), now: now) }
    if case .sending(var send) = activity, case .asking = send.step {
      for change in changes { send.addedWhileAsking[state.resolved(change.id)] = change.id }
      activity = .sending(send)
    }
    scheduleSend(at: now + configuration.sendDelay)
  }

  /// Removes record changes; one under way is not sent again when it fails.
  package mutating func remove(_ changes: [PendingChange<RecordID>], now: Moment) {
    for change in changes where state.records.remove(change) {
      switch state.records.unsettledKind(of: change.id) {
      case nil: record(.removeRecord(change.id), now: now)
      case let kind?: note(.addRecord(PendingChange(kind, change.id)), now: now)
      }
    }
  }

  /// Adds zone changes that wait to be sent; in automatic mode a send is scheduled.
  package mutating func add(_ changes: [PendingChange<ZoneID>], now: Moment) {
    for change in changes where state.zones.add(change) { note(.addZone(change), now: now) }
    scheduleSend(at: now + configuration.sendDelay)
  }

  /// Removes zone changes; one under way is not sent again when it fails.
  package mutating func remove(_ changes: [PendingChange<ZoneID>], now: Moment) {
    for change in changes where state.zones.remove(change) {
      switch state.zones.unsettledKind(of: change.id) {
      case nil: record(.removeZone(change.id), now: now)
      case let kind?: note(.addZone(PendingChange(kind, change.id)), now: now)
      }
    }
  }

  /// Notes whether the app has changes it does not list; when it has, a send is scheduled in
  /// which the app is asked for a batch even though nothing is listed.
  package mutating func setHasUntrackedChanges(_ value: Bool, now: Moment) {
    if value { untrackedVersion += 1 }
    if state.hasUntrackedChanges != value { record(.setHasUntrackedChanges(value), now: now) }
    if value { scheduleSend(at: now + configuration.sendDelay) }
  }

  // MARK: Operations

  /// Asks for a fetch; it begins when nothing else is under way.
  ///
  /// A call with the same options that still waits for its turn is joined. A fetch that has begun
  /// is not: it may already have passed what the caller wants to see.
  package mutating func fetch(_ context: FetchContext, waiter: Waiter) {
    askForAccountIfNeeded()
    for (index, operation) in queue.enumerated() {
      if case .fetch(let queued, let waiters) = operation, queued.options == context.options {
        queue[index] = .fetch(queued, waiters + [waiter])
        return
      }
    }
    queue.append(.fetch(context, [waiter]))
  }

  /// Asks for a send; it begins when nothing else is under way, and joins an equal call that
  /// still waits for its turn.
  package mutating func send(_ context: SendContext, waiter: Waiter) {
    askForAccountIfNeeded()
    for (index, operation) in queue.enumerated() {
      if case .send(let queued, let waiters) = operation, queued.scope == context.scope {
        queue[index] = .send(queued, waiters + [waiter])
        return
      }
    }
    queue.append(.send(context, [waiter]))
  }

  /// Ends what is under way and what waits; what was sent already may still succeed.
  package mutating func cancelOperations(waiter: Waiter, now: Moment) {
    let error = CloudError(.operationCancelled, "The operation was cancelled.")
    _ = refuseQueue(error)
    interrupt(error, now: now)
    cancelWaiters.append(waiter)
  }

  /// Takes back an operation that has not begun and that only `waiter` waits for; answers whether
  /// there was one.
  package mutating func withdraw(_ waiter: Waiter) -> Bool {
    guard let index = queue.firstIndex(where: { $0.waiters == [waiter] }) else { return false }
    queue.remove(at: index)
    return true
  }

  private mutating func askForAccountIfNeeded() {
    switch account {
    case .signedIn: break
    case .unknown, .unavailable: needsAccountCheck = true
    }
  }

  // MARK: Interruption

  /// Ends the operation under way: its did-events are still delivered, its answers are ignored.
  mutating func interrupt(_ error: CloudError, now: Moment) {
    switch activity {
    case .fetching(var fetch):
      if case .closing = fetch.step { return }
      if let token = fetch.awaited { abandoned.append(token) }
      withdraw(&fetch, because: error)
      fetch.failure = OperationFailure(error)
      fetch.step = .closing
      outbox.append(.didFetchChanges(fetch.context))
      enter(.fetching(fetch))
    case .sending(var send):
      if case .closing = send.step { return }
      if let token = send.awaited { abandoned.append(token) }
      send.failure = OperationFailure(error)
      send.hasRetries = true
      send.step = .closing
      outbox.append(.didSendChanges(send.context))
      enter(.sending(send))
    case .created, .resting, .checkingAccount, .stopped: break
    }
  }

  /// Takes back a page that the app has not been given, and closes the zone if the app was told
  /// that it is open.
  ///
  /// The token has not moved, so the page comes again.
  private mutating func withdraw(_ fetch: inout Fetch, because error: CloudError) {
    var hasUndeliveredOpening = false
    outbox.removeAll { event in
      switch event {
      case .fetchedDatabaseChanges, .fetchedZoneChanges: return true
      case .willFetchZoneChanges:
        hasUndeliveredOpening = true
        return true
      case .stateUpdate, .accountChange, .willFetchChanges, .didFetchZoneChanges,
        .didFetchChanges, .willSendChanges, .sentDatabaseChanges, .sentRecordChanges,
        .didSendChanges:
        return false
      }
    }
    guard let zone = fetch.zone else { return }
    if case .closingZone = fetch.step { return }
    if !hasUndeliveredOpening { outbox.append(.didFetchZoneChanges(zone.id, error)) }
  }

  /// Puts everything whose fate is unknown back to waiting.
  mutating func returnUnsettled() {
    state.records.returnAll()
    state.zones.returnAll()
  }
}
