import CloudProtocol
import Records

/// Sending: zone changes first, then batches of records until the app has none left or a batch
/// fails. See CE-19 to CE-26 and CE-65 in Docs/Evidence/Engine.md.
extension SyncMachine {
  mutating func begin(_ send: Send) {
    var send = send
    send.context.scope = state.spelledAsPending(send.context.scope)
    schedule.sendDue = nil
    schedule.hasFetched = false
    delivery.events.append(.willSendChanges(send.context))
    enter(.sending(send))
  }

  /// Advances a send while the app is not handling an event.
  mutating func advance(_ send: Send, now: Moment) -> Advance {
    var send = send
    switch send.step {
    case .sendingZones, .sendingRecords, .asking: return .rest
    case .announcing, .deliveringZones, .deliveringRecords:
      update.isUrgent = true
      settleReported(&send, now: now)
      return chooseNext(&send)
    case .given(let batch):
      let (first, later) = state.separated(batch)
      if later.count > 0 { send.parts.insert(later, at: 0) }
      return carry(&send, first)
    case .declined: return ask(&send)
    case .closing:
      end(send, now: now)
      return .again
    }
  }

  private mutating func chooseNext(_ send: inout Send) -> Advance {
    if send.isOver { return close(&send) }
    if let request = takeZones(send) { return carry(&send, request) }
    if !send.parts.isEmpty { return carry(&send, send.parts.removeFirst()) }
    return ask(&send)
  }

  private mutating func ask(_ send: inout Send) -> Advance {
    let scope = send.context.scope
    let hasRecords = state.records.hasPending(in: scope)
    guard hasRecords || state.hasUntrackedChanges, !send.isFruitless else { return close(&send) }
    send.addedWhileAsking = [:]
    enter(.asking(untrackedVersion: untrackedVersion), in: &send)
    delivery.isWithApp = true
    return .instruct(.askForBatch(send.context))
  }

  /// Reports the batch from the app, or `nil` for none; ignored when it is not awaited any more.
  ///
  /// An app that gives none after it was shown a part of the changes is asked again and shown all.
  /// - Parameter shown: The pending changes that the app has read; `nil` if all were shown.
  package mutating func provided(batch: RecordBatch?, shown: ShownChanges? = nil, now: Moment) {
    delivery.isWithApp = false
    if let shown { shownLimit.note(shown) }
    guard case .sending(var send) = activity, case .asking(let version) = send.step else { return }
    if let batch, batch.count > 0 {
      take(batch, &send)
      return enter(.given(batch), in: &send)
    }
    if let shown, shown.isPart { return enter(.declined, in: &send) }
    // An empty batch for a narrow scope does not cover changes outside of it.
    if state.hasUntrackedChanges, version == untrackedVersion, send.context.scope == .all {
      record(.setHasUntrackedChanges(false), now: now)
    }
    close(&send)
  }

  /// Marks the changes of the batch as in flight.
  ///
  /// This happens now and not when the batch is sent, so that every later addition is a newer
  /// change. A change added while the app built the batch may be newer as well, so it is pending
  /// again.
  private mutating func take(_ batch: RecordBatch, _ send: inout Send) {
    var touchesPending = false
    func take(_ change: PendingChange<RecordID>) {
      guard state.records.take(change) else { return }
      touchesPending = true
      if let name = send.addedWhileAsking[state.resolved(change.id)] {
        state.records.add(PendingChange(change.kind, name))
      }
    }
    // By index: taking a save out of the array would copy all its fields.
    for index in batch.saves.indices { take(PendingChange(.save, batch.saves[index].id)) }
    for id in batch.deletions { take(PendingChange(.delete, id)) }
    guard !touchesPending, !state.hasUntrackedChanges else { return }
    let count = send.untracked.count
    send.untracked.formUnion(batch.saves.map(\.id) + batch.deletions)
    send.isFruitless = send.untracked.count == count
  }

  private mutating func takeZones(_ send: Send) -> ModifyZones? {
    let scope = send.context.scope
    let changes = state.zones.prefix(send.zonesPerRequest) {
      scope.containsZone($0.id) && !send.refusedZones.contains(state.resolved($0.id))
    }
    guard !changes.isEmpty else { return nil }
    var request = ModifyZones()
    for change in changes where state.zones.take(change) {
      switch change.kind {
      case .save: request.save.append(change.id)
      case .delete: request.delete.append(change.id)
      }
    }
    return request
  }

  private mutating func carry(_ send: inout Send, _ zones: ModifyZones) -> Advance {
    return request(.modifyZones(zones), in: &send) { .sendingZones($0, zones) }
  }

  private mutating func carry(_ send: inout Send, _ batch: RecordBatch) -> Advance {
    return request(
      .modifyRecords(
        ModifyRecords(
          save: batch.saves, delete: batch.deletions, policy: .ifServerRecordUnchanged,
          isAtomic: batch.isAtomic, fields: .all)), in: &send
    ) { .sendingRecords($0, batch) }
  }

  // MARK: Answers

  mutating func settle(
    _ send: Send, _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    var send = send
    if case .failure(let error) = answer { noteAccountError(error) }
    switch send.step {
    case .sendingZones(_, let zones): settleZones(&send, zones, answer, now: now)
    case .sendingRecords(_, let batch): settleRecords(&send, batch, answer, now: now)
    case .announcing, .deliveringZones, .asking, .declined, .given, .deliveringRecords, .closing:
      break  // No reply is awaited in these steps.
    }
  }

  private mutating func settleZones(
    _ send: inout Send, _ zones: ModifyZones, _ answer: Result<CloudReply, CloudError>,
    now: Moment
  ) {
    let sent: SentZones
    switch answer {
    case .success(.zonesModified(let saved, let deleted)):
      sent = SentZones(
        saved: Self.aligned(saved, to: zones.save.count) { zones.save[$0] },
        deleted: Self.aligned(deleted, to: zones.delete.count) { zones.delete[$0] })
    case .success: sent = Self.allFailed(zones, Self.mismatch)
    case .failure(let error)
    where error.code == .limitExceeded && zones.save.count + zones.delete.count > 1:
      // Too many in one request: retried with fewer. Nothing is settled, so there is no event.
      send.zonesPerRequest = (zones.save.count + zones.delete.count) / 2
      state.zones.returnAll()
      return enter(.deliveringZones, in: &send)
    case .failure(let error):
      send.failure = OperationFailure(error)
      sent = Self.allFailed(zones, error)
    }
    for result in sent.saved { noteZone(&send, result.id, result.error, now: now) }
    for result in sent.deleted {
      noteZone(&send, result.id, result.error, isDeletion: true, now: now)
    }
    // A zone that is refused does not hold back the records of the others.
    if case .success(.zonesModified) = answer {
      send.isOver = send.hasRetries || isHeldBack(now)
    } else {
      send.isOver = true
    }
    if sent.isPartlyDone { schedule.sendFailures = 0 }
    delivery.events.append(.sentDatabaseChanges(sent))
    enter(.deliveringZones, in: &send)
  }

  private mutating func noteZone(
    _ send: inout Send, _ zone: ZoneID, _ error: CloudError?, isDeletion: Bool = false, now: Moment
  ) {
    let returns = note(&send, error, now: now)
    if let error {
      send.failure?.zones[zone] = error
      send.refusedZones.insert(state.resolved(zone))
    }
    if returns {
      send.zoneCount += 1
      settle(zone, returns: true, now: now)
    } else {
      send.reportedZones.append(
        ReportedZone(id: zone, isForgotten: isDeletion && error == nil))
    }
  }

  private mutating func settle(_ zone: ZoneID, returns: Bool, now: Moment) {
    if state.zones.settle(zone, returns: returns) == .nothing { note(.removeZone(zone), now: now) }
  }

  private mutating func settle(_ record: RecordID, returns: Bool, now: Moment) {
    if state.records.settle(record, returns: returns) == .nothing {
      note(.removeRecord(record), now: now)
    }
  }

  /// Settles the changes after the app has handled their results, except those that are retried.
  ///
  /// Not earlier: after a crash in between, a change would neither be pending nor known to the app
  /// as failed. One that is retried is pending again before that: the app may examine the list.
  private mutating func settleReported(_ send: inout Send, now: Moment) {
    send.zoneCount += send.reportedZones.count
    send.recordCount += send.reportedRecords.count
    for reported in send.reportedZones {
      settle(reported.id, returns: false, now: now)
      if reported.isForgotten { forget(state.resolved(reported.id), now: now) }
    }
    // By index: taking an ID out of the array would retain and release it once more.
    for index in send.reportedRecords.indices {
      settle(send.reportedRecords[index], returns: false, now: now)
    }
    send.reportedZones = []
    send.reportedRecords = []
  }

  /// Marks zones whose changes were never fetched but of which the app will hold records.
  ///
  /// Their first fetch must report deletions by omission, since the server lists none before it.
  /// Recorded before the event: after a crash in between the app holds the records all the same.
  private mutating func noteUnreadZones(_ saved: [ItemResult<RecordID, Record>], now: Moment) {
    var last: ZoneID?
    for index in saved.indices where saved[index].id.zone != last && saved[index].isOnServer {
      last = saved[index].id.zone
      let zone = state.resolved(saved[index].id.zone)
      guard state.zoneTokens[zone] == nil, !state.expiredZones.contains(zone) else { continue }
      record(.setZoneExpired(zone, true), now: now)
    }
  }

  /// Drops the token of a zone that was deleted; a new zone of the same name starts over, since the
  /// app may hold records that it received after it requested the deletion.
  private mutating func forget(_ zone: ZoneID, now: Moment) {
    guard state.zoneTokens[zone] != nil else { return }
    record(.setZoneToken(zone, nil), now: now)
    record(.setZoneExpired(zone, true), now: now)
  }

  private mutating func settleRecords(
    _ send: inout Send, _ batch: RecordBatch, _ answer: Result<CloudReply, CloudError>,
    now: Moment
  ) {
    let sent: SentRecords
    switch answer {
    case .success(.recordsModified(let saved, let deleted)):
      sent = SentRecords(
        saved: Self.aligned(saved, to: batch.saves.count) { batch.saves[$0].id },
        deleted: Self.aligned(deleted, to: batch.deletions.count) { batch.deletions[$0] })
    case .success: sent = Self.allFailed(batch, Self.mismatch)
    case .failure(let error)
    where error.code == .limitExceeded && batch.count > 1
      && !batch.isAtomic:
      // Too large: retried in halves. Nothing is settled, so there is no event.
      let halves = batch.halves
      send.parts.insert(contentsOf: [halves.0, halves.1], at: 0)
      return enter(.deliveringRecords, in: &send)
    case .failure(let error):
      send.failure = OperationFailure(error)
      sent = Self.allFailed(batch, error)
    }
    send.reportedRecords.reserveCapacity(
      send.reportedRecords.count + sent.saved.count + sent.deleted.count)
    for index in sent.saved.indices {
      if case .success = sent.saved[index].outcome {
        send.reportedRecords.append(sent.saved[index].id)
        continue
      }
      noteRecord(&send, sent.saved[index].id, sent.saved[index].error, now: now)
    }
    noteUnreadZones(sent.saved, now: now)
    for result in sent.deleted { noteRecord(&send, result.id, result.error, now: now) }
    // After a partial success the other failures count as first ones: a device that
    // often meets conflicts must not slow down from one to the next.
    if sent.isPartlyDone { schedule.sendFailures = 0 }
    delivery.events.append(.sentRecordChanges(sent))
    enter(.deliveringRecords, in: &send)
  }

  private mutating func noteRecord(
    _ send: inout Send, _ id: RecordID, _ error: CloudError?, now: Moment
  ) {
    let returns = note(&send, error, now: now)
    if let error {
      send.failure?.records[id] = error
      send.isOver = true
    }
    if returns {
      send.recordCount += 1
      settle(id, returns: true, now: now)
    } else {
      send.reportedRecords.append(id)
    }
  }

  /// Adds an item's error to the operation's.
  ///
  /// - Returns: Whether the item is retried.
  private mutating func note(_ send: inout Send, _ error: CloudError?, now: Moment) -> Bool {
    guard let error else { return false }
    honor(error, now: now)
    if send.failure == nil {
      send.failure = OperationFailure(
        CloudError(.partialFailure, "Some changes could not be sent; see each item's error."))
    }
    let returns = error.code.disposition == .retry
    if returns { send.hasRetries = true }
    return returns
  }

  // MARK: Closing

  @discardableResult
  mutating func close(_ send: inout Send) -> Advance {
    delivery.events.append(.didSendChanges(send.context))
    enter(.closing, in: &send)
    return .again
  }

  private mutating func end(_ send: Send, now: Moment) {
    var send = send
    settleReported(&send, now: now)
    returnUnsettled()
    history.note(.sending, send.failure?.error.code, now)
    calls.finished.append((send.waiters, send.failure.map(OperationOutcome.failure) ?? .success))
    enter(.resting)
    update.isUrgent = true
    guard configuration.automaticallySync else { return }
    schedule.refusesSends = send.failure?.isRefusal ?? false
    guard send.failure != nil else {
      schedule.noteSuccess(of: .send)
      // A manual send with a narrow scope replaced the scheduled one and left changes unsent.
      if send.context.reason == .manual { scheduleSend(at: now + configuration.sendDelay) }
      return
    }
    if !state.needsFetch { record(.setNeedsFetch(true), now: now) }
    guard hasChangesToSend else { return }
    schedule.sendFailures += 1
    schedule.note(.send, isOfNetwork: send.failure?.isOfNetwork ?? false)
    // Changes that the app corrected while handling the results are sent at once the first time; a
    // failure that comes back every time slows down like any other.
    let isFirst = schedule.sendFailures == 1 && !send.hasRetries
    let delay =
      isFirst
      ? configuration.sendDelay
      : configuration.backoff.delay(
        afterFailures: schedule.sendFailures, jitter: requests.lastJitter)
    schedule.sendDue = now + delay
  }

  // MARK: Completing replies

  /// One result for each requested item; an item missing from the reply counts as failed.
  private static func aligned<ID, Value>(
    _ results: [ItemResult<ID, Value>], to count: Int, _ id: (Int) -> ID
  ) -> [ItemResult<ID, Value>] {
    if results.count == count, results.indices.allSatisfy({ results[$0].id == id($0) }) {
      return results
    }
    var byID: [ID: ItemResult<ID, Value>] = [:]
    for result in results { byID[result.id] = result }
    return (0..<count).map { byID[id($0)] ?? ItemResult(id: id($0), .failure(unanswered)) }
  }

  private static var unanswered: CloudError {
    CloudError(
      .serverResponseLost, "The server's response does not contain this item; it is sent again.")
  }

  private static func allFailed(_ batch: RecordBatch, _ error: CloudError) -> SentRecords {
    SentRecords(saves: batch.saves.map(\.id), deletions: batch.deletions, failedWith: error)
  }

  private static func allFailed(_ zones: ModifyZones, _ error: CloudError) -> SentZones {
    SentZones(saves: zones.save, deletions: zones.delete, failedWith: error)
  }
}

extension ItemResult where Value == Record {
  /// Whether the app knows the server's version after the event.
  fileprivate var isOnServer: Bool {
    switch outcome {
    case .success: true
    case .failure(let error): error.code == .serverRecordChanged
    }
  }
}
