public import CloudSync
import Foundation
import Synchronization

extension RecordSync: CKSyncEngineDelegate {
  /// How often in a row a change that fits no request is sent again.
  private static let mostAttempts = 3

  /// How many state updates may wait for the end of a long fetch or send.
  private static let mostPutOff = 16

  /// Takes one event; events of an engine that was let go are ignored.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard state.withLock({ $0.engine === syncEngine }) else { return }
    take(event, syncEngine.state)
  }

  /// Builds the next batch from the keeper's items as they are now.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard state.withLock({ $0.engine === syncEngine }) else { return nil }
    return await batch(context.options.scope, syncEngine.state)
  }

  /// The next batch in `scope`, or `nil` when there is nothing to send.
  func batch(
    _ scope: CKSyncEngine.SendChangesOptions.Scope, _ list: any PendingChangeList
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard let keeper else { return nil }
    let record: @Sendable (CKRecord.ID) -> CKRecord? = { id in
      if let record = keeper.record(id, in: self.scope) { return record }
      list.remove(pendingRecordZoneChanges: [.saveRecord(id)])
      // An edit may have come between the question and the removal; it must not be lost.
      if keeper.isUnsent(id, in: self.scope) {
        list.add(pendingRecordZoneChanges: [.saveRecord(id)])
      }
      return nil
    }
    while let group = keeper.nextGroup(in: scope) {
      guard !group.isEmpty else { return nil }
      let batch = await CKSyncEngine.RecordZoneChangeBatch(
        pendingChanges: group, recordProvider: record)
      guard let batch else { continue }
      keeper.willSend(batch, of: group)
      return batch
    }
    return await list.nextBatch(in: scope, record: record)
  }

  func take(_ event: CKSyncEngine.Event, _ list: any PendingChangeList) {
    switch event {
    case .stateUpdate(let update):
      // Every write replaces whole files, so a fetch of 10,000 records writes them now and then
      // and not for each of its pages. A crash in between costs a repetition, never a change.
      let isDue = state.withLock { state in
        state.unsavedState = update.stateSerialization
        state.putOff += 1
        return state.operations == 0 || state.putOff >= Self.mostPutOff
      }
      if isDue { writeDownOrTell() }
    case .accountChange(let change):
      accountChanged(change.changeType, list)
    case .fetchedDatabaseChanges(let changes):
      deliver(
        changes.deletions.map { .zoneGone($0.zoneID, $0.reason) }
          + changes.modifications.map { .zoneExists($0.zoneID) }, list)
    case .fetchedRecordZoneChanges(let changes):
      state.withLock { state in
        for id in changes.modifications.map(\.record.recordID) {
          state.sweeps[id.zoneID]?.insert(id)
        }
        for id in changes.deletions.map(\.recordID) { state.sweeps[id.zoneID]?.remove(id) }
      }
      deliver(
        changes.modifications.map { .fetched($0.record) }
          + changes.deletions.map { .removed($0.recordID, type: $0.recordType) }, list)
    case .sentDatabaseChanges(let sent): zonesSent(sent, list)
    case .sentRecordZoneChanges(let sent): recordsSent(sent, list)
    case .willFetchChanges, .willSendChanges:
      state.withLock { $0.operations += 1 }
    case .didFetchChanges, .didSendChanges:
      state.withLock { $0.operations = max(0, $0.operations - 1) }
      writeDownOrTell()
    case .willFetchRecordZoneChanges(let fetch):
      state.withLock { $0.sweeps[fetch.zoneID] = fetch.readsWholeZone ? [] : nil }
    case .didFetchRecordZoneChanges(let fetch):
      let seen = state.withLock { $0.sweeps.removeValue(forKey: fetch.zoneID) }
      if let seen, fetch.error == nil { deliver([.zoneRead(fetch.zoneID, holds: seen)], list) }
    }
  }

  private func deliver(_ news: [RecordNews], _ list: any PendingChangeList) {
    guard !news.isEmpty, let keeper else { return }
    wish(keeper.take(news, in: scope), list)
    writeDownUnlessBusy()
  }

  private func accountChanged(
    _ change: CKSyncEngine.Event.AccountChange.ChangeType, _ list: any PendingChangeList
  ) {
    guard let keeper else { return }
    let news: RecordNews
    switch change {
    case .signIn(let user): news = .signedIn(user)
    case .signOut: news = .signedOut
    case .switchAccounts(_, let user): news = .switched(to: user)
    }
    guard case .signedIn = news else { return accountIsGone(news, keeper, list) }
    wish(keeper.take([news], in: scope), list)
    writeDownOrTell()
  }

  private func accountIsGone(
    _ news: RecordNews, _ keeper: any RecordKeeper, _ list: any PendingChangeList
  ) {
    resetAccount()
    wish(keeper.take([news], in: scope), list)
    do {
      try forgetState()
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func writeDownUnlessBusy() {
    if state.withLock({ $0.operations == 0 }) { writeDownOrTell() }
  }

  private func zonesSent(
    _ sent: CKSyncEngine.Event.SentDatabaseChanges, _ list: any PendingChangeList
  ) {
    for zone in sent.savedZones {
      state.withLock { $0.activity.solve(zone.zoneID.zoneName) }
    }
    let failures =
      sent.failedZoneSaves.map { ($0.zone.zoneID, $0.error) }
      + sent.failedZoneDeletes.map { ($0.key, $0.value) }
    for (zone, error) in failures.sorted(by: { $0.0.zoneName < $1.0.zoneName }) {
      switch FailedChange.ofSave(error.code) {
      case .isRetried: break
      case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .sendAgain,
        .sendAgainAFewTimes, .keepForLater, .isDone, .tell:
        tell(zone.zoneName, code: error.code.rawValue, words(error))
      }
    }
    deliver(
      sent.savedZones.map { .zoneExists($0.zoneID) }
        + sent.failedZoneSaves.map { .zoneRefused($0.zone.zoneID, $0.error) }, list)
  }

  private func recordsSent(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ list: any PendingChangeList
  ) {
    var news: [RecordNews] = sent.savedRecords.map { .saved($0) }
    news += sent.deletedRecordIDs.map { .deleted($0) }
    var again: [RecordWish] = []
    var zones: Set<CKRecordZone.ID> = []
    for failure in sent.failedRecordSaves {
      saveFailed(failure.record.recordID, failure.error, &news, &again, &zones)
    }
    // The dictionary's order differs in every process; what is done must not.
    for (id, error) in sent.failedRecordDeletes.sorted(by: { $0.key.recordName < $1.key.recordName }
    ) {
      deletionFailed(id, error, &news, &again)
    }
    let isFull = state.withLock { state in
      state.activity.saved += sent.savedRecords.count
      state.activity.deleted += sent.deletedRecordIDs.count
      state.activity.sentAgain += again.count
      return state.activity.problems.contains { $0.code == CKError.Code.quotaExceeded.rawValue }
    }
    forgetFailures(
      of: news.compactMap { item in
        switch item {
        case .saved(let record): record.recordID
        case .deleted(let id): id
        case .signedIn, .signedOut, .switched, .zoneGone, .zoneExists, .zoneRefused,
          .zoneMissing, .zonePurged, .zoneRead, .fetched, .removed, .conflict, .vanished,
          .postponed, .refused:
          nil
        }
      })
    deliver(news, list)
    wish(again, list)
    if isFull && !sent.deletedRecordIDs.isEmpty { sendEverythingAgain(list) }
  }

  /// Adds everything again that was kept until there is space.
  private func sendEverythingAgain(_ list: any PendingChangeList) {
    state.withLock { $0.attempts = [:] }
    do {
      wish(try keeper?.everythingUnsent(in: scope) ?? [], list)
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func saveFailed(
    _ id: CKRecord.ID, _ error: CKError, _ news: inout [RecordNews], _ again: inout [RecordWish],
    _ zones: inout Set<CKRecordZone.ID>
  ) {
    switch FailedChange.ofSave(error.code) {
    case .isRetried: news.append(.postponed(id, error))
    case .bringTogether:
      if let theirs = error.serverRecord {
        news.append(.conflict(theirs))
      } else {
        // Without the other version there is nothing to compare; the next fetch brings it.
        news.append(.postponed(id, error))
        again.append(.save(id))
      }
    case .createZone:
      guard zones.insert(id.zoneID).inserted else { return }
      let isReset = error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true
      news.append(
        scope == .shared
          ? .zoneGone(id.zoneID, .deleted)
          : isReset ? .zoneGone(id.zoneID, .encryptedDataReset) : .zoneMissing(id.zoneID))
    case .zoneWasPurged:
      guard zones.insert(id.zoneID).inserted else { return }
      news.append(.zonePurged(id.zoneID))
    case .recordIsGone: news.append(.vanished(id))
    case .sendAgain: again.append(.save(id))
    case .sendAgainAFewTimes: fewTimes(.save(id), id, error, &news, &again)
    case .keepForLater, .isDone, .tell: refuse(id, error, &news)
    }
  }

  private func deletionFailed(
    _ id: CKRecord.ID, _ error: CKError, _ news: inout [RecordNews], _ again: inout [RecordWish]
  ) {
    switch FailedChange.ofDeletion(error.code) {
    case .isRetried: news.append(.postponed(id, error))
    case .isDone: news.append(.deleted(id))
    case .sendAgain: again.append(.delete(id))
    case .sendAgainAFewTimes: fewTimes(.delete(id), id, error, &news, &again)
    case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .keepForLater, .tell:
      refuse(id, error, &news)
    }
  }

  private func fewTimes(
    _ wish: RecordWish, _ id: CKRecord.ID, _ error: CKError, _ news: inout [RecordNews],
    _ again: inout [RecordWish]
  ) {
    let attempts = state.withLock { state in
      state.attempts[id, default: 0] += 1
      return state.attempts[id, default: 0]
    }
    guard attempts <= Self.mostAttempts else { return refuse(id, error, &news) }
    news.append(.postponed(id, error))
    again.append(wish)
  }

  private func refuse(_ id: CKRecord.ID, _ error: CKError, _ news: inout [RecordNews]) {
    tell(id.recordName, code: error.code.rawValue, words(error))
    news.append(.refused(id, error))
  }

  private func words(_ error: CKError) -> String {
    if let message = keeper?.message(for: error) { return message }
    return switch error.code {
    case .quotaExceeded where scope == .shared:
      "The iCloud storage of whoever shares this is full. The change stays on this device."
    case .limitExceeded:
      "The item is too large for the cloud. It stays on this device; make it smaller to sync it."
    case .permissionFailure: "The account may not change this. The change stays on this device."
    default:
      SyncFailure(error.code, isRetrying: false, detail: error.localizedDescription).message
        ?? "The cloud refused the change. It stays on this device."
    }
  }
}
