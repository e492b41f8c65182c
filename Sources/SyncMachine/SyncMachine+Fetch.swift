import CloudProtocol
import Records

/// Fetching: first the list of zones, then each zone page by page. A token advances only after the
/// app has returned from the page. See CE-35 to CE-42 and CE-84 in Docs/Evidence/Engine.md.
extension SyncMachine {
  mutating func begin(_ fetch: Fetch) {
    schedule.fetchDue = nil
    delivery.events.append(.willFetchChanges(fetch.context))
    enter(.fetching(fetch))
  }

  /// Advances a fetch while the app is not handling an event.
  mutating func advance(_ fetch: Fetch, now: Moment) -> Advance {
    var fetch = fetch
    switch fetch.step {
    case .findingSubscription, .savingSubscription, .readingDatabase, .checkingZones, .readingZone,
      .asking:
      return .rest
    case .announcing, .relisting:
      if let request = subscriptionSearch() {
        enter(.findingSubscription(request.token), in: &fetch)
        return .instruct(.send(request))
      }
      return ask(&fetch)
    case .makingSubscription(let id):
      return saveSubscription(&fetch, id)
    case .ready:
      return ask(&fetch)
    case .choosing:
      return choose(&fetch, now: now)
    case .deliveringDatabase(let page):
      move(&fetch, past: page, now: now)
      return ask(&fetch)
    case .openingZone:
      return readZone(&fetch, now: now)
    case .deliveringZone(let page):
      return move(&fetch, past: page, now: now)
    case .closingZone(let reopens):
      return afterZone(&fetch, reopens: reopens, now: now)
    case .closing:
      end(fetch, now: now)
      return .again
    }
  }

  /// Asks the app for the options of the next request; they may change between requests.
  private mutating func ask(_ fetch: inout Fetch) -> Advance {
    enter(.asking, in: &fetch)
    delivery.isWithApp = true
    return .instruct(.askForFetchOptions(fetch.context))
  }

  /// Reports the options from the app; ignored when they are not awaited any more.
  package mutating func provided(options: FetchOptions) {
    delivery.isWithApp = false
    guard case .fetching(var fetch) = activity, case .asking = fetch.step else { return }
    fetch.chosenOptions = options
    enter(.choosing, in: &fetch)
  }

  private mutating func choose(_ fetch: inout Fetch, now: Moment) -> Advance {
    if !fetch.hasReadDatabase {
      return request(
        .fetchDatabaseChanges(FetchDatabaseChanges(since: fetch.databaseCursor)), in: &fetch
      ) { .readingDatabase($0) }
    }
    if !fetch.zonesInDoubt.isEmpty { return checkZones(&fetch) }
    let scope = state.resolved(fetch.options.scope)
    if let zone = fetch.zone {
      // A failure that has arrived counts in any case: the server may have asked to wait.
      guard scope.contains(zone.id) || zone.nextPage?.hasFailed == true else {
        dropRequests(&fetch)
        return close(&fetch, error: CloudError(.operationCancelled, "The zone left the scope."))
      }
      return readZone(&fetch, now: now)
    }
    // Found one at a time: a list of those that wait would be made once for each zone.
    let (isInScope, finished) = (scope.membership, fetch.finishedZones)
    func isWaiting(_ zone: ZoneID) -> Bool { isInScope(zone) && !finished.contains(zone) }
    let prioritized = fetch.options.prioritizedZones.map { state.resolved($0) }
    let first = prioritized.first { isWaiting($0) && state.changedZones.contains($0) }
    if let zone = first ?? state.changedZones.first(where: isWaiting) {
      return open(&fetch, zone, now: now)
    }
    guard !fetch.deniedZones.isEmpty else { return close(&fetch) }
    // By now the list of zones may give the reason of the deletion; zones it omits are checked.
    (fetch.zonesInDoubt, fetch.deniedZones) = (fetch.deniedZones, [])
    fetch.hasReadDatabase = false
    return choose(&fetch, now: now)
  }

  private mutating func open(_ fetch: inout Fetch, _ zone: ZoneID, now: Moment) -> Advance {
    let startsOver = state.expiredZones.contains(zone)
    let cursor = startsOver ? nil : state.zoneTokens[zone]
    fetch.zone = Fetch.OpenZone(id: zone, cursor: cursor, startsOver: startsOver)
    delivery.events.append(.willFetchZoneChanges(zone, startsOver: cursor == nil))
    enter(.openingZone, in: &fetch)
    return .again
  }

  private mutating func readZone(_ fetch: inout Fetch, now: Moment) -> Advance {
    guard let zone = fetch.zone else { return close(&fetch) }
    guard let next = zone.nextPage else {
      return request(
        .fetchZoneChanges(FetchZoneChanges(zone: zone.id, since: zone.cursor)), in: &fetch
      ) { .readingZone($0) }
    }
    fetch.zone?.nextPage = nil
    enter(.readingZone(next.token), in: &fetch)
    guard let answer = next.answer else { return .rest }
    settle(fetch, answer, now: now)
    return .again
  }

  /// The request for the page after the one that the app handles, so that the server and the
  /// network work meanwhile.
  ///
  /// At most one page is read ahead. Its token counts only when the app has returned from it.
  mutating func requestForNextPage() -> OutgoingRequest? {
    guard case .fetching(var fetch) = activity, case .deliveringZone(let page) = fetch.step,
      page.moreComing, fetch.zone?.nextPage == nil
    else { return nil }
    let request = outgoing(
      .fetchZoneChanges(FetchZoneChanges(zone: page.zone, since: page.token)))
    fetch.zone?.nextPage = Fetch.NextPage(token: request.token)
    activity = .fetching(fetch)
    return request
  }

  /// Abandons the requests that have no reply.
  mutating func dropRequests(_ fetch: inout Fetch) {
    requests.abandoned += fetch.openRequests
    fetch.zone?.nextPage = nil
  }

  // MARK: Answers

  /// Receives the reply that the fetch awaits, or that of the next page, which it keeps.
  mutating func receive(
    _ answer: Result<CloudReply, CloudError>, for token: RequestToken, in fetch: Fetch, now: Moment
  ) {
    if case .failure(let error) = answer, !fetch.isDivided(by: error) { honor(error, now: now) }
    guard fetch.awaited != token else { return settle(fetch, answer, now: now) }
    var fetch = fetch
    fetch.zone?.nextPage?.answer = answer
    activity = .fetching(fetch)
  }

  private mutating func settle(
    _ fetch: Fetch, _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    var fetch = fetch
    switch fetch.step {
    case .findingSubscription: settleSearch(&fetch, answer, now: now)
    case .savingSubscription(_, let id): settleSaving(&fetch, answer, id: id, now: now)
    case .readingDatabase: settleDatabase(&fetch, answer, now: now)
    case .checkingZones(_, let zones): settleZones(&fetch, zones, answer, now: now)
    case .readingZone: settleZone(&fetch, answer, now: now)
    case .announcing, .makingSubscription, .ready, .asking, .choosing, .relisting,
      .deliveringDatabase, .openingZone, .deliveringZone, .closingZone, .closing:
      break  // No reply is awaited in these steps.
    }
  }

  private mutating func settleDatabase(
    _ fetch: inout Fetch, _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    switch answer {
    case .success(.databaseChanges(let page)):
      if !page.modified.isEmpty || !page.deleted.isEmpty {
        delivery.events.append(
          .fetchedDatabaseChanges(modified: page.modified, deleted: page.deleted))
      }
      enter(.deliveringDatabase(page), in: &fetch)
    case .failure(let error)
    where error.code == .changeTokenExpired && fetch.databaseCursor != nil:
      // A server that has lost the token may have lost the subscription as well.
      if state.subscription != nil { record(.setSubscription(nil), now: now) }
      let isServerReset =
        error.userDidResetEncryptedData || fetch.relisting?.isServerReset == true
      if let refusal = gateError(now) {
        // A token that leads to the report of a reset is kept: the next fetch needs the report.
        if !isServerReset { record(.setDatabaseToken(nil), now: now) }
        return fail(&fetch, refusal)
      }
      // The token stays in the state until the listing is complete: an interrupted one starts
      // again.
      fetch.relisting = Fetch.Relisting(isServerReset: isServerReset)
      fetch.databaseCursor = nil
      enter(.relisting, in: &fetch)
    case .failure(let error): fail(&fetch, error)
    case .success: fail(&fetch, Self.mismatch)
    }
  }

  private mutating func settleZone(
    _ fetch: inout Fetch, _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    guard let zone = fetch.zone else { return fail(&fetch, Self.mismatch) }
    switch answer {
    case .success(.zoneChanges(let page)) where page.zone == zone.id:
      if !page.modified.isEmpty || !page.deleted.isEmpty {
        if zone.cursor == nil, !zone.startsOver {
          // Until the token of this page is stored: a fetch that is interrupted after the app got
          // the page begins again, and must then report what was deleted in between.
          record(.setZoneExpired(zone.id, true), now: now)
          delivery.events.append(.stateUpdate)
        }
        delivery.events.append(.fetchedZoneChanges(modified: page.modified, deleted: page.deleted))
      }
      enter(.deliveringZone(page), in: &fetch)
    case .failure(let error) where error.code == .changeTokenExpired && zone.cursor != nil:
      // Everything is fetched again; the app is informed, so that it can drop deleted records.
      record(.setZoneToken(zone.id, nil), now: now)
      record(.setZoneExpired(zone.id, true), now: now)
      if let refusal = gateError(now) { return failZone(&fetch, zone.id, refusal, now: now) }
      delivery.events.append(.didFetchZoneChanges(zone.id, nil))
      enter(.closingZone(reopens: true), in: &fetch)
    case .failure(let error): failZone(&fetch, zone.id, error, now: now)
    case .success: failZone(&fetch, zone.id, Self.mismatch, now: now)
    }
  }

  /// Handles the failure of a zone's fetch.
  ///
  /// Other zones are still fetched if the error concerns this zone only and the server did not ask
  /// to wait; otherwise the fetch ends.
  ///
  /// Whatever the error, the zone stays marked as changed: later fetches read it again, until it
  /// has been read completely or the list of zones gives the reason of its deletion.
  private mutating func failZone(
    _ fetch: inout Fetch, _ zone: ZoneID, _ error: CloudError, now: Moment
  ) {
    let concernsZone =
      (error.code.disposition == .surface || error.code == .zoneBusy) && !isHeldBack(now)
    var failure =
      fetch.failure
      ?? OperationFailure(CloudError(.partialFailure, "Some zones could not be fetched."))
    if concernsZone { failure.zones[zone] = error } else { failure.error = error }
    if concernsZone, error.zoneLoss != nil { fetch.deniedZones.insert(zone) }
    fetch.failure = failure
    noteAccountError(error)
    _ = close(&fetch, error: error)
  }

  mutating func fail(_ fetch: inout Fetch, _ error: CloudError) {
    noteAccountError(error)
    fetch.failure = OperationFailure(error)
    close(&fetch)
  }

  /// An error that concerns the account schedules an account check after the operation.
  mutating func noteAccountError(_ error: CloudError) {
    switch error.code {
    case .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted:
      account.needsCheck = true
    default: break
    }
  }

  // MARK: After the app returned

  private mutating func move(
    _ fetch: inout Fetch, past page: DatabaseChangesPage, now: Moment
  ) {
    for deletion in page.deleted {
      record(.setZoneToken(deletion.zone, nil), now: now)
      record(.setZoneExpired(deletion.zone, false), now: now)
      record(.setZoneChanged(deletion.zone, false), now: now)
      fetch.noteGone(deletion.zone)
    }
    for zone in page.modified { record(.setZoneChanged(zone, true), now: now) }
    // When the list is read again for a denied zone, others may have changed since they were read.
    fetch.finishedZones.subtract(page.modified.filter { fetch.failure?.zones[$0] == nil })
    fetch.databaseCursor = page.token
    noteListed(page, &fetch)
    // An interrupted relisting must start again, or deleted zones would be missed.
    if fetch.relisting == nil { record(.setDatabaseToken(page.token), now: now) }
    if !page.moreComing {
      fetch.hasReadDatabase = true
      if state.needsFetch { record(.setNeedsFetch(false), now: now) }
    }
    update.isUrgent = true
  }

  private mutating func move(
    _ fetch: inout Fetch, past page: ZoneChangesPage, now: Moment
  ) -> Advance {
    fetch.zone?.cursor = page.token
    fetch.recordCount += page.modified.count + page.deleted.count
    let startsOver = fetch.zone?.startsOver ?? false
    // An interrupted fetch from the start must start over, or deleted records would remain.
    if !startsOver || !page.moreComing {
      record(.setZoneToken(page.zone, page.token), now: now)
      if state.expiredZones.contains(page.zone) {
        record(.setZoneExpired(page.zone, false), now: now)
      }
    }
    update.isUrgent = true
    if page.moreComing { return ask(&fetch) }
    record(.setZoneChanged(page.zone, false), now: now)
    return close(&fetch, error: nil)
  }

  /// Closes the open zone.
  private mutating func close(_ fetch: inout Fetch, error: CloudError?) -> Advance {
    guard let zone = fetch.zone else { return close(&fetch) }
    delivery.events.append(.didFetchZoneChanges(zone.id, error))
    fetch.finishedZones.insert(zone.id)
    enter(.closingZone(reopens: false), in: &fetch)
    return .again
  }

  private mutating func afterZone(
    _ fetch: inout Fetch, reopens: Bool, now: Moment
  ) -> Advance {
    let zone = fetch.zone?.id
    fetch.zone = nil
    if reopens, let zone { return open(&fetch, zone, now: now) }
    if let failure = fetch.failure, !failure.concernsZonesOnly { return close(&fetch) }
    return ask(&fetch)
  }

  /// Closes the fetch.
  @discardableResult
  mutating func close(_ fetch: inout Fetch) -> Advance {
    delivery.events.append(.didFetchChanges(fetch.context))
    enter(.closing, in: &fetch)
    return .again
  }

  private mutating func end(_ fetch: Fetch, now: Moment) {
    history.note(.fetching, fetch.failure?.error.code, now)
    calls.finished.append((fetch.waiters, fetch.failure.map(OperationOutcome.failure) ?? .success))
    enter(.resting)
    update.isUrgent = true
    guard configuration.automaticallySync else { return }
    // A zone that can't be read keeps no change from being sent.
    if fetch.failure?.concernsZonesOnly ?? true { schedule.hasFetched = true }
    if fetch.failure == nil {
      schedule.fetchFailures = 0
      schedule.noteSuccess(of: .fetch)
      if fetch.context.reason == .manual, !state.changedZones.isEmpty {
        // A fetch with a narrow scope replaced the scheduled one and left zones unread.
        serverChanged(now: now)
      }
      guard let code = fetch.subscriptionFailure else {
        schedule.subscriptionFailures = 0
        return
      }
      schedule.subscriptionFailures += 1
      schedule.note(.fetch, isOfNetwork: code.isOfNetwork)
      tryAgain(schedule.subscriptionFailures, now: now)
      return
    }
    let concernsZonesOnly = fetch.failure?.concernsZonesOnly ?? false
    guard !state.changedZones.isEmpty || !concernsZonesOnly else { return }
    schedule.fetchFailures += 1
    schedule.note(.fetch, isOfNetwork: fetch.failure?.isOfNetwork ?? false)
    tryAgain(schedule.fetchFailures, now: now)
  }

  private mutating func tryAgain(_ failures: Int, now: Moment) {
    let due =
      now + configuration.backoff.delay(afterFailures: failures, jitter: requests.lastJitter)
    schedule.fetchDue = min(schedule.fetchDue ?? due, due)
  }
}
