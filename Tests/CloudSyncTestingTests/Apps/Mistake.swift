import CloudSyncTesting
import Synchronization

/// A mistake that delegates make, as a way to misread one event.
enum Mistake: String, CaseIterable {
  case forgetsBatchFailures, forgetsOtherFailures, forgetsWhatDoesNotFit, forgetsFailedDeletions
  case forgetsPermanentFailures
  case overlooksConflicts, overlooksFetchedDeletions, overlooksAccountChanges
  case takesSwitchForSignIn, overlooksRemovedZones, takesRemovalForReset, takesResetForRemoval
  case overlooksThatAZoneStartsOver

  /// The defect that it causes.
  var defect: DelegateDefect {
    switch self {
    case .forgetsBatchFailures: .batchFailuresNotQueuedAgain
    case .forgetsOtherFailures: .otherFailuresIgnored
    case .forgetsPermanentFailures: .permanentFailuresIgnored
    case .forgetsWhatDoesNotFit: .quotaDropsEdits
    case .forgetsFailedDeletions: .failedDeletionsIgnored
    case .overlooksConflicts: .conflictsDoNotConverge
    case .overlooksFetchedDeletions: .fetchedDeletionsIgnored
    case .overlooksAccountChanges: .accountSwitchKeepsData
    case .takesSwitchForSignIn: .accountSwitchUploadsData
    case .overlooksRemovedZones: .removedZoneKeepsData
    case .takesRemovalForReset: .removedZoneUploadedAgain
    case .takesResetForRemoval: .encryptedDataResetLosesData
    case .overlooksThatAZoneStartsOver: .expiredTokenKeepsDeletedItems
    }
  }

  /// The case that reports it.
  var revealing: ConformanceCase {
    switch self {
    case .forgetsBatchFailures, .forgetsOtherFailures, .forgetsPermanentFailures: .refusedSaves
    case .forgetsWhatDoesNotFit: .fullStorage
    case .forgetsFailedDeletions: .refusedDeletions
    case .overlooksConflicts: .conflicts
    case .overlooksFetchedDeletions: .goodDay
    case .overlooksAccountChanges, .takesSwitchForSignIn: .accounts
    case .overlooksRemovedZones, .takesRemovalForReset: .removedZones
    case .takesResetForRemoval: .encryptedDataReset
    case .overlooksThatAZoneStartsOver: .expiredTokens
    }
  }

  /// The event as it is misread; `nil` when it is overlooked.
  func misread(
    _ event: CKSyncEngine.Event, pending: [CKSyncEngine.PendingRecordZoneChange]
  ) -> CKSyncEngine.Event? {
    switch event {
    case .sentRecordZoneChanges(let sent): .sentRecordZoneChanges(misread(sent))
    case .fetchedRecordZoneChanges(let changes) where self == .overlooksFetchedDeletions:
      .fetchedRecordZoneChanges(.init(modifications: changes.modifications))
    case .fetchedRecordZoneChanges(let changes) where self == .overlooksConflicts:
      .fetchedRecordZoneChanges(
        .init(
          modifications: changes.modifications.filter {
            !pending.contains(.saveRecord($0.record.recordID))
          }, deletions: changes.deletions))
    case .accountChange where self == .overlooksAccountChanges: nil
    case .accountChange(let change) where self == .takesSwitchForSignIn:
      switch change.changeType {
      case .switchAccounts(let old, _): .accountChange(.init(changeType: .signIn(currentUser: old)))
      case .signIn, .signOut: event
      }
    case .fetchedDatabaseChanges(let changes):
      .fetchedDatabaseChanges(
        .init(
          modifications: changes.modifications, deletions: changes.deletions.compactMap(misread)))
    case .willFetchRecordZoneChanges(let start) where self == .overlooksThatAZoneStartsOver:
      .willFetchRecordZoneChanges(.init(zoneID: start.zoneID))
    default: event
    }
  }

  private func misread(
    _ deletion: CKDatabase.DatabaseChange.Deletion
  ) -> CKDatabase.DatabaseChange.Deletion? {
    switch (self, deletion.reason) {
    case (.overlooksRemovedZones, _): nil
    case (.takesRemovalForReset, .deleted), (.takesRemovalForReset, .purged):
      .init(zoneID: deletion.zoneID, reason: .encryptedDataReset)
    case (.takesResetForRemoval, .encryptedDataReset):
      .init(zoneID: deletion.zoneID, reason: .deleted)
    default: deletion
    }
  }

  /// Failed changes that are not handled count as done.
  private func misread(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges
  ) -> CKSyncEngine.Event.SentRecordZoneChanges {
    let isForgotten = { (code: CKError.Code) in
      switch self {
      case .forgetsBatchFailures: code == .batchRequestFailed
      case .forgetsOtherFailures: code == .limitExceeded || code == .internalError
      case .forgetsPermanentFailures: code == .permissionFailure || code == .invalidArguments
      case .forgetsWhatDoesNotFit: code == .quotaExceeded
      case .overlooksConflicts: code == .serverRecordChanged
      default: false
      }
    }
    let forgotten = sent.failedRecordSaves.filter { isForgotten($0.error.code) }
    let forgetsDeletions = self == .forgetsFailedDeletions
    return .init(
      savedRecords: sent.savedRecords + forgotten.map(\.record),
      failedRecordSaves: sent.failedRecordSaves.filter { !isForgotten($0.error.code) },
      deletedRecordIDs: sent.deletedRecordIDs
        + (forgetsDeletions ? Array(sent.failedRecordDeletes.keys) : []),
      failedRecordDeletes: forgetsDeletions ? [:] : sent.failedRecordDeletes)
  }
}

/// A delegate that makes one mistake and passes everything else on to a good one.
final class MistakenDelegate: CKSyncEngineDelegate {
  private let delegate: any CKSyncEngineDelegate
  private let mistake: Mistake

  init(_ delegate: any CKSyncEngineDelegate, _ mistake: Mistake) {
    self.delegate = delegate
    self.mistake = mistake
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let pending = syncEngine.state.pendingRecordZoneChanges
    guard let event = mistake.misread(event, pending: pending) else { return }
    await delegate.handleEvent(event, syncEngine: syncEngine)
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await delegate.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
  }
}
