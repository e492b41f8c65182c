import CloudProtocol
package import Records

/// Calls that the app may make at any time.
extension SyncMachine {
  // MARK: Pending changes

  /// Adds pending record changes and, in automatic mode, schedules a send.
  package mutating func add(_ changes: [PendingChange<RecordID>], now: Moment) {
    for change in changes where state.records.add(change) { note(.addRecord(change), now: now) }
    if case .sending(var send) = activity, case .asking = send.step {
      // Taken out of the state meanwhile, or each addition would copy the others.
      activity = .resting
      for change in changes { send.addedWhileAsking[state.resolved(change.id)] = change.id }
      activity = .sending(send)
    }
    scheduleSend(at: now + configuration.sendDelay)
  }

  /// Removes pending record changes; one in flight is not retried when it fails.
  package mutating func remove(_ changes: [PendingChange<RecordID>], now: Moment) {
    for change in changes where state.records.remove(change) {
      switch state.records.unsettledKind(of: change.id) {
      case nil: record(.removeRecord(change.id), now: now)
      case let kind?: note(.addRecord(PendingChange(kind, change.id)), now: now)
      }
    }
  }

  /// Adds pending zone changes and, in automatic mode, schedules a send.
  package mutating func add(_ changes: [PendingChange<ZoneID>], now: Moment) {
    for change in changes where state.zones.add(change) { note(.addZone(change), now: now) }
    scheduleSend(at: now + configuration.sendDelay)
  }

  /// Removes pending zone changes; one in flight is not retried when it fails.
  package mutating func remove(_ changes: [PendingChange<ZoneID>], now: Moment) {
    for change in changes where state.zones.remove(change) {
      switch state.zones.unsettledKind(of: change.id) {
      case nil: record(.removeZone(change.id), now: now)
      case let kind?: note(.addZone(PendingChange(kind, change.id)), now: now)
      }
    }
  }

  /// Sets whether the app has untracked changes.
  ///
  /// If so, a send is scheduled that asks the app for a batch even when no change is pending.
  package mutating func setHasUntrackedChanges(_ value: Bool, now: Moment) {
    if value { untrackedVersion += 1 }
    if state.hasUntrackedChanges != value { record(.setHasUntrackedChanges(value), now: now) }
    if value { scheduleSend(at: now + configuration.sendDelay) }
  }

  // MARK: Operations

  /// Requests a fetch, which begins when no other operation is running.
  ///
  /// A queued call with the same options is joined. A fetch that has begun is not joined: it may
  /// already be past the changes that the caller expects.
  package mutating func fetch(_ context: FetchContext, waiter: Waiter) {
    if refuses(waiter) { return }
    askForAccountIfNeeded()
    for (index, operation) in calls.queued.enumerated() {
      if case .fetch(let queued) = operation.kind, queued.options == context.options {
        calls.queued[index].waiters.append(waiter)
        return
      }
    }
    calls.queued.append(QueuedOperation(kind: .fetch(context), waiters: [waiter]))
  }

  /// Requests a send, which begins when no other operation is running.
  ///
  /// A queued call with the same scope is joined.
  package mutating func send(_ context: SendContext, waiter: Waiter) {
    if refuses(waiter) { return }
    askForAccountIfNeeded()
    for (index, operation) in calls.queued.enumerated() {
      if case .send(let queued) = operation.kind, queued.scope == context.scope {
        calls.queued[index].waiters.append(waiter)
        return
      }
    }
    calls.queued.append(QueuedOperation(kind: .send(context), waiters: [waiter]))
  }

  /// Cancels the running and queued operations; a request already sent may still succeed.
  package mutating func cancelOperations(waiter: Waiter, now: Moment) {
    let error = CloudError(.operationCancelled, "The operation was cancelled.")
    _ = refuseQueue(error)
    interrupt(error, now: now)
    calls.cancelling.append(waiter)
    // Neither a held account change nor an account check is an operation to wait for.
    if isHoldingAccountChange || stage == .checkingAccount { endCancellations() }
  }

  /// Reports that `waiter` does not wait any more.
  ///
  /// A queued operation ends when none of its calls waits.
  package mutating func withdraw(_ waiter: Waiter) {
    guard let index = calls.queued.firstIndex(where: { $0.waiters.contains(waiter) }) else {
      return
    }
    calls.queued[index].withdrawn.insert(waiter)
    let waiters = calls.queued[index].waiters
    guard calls.queued[index].withdrawn.isSuperset(of: waiters) else { return }
    calls.queued.remove(at: index)
    let error = CloudError(.operationCancelled, "No call waits for the operation.")
    calls.finished.append((waiters, .failure(OperationFailure(error))))
  }

  /// Fails the call of `waiter` while an account change is held back.
  ///
  /// - Returns: Whether it failed.
  private mutating func refuses(_ waiter: Waiter) -> Bool {
    guard isHoldingAccountChange else { return false }
    calls.finished.append(([waiter], .failure(OperationFailure(Self.storeRefusal))))
    return true
  }

  private mutating func askForAccountIfNeeded() {
    switch account.knowledge {
    case .signedIn: break
    case .unknown, .unavailable: account.needsCheck = true
    }
  }

  // MARK: Interruption

  /// Interrupts the running operation: its did-events are still delivered, its replies are ignored.
  mutating func interrupt(_ error: CloudError, now: Moment) {
    switch activity {
    case .fetching(var fetch):
      if case .closing = fetch.step { return }
      dropRequests(&fetch)
      withdraw(&fetch, because: error)
      fetch.failure = OperationFailure(error)
      close(&fetch)
    case .sending(var send):
      if case .closing = send.step { return }
      if let token = send.awaited { requests.abandoned.append(token) }
      send.failure = OperationFailure(error)
      send.hasRetries = true
      close(&send)
    case .created, .resting, .checkingAccount, .stopped: break
    }
  }

  /// Removes an undelivered page, and ends the zone's fetch if its beginning was delivered.
  ///
  /// The token has not changed, so the page is fetched again later.
  private mutating func withdraw(_ fetch: inout Fetch, because error: CloudError) {
    var hasUndeliveredOpening = false
    delivery.events.removeAll { event in
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
    if !hasUndeliveredOpening { delivery.events.append(.didFetchZoneChanges(zone.id, error)) }
  }

  /// Makes all changes in flight, whose outcome is unknown, pending again.
  mutating func returnUnsettled() {
    state.records.returnAll()
    state.zones.returnAll()
  }
}
