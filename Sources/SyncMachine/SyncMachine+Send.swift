import CloudProtocol
import Records

/// The send: zone changes first, then batch after batch of records until the app has nothing
/// more, or something fails. Source: cksyncengine 2.2 to 2.6.
extension SyncMachine {
  mutating func begin(_ send: Send) {
    var send = send
    send.context.scope = state.spelledAsPending(send.context.scope)
    schedule.sendDue = nil
    outbox.append(.willSendChanges(send.context))
    enter(.sending(send))
  }

  /// Moves a send on when nothing is with the app.
  mutating func advance(_ send: Send, now: Moment) -> Advance {
    var send = send
    switch send.step {
    case .sendingZones, .sendingRecords, .asking: return .rest
    case .announcing, .deliveringZones, .deliveringRecords:
      isUpdateUrgent = true
      settleTold(&send, now: now)
      return chooseNext(&send)
    case .given(let batch):
      let (first, later) = state.separated(batch)
      if later.count > 0 { send.parts.insert(later, at: 0) }
      return carry(&send, first)
    case .closing:
      end(send, now: now)
      return .again
    }
  }

  private mutating func chooseNext(_ send: inout Send) -> Advance {
    if send.failure != nil { return close(&send) }
    if let request = takeZones(send) { return carry(&send, request) }
    if !send.parts.isEmpty { return carry(&send, send.parts.removeFirst()) }
    let scope = send.context.scope
    let hasRecords = state.records.hasWaiting(in: scope)
    guard hasRecords || state.hasUntrackedChanges, !send.isFruitless else { return close(&send) }
    send.step = .asking(untrackedVersion: untrackedVersion)
    send.addedWhileAsking = [:]
    enter(.sending(send))
    isWithApp = true
    return .instruct(.askForBatch(send.context))
  }

  /// The app answered with a batch, or with nothing for now; an answer nobody asked for any more
  /// changes nothing.
  package mutating func provided(batch: RecordBatch?, now: Moment) {
    isWithApp = false
    guard case .sending(var send) = activity, case .asking(let version) = send.step else { return }
    if let batch, batch.count > 0 {
      take(batch, &send)
      send.step = .given(batch)
      enter(.sending(send))
      return
    }
    // Nothing within a narrow scope says nothing of the rest.
    if state.hasUntrackedChanges, version == untrackedVersion, send.context.scope == .all {
      record(.setHasUntrackedChanges(false), now: now)
    }
    send.step = .closing
    outbox.append(.didSendChanges(send.context))
    enter(.sending(send))
  }

  /// Moves what the batch holds under way.
  ///
  /// It is taken now and not when it is carried, so that whatever is added from here on is a newer
  /// wish; what was added while the app built the batch may be one, and so waits again.
  private mutating func take(_ batch: RecordBatch, _ send: inout Send) {
    var touchesPending = false
    func take(_ change: PendingChange<RecordID>) {
      guard state.records.take(change) else { return }
      touchesPending = true
      if let name = send.addedWhileAsking[state.resolved(change.id)] {
        state.records.add(PendingChange(change.kind, name))
      }
    }
    // By number: a save taken out of the array would be copied with all its fields.
    for index in batch.saves.indices { take(PendingChange(.save, batch.saves[index].id)) }
    for id in batch.deletions { take(PendingChange(.delete, id)) }
    if !touchesPending, !state.hasUntrackedChanges { send.isFruitless = true }
  }

  private mutating func takeZones(_ send: Send) -> ModifyZones? {
    let scope = send.context.scope
    let changes = state.zones.prefix(send.zonesPerRequest) { scope.containsZone($0.id) }
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
    let request = outgoing(.modifyZones(zones))
    send.step = .sendingZones(request.token, zones)
    enter(.sending(send))
    return .instruct(.send(request))
  }

  private mutating func carry(_ send: inout Send, _ batch: RecordBatch) -> Advance {
    let request = outgoing(
      .modifyRecords(
        ModifyRecords(
          save: batch.saves, delete: batch.deletions, policy: .ifServerRecordUnchanged,
          isAtomic: batch.isAtomic, fields: .all)))
    send.step = .sendingRecords(request.token, batch)
    enter(.sending(send))
    return .instruct(.send(request))
  }

  // MARK: Answers

  mutating func settle(
    _ send: Send, _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    var send = send
    if case .failure(let error) = answer {
      honour(error, now: now)
      noteAccountError(error)
    }
    switch send.step {
    case .sendingZones(_, let zones): settleZones(&send, zones, answer, now: now)
    case .sendingRecords(_, let batch): settleRecords(&send, batch, answer, now: now)
    case .announcing, .deliveringZones, .asking, .given, .deliveringRecords, .closing:
      break  // Nothing is awaited in these steps.
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
      // Too many at once: fewer may pass. Nothing is settled, so the app hears nothing.
      send.zonesPerRequest = (zones.save.count + zones.delete.count) / 2
      state.zones.returnAll()
      send.step = .deliveringZones
      return enter(.sending(send))
    case .failure(let error):
      send.failure = OperationFailure(error)
      sent = Self.allFailed(zones, error)
    }
    for result in sent.saved { noteZone(&send, result.id, result.error, now: now) }
    for result in sent.deleted {
      noteZone(&send, result.id, result.error, isDeletion: true, now: now)
    }
    outbox.append(.sentDatabaseChanges(sent))
    send.step = .deliveringZones
    enter(.sending(send))
  }

  private mutating func noteZone(
    _ send: inout Send, _ zone: ZoneID, _ error: CloudError?, isDeletion: Bool = false, now: Moment
  ) {
    let returns = note(&send, error, now: now)
    if let error { send.failure?.zones[zone] = error }
    send.toldZones.append(
      ToldZone(id: zone, returns: returns, isForgotten: isDeletion && error == nil))
  }

  /// Settles what the app was told of.
  ///
  /// Not before: a crash in between would leave a change neither pending nor known to the app as
  /// failed.
  private mutating func settleTold(_ send: inout Send, now: Moment) {
    send.zoneCount += send.toldZones.count
    send.recordCount += send.toldRecords.count
    for told in send.toldZones {
      if state.zones.settle(told.id, returns: told.returns) == .nothing {
        note(.removeZone(told.id), now: now)
      }
      if told.isForgotten { forget(state.resolved(told.id), now: now) }
    }
    // By number: a name taken out of the array would be held and let go once more.
    for index in send.toldRecords.indices {
      let returns = send.toldRecords[index].returns
      if state.records.settle(send.toldRecords[index].id, returns: returns) == .nothing {
        note(.removeRecord(send.toldRecords[index].id), now: now)
      }
    }
    send.toldZones = []
    send.toldRecords = []
  }

  /// The app will hold records of zones whose feed was never read.
  ///
  /// Their first reading must say what is gone, for the server tells of no deletion before it.
  /// Before the app is told: after a crash in between it holds them all the same.
  private mutating func noteUnreadZones(_ saved: [ItemResult<RecordID, Record>], now: Moment) {
    var last: ZoneID?
    for index in saved.indices where saved[index].id.zone != last && saved[index].isOnServer {
      last = saved[index].id.zone
      let zone = state.resolved(saved[index].id.zone)
      guard state.zoneTokens[zone] == nil, !state.expiredZones.contains(zone) else { continue }
      record(.setZoneExpired(zone, true), now: now)
    }
  }

  /// A zone we deleted has no feed to go on reading; one of the same name starts over, for the app
  /// may hold records that it was given after it asked for the deletion.
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
      // Too much at once: half of it may pass. Nothing is settled, so the app hears nothing.
      let halves = batch.halves
      send.parts.insert(contentsOf: [halves.0, halves.1], at: 0)
      send.step = .deliveringRecords
      return enter(.sending(send))
    case .failure(let error):
      send.failure = OperationFailure(error)
      sent = Self.allFailed(batch, error)
    }
    send.toldRecords.reserveCapacity(
      send.toldRecords.count + sent.saved.count + sent.deleted.count)
    for index in sent.saved.indices {
      if case .success = sent.saved[index].outcome {
        send.toldRecords.append(ToldRecord(id: sent.saved[index].id, returns: false))
        continue
      }
      noteRecord(&send, sent.saved[index].id, sent.saved[index].error, now: now)
    }
    noteUnreadZones(sent.saved, now: now)
    for result in sent.deleted { noteRecord(&send, result.id, result.error, now: now) }
    // Where something was done, what was refused beside it failed for the first time: a device that
    // often meets conflicts must not slow down from one to the next.
    if sent.isPartlyDone { schedule.sendFailures = 0 }
    outbox.append(.sentRecordChanges(sent))
    send.step = .deliveringRecords
    enter(.sending(send))
  }

  private mutating func noteRecord(
    _ send: inout Send, _ id: RecordID, _ error: CloudError?, now: Moment
  ) {
    let returns = note(&send, error, now: now)
    if let error { send.failure?.records[id] = error }
    send.toldRecords.append(ToldRecord(id: id, returns: returns))
  }

  /// Takes an item's error into the operation's; answers whether the item is to be tried again.
  private mutating func note(_ send: inout Send, _ error: CloudError?, now: Moment) -> Bool {
    guard let error else { return false }
    honour(error, now: now)
    if send.failure == nil {
      send.failure = OperationFailure(
        CloudError(.partialFailure, "Some changes could not be sent; see each item's error."))
    }
    let isForgotten =
      plantedBugs.contains(.dropOnServiceUnavailable) && error.code == .serviceUnavailable
    let returns = error.code.disposition == .retry && !isForgotten
    if returns { send.hasRetries = true }
    return returns
  }

  // MARK: Closing

  private mutating func close(_ send: inout Send) -> Advance {
    send.step = .closing
    outbox.append(.didSendChanges(send.context))
    enter(.sending(send))
    return .again
  }

  private mutating func end(_ send: Send, now: Moment) {
    var send = send
    settleTold(&send, now: now)
    returnUnsettled()
    history.note(.sending, send.failure?.error.code, now)
    finished.append((send.waiters, send.failure.map(OperationOutcome.failure) ?? .success))
    enter(.resting)
    isUpdateUrgent = true
    guard configuration.automaticallySync else { return }
    guard send.failure != nil else {
      // A narrow send by hand took the place of the one that was due, and left changes to it.
      if send.context.reason == .manual { scheduleSend(at: now + configuration.sendDelay) }
      return
    }
    if !state.needsFetch { record(.setNeedsFetch(true), now: now) }
    guard hasChangesToSend else { return }
    schedule.sendFailures += 1
    schedule.note(.send, isOfNetwork: send.failure?.isOfNetwork ?? false)
    // What the app put right while it was told goes out at once the first time; a failure that
    // comes back every time slows down like any other.
    let isFirst = schedule.sendFailures == 1 && !send.hasRetries
    let delay =
      isFirst
      ? configuration.sendDelay
      : configuration.backoff.delay(afterFailures: schedule.sendFailures, jitter: lastJitter)
    schedule.sendDue = now + delay
  }

  // MARK: Answers made whole

  /// One result for each item asked for; an item the server left out counts as failed.
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
    CloudError(.serverResponseLost, "The server said nothing of this item; it is sent again.")
  }

  private static func allFailed(_ batch: RecordBatch, _ error: CloudError) -> SentRecords {
    SentRecords(
      saved: batch.saves.map { ItemResult(id: $0.id, .failure(error)) },
      deleted: batch.deletions.map { ItemResult(id: $0, .failure(error)) })
  }

  private static func allFailed(_ zones: ModifyZones, _ error: CloudError) -> SentZones {
    SentZones(
      saved: zones.save.map { ItemResult(id: $0, .failure(error)) },
      deleted: zones.delete.map { ItemResult(id: $0, .failure(error)) })
  }
}

extension ItemResult where Value == Record {
  /// Whether the app knows a version of the server's after it is told.
  fileprivate var isOnServer: Bool {
    switch outcome {
    case .success: true
    case .failure(let error): error.code == .serverRecordChanged
    }
  }
}
