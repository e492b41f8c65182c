import CloudSync
import Foundation
import SyncSupport

extension StoreCore {
  /// Follows a sign-in.
  func signedIn(_ user: CKRecord.ID, _ state: inout State) {
    // An engine without state says this at every first start, so it may be nobody new at all.
    if let owner = state.settings.owner, owner != user.recordName { forgetAccount(&state) }
    if state.settings.owner == nil { forgetWhatAnUnknownCloudKnows(&state) }
    changeSettings(&state) { $0.owner = user.recordName }
    // A pass under way goes on with this account: its operations have waited for the answer.
    if !state.isPassing { ask(Wants(fetch: true, isFresh: true), &state) }
    state.tell()
  }

  /// Follows a sign-out.
  func signedOut(_ state: inout State) {
    forgetAccount(&state)
    state.syncState = .offline
    state.offlineMessage = SyncFailure(.notAuthenticated, isRetrying: false).message
    state.tell()
  }

  /// Follows a change of the account.
  func switched(to user: CKRecord.ID, _ state: inout State) {
    forgetAccount(&state)
    state.syncState = .syncing
    changeSettings(&state) { $0.owner = user.recordName }
    ask(Wants(fetch: true, isFresh: true), &state)
    state.tell()
  }

  /// Removes everything of the account that was, at once.
  ///
  /// The owner's name goes last: whatever
  /// moment a crash picks, the next start still sees that foreign data lies here.
  private func forgetAccount(_ state: inout State) {
    forgetEverything(&state)
    forgetEngineState(&state)
    state.hasFetched = false
    state.hasSubscribed = false
    state.conflicts = 0
    state.log = []
    changeSettings(&state) { $0 = ResultSettings() }
    attempt(&state) { _ in try settingsFile.file.removeCopies() }
    log(.info, "The account changed; everything of the old one was removed.", &state)
  }

  /// Without an owner's name nobody can say whose the results are that a cloud has.
  ///
  /// They go, and come back if they are this account's. What no cloud has seen stays, and is
  /// uploaded.
  private func forgetWhatAnUnknownCloudKnows(_ state: inout State) {
    guard !state.metadata.isEmpty else { return }
    for id in state.library.ids(where: { state.metadata.contains(ResultRecord.recordID($0)) }) {
      state.library[id] = nil
      state.queue.drop(id)
    }
    attempt(&state) { try $0.metadata.clear() }
    persist(&state)
  }

  /// Notes that the zone is there.
  func zoneExists(_ state: inout State) {
    state.isZoneLost = false
    state.report.settle()
    changeSettings(&state) {
      $0.hasZone = true
      $0.wasZoneRemoved = false
    }
  }

  /// Follows a save that found no zone.
  ///
  /// If nothing ever was in it, it is made now. If something was, a fetch has to tell first why it
  /// went: what another device deleted must not come back.
  func zoneIsMissing(_ state: inout State) -> [RecordWish] {
    guard !state.metadata.isEmpty, state.settings.hasZone else { return createZone(&state) }
    state.isZoneLost = true
    state.report.needsFetch = true
    return []
  }

  /// Follows a save that found the zone purged.
  func zonePurged(_ state: inout State) -> [RecordWish] {
    if !state.metadata.isEmpty, state.settings.hasZone { return zoneDisappeared(.purged, &state) }
    // The purge was obeyed before; what waits was made since.
    return state.queue.isEmpty ? [] : createZone(&state)
  }

  private func createZone(_ state: inout State) -> [RecordWish] {
    changeSettings(&state) { $0.hasZone = false }
    return [.saveZone(ResultRecord.zoneID)]
  }

  /// Follows the loss of the zone.
  func zoneDisappeared(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ state: inout State
  ) -> [RecordWish] {
    state.hasSubscribed = false
    state.isZoneLost = false
    forgetEngineState(&state)
    switch reason {
    case .deleted, .purged:
      // Somebody wanted the results gone: they go here too, and nothing is sent again.
      let known = Set(state.library.ids() + state.queue.entries.map(\.id))
      forgetEverything(&state)
      changeSettings(&state) {
        $0.hasZone = false
        $0.wasZoneRemoved = true
      }
      log(.warning, "The results were removed in the cloud (\(reason)), and here too.", &state)
      return [.dropZone(ResultRecord.zoneID)] + known.map { .drop(ResultRecord.recordID($0)) }
    case .encryptedDataReset:
      // The cloud lost its keys, not the person their results: this device has them all.
      let wishes = uploadEverythingAgain(&state)
      log(.warning, "The account's encrypted data was reset; all results are sent anew.", &state)
      return wishes
    }
  }

  /// Creates the zone and sends every result: no tag of a zone that is gone can be right.
  func uploadEverythingAgain(_ state: inout State) -> [RecordWish] {
    attempt(&state) { try $0.metadata.clear() }
    for id in state.library.ids(where: { state.queue[$0]?.change != .save }) {
      state.queue.put(.save, id)
    }
    state.offered = [:]
    state.isZoneLost = false
    let zone = createZone(&state)
    persist(&state)
    return zone + state.queue.entries.map { RecordWish($0.pendingChange) }
  }
}
