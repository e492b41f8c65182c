import CloudProtocol
import Records

/// The status of the machine.
extension SyncMachine {
  /// The status at `now`; its cost does not depend on the number of pending changes.
  package func status(now: Moment) -> SyncStatus {
    SyncStatus(
      phase: phase, wait: wait(now: now), pendingRecords: state.records.count,
      pendingZones: state.zones.count, recordsInFlight: state.records.inFlightCount,
      zonesInFlight: state.zones.inFlightCount, progress: progress, lastFetch: history.lastFetch,
      lastSend: history.lastSend, lastFailure: history.lastFailure)
  }

  private var phase: SyncStatus.Phase {
    switch activity {
    case .created: .starting
    case .resting: .idle
    case .checkingAccount: .checkingAccount
    case .fetching: .fetching
    case .sending: .sending
    case .stopped: .stopped
    }
  }

  private var progress: SyncStatus.Progress? {
    switch activity {
    case .created, .resting, .checkingAccount, .stopped: return nil
    case .fetching(let fetch):
      let isInScope = state.resolved(fetch.options.scope).membership
      let remaining = state.changedZones.count {
        isInScope($0) && !fetch.finishedZones.contains($0)
      }
      return SyncStatus.Progress(
        doneRecords: fetch.recordCount, remainingRecords: nil,
        doneZones: fetch.finishedZones.count, remainingZones: remaining)
    case .sending(let send):
      return SyncStatus.Progress(
        doneRecords: send.recordCount,
        remainingRecords: state.records.pendingCount(in: send.context.scope)
          + state.records.inFlightCount,
        doneZones: send.zoneCount, remainingZones: state.zones.count + state.zones.inFlightCount)
    }
  }

  private func wait(now: Moment) -> SyncStatus.Wait? {
    guard case .resting = activity else { return nil }
    switch account.knowledge {
    case .unavailable: return SyncStatus.Wait(reason: .noAccount, until: nil)
    case .unknown(nil): return nil
    case .unknown:
      return SyncStatus.Wait(
        reason: .accountUnknown, until: schedule.gated(schedule.accountDue))
    case .signedIn: break
    }
    let needsFetchFirst = state.needsFetch && schedule.fetchDue != nil
    let due = [schedule.fetchDue, needsFetchFirst ? nil : schedule.sendDue].compactMap { $0 }.min()
    guard configuration.automaticallySync, let due else {
      guard let gate = schedule.notBefore, gate > now else { return nil }
      return SyncStatus.Wait(reason: .serverAsked, until: gate)
    }
    if let gate = schedule.notBefore, gate > max(now, due) {
      return SyncStatus.Wait(reason: .serverAsked, until: gate)
    }
    guard due > now else { return nil }
    let failures =
      due == schedule.fetchDue
      ? schedule.fetchFailures + schedule.subscriptionFailures : schedule.sendFailures
    return SyncStatus.Wait(reason: failures > 0 ? .retry : .gathering, until: due)
  }
}
