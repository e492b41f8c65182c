import Foundation
import SyncMachine
import Synchronization

extension EngineDriver {
  /// The current status.
  var status: CKSyncEngine.Status {
    let now = clock.now()
    return CKSyncEngine.Status(core.withLock { $0.machine.status(now: now) }, at: now)
  }

  /// A stream with a signal at once and one after each possible change of the machine.
  func statusSignals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = UUID()
    let isAdded = statusObservers.withLock { observers in
      observers?[id] = continuation
      return observers != nil
    }
    continuation.yield()
    guard isAdded else {
      continuation.finish()
      return stream
    }
    isObserved.store(true, ordering: .releasing)
    continuation.onTermination = { [weak self] _ in
      self?.statusObservers.withLock { _ = $0?.removeValue(forKey: id) }
    }
    return stream
  }

  /// Signals a possible change to the observers; inexpensive if there never was one.
  func signalStatus() {
    guard isObserved.load(ordering: .acquiring) else { return }
    for continuation in (statusObservers.withLock { $0 } ?? [:]).values { continuation.yield() }
  }

  /// Ends all status sequences.
  func endStatus() {
    for continuation in (statusObservers.withLock { $0.take() } ?? [:]).values {
      continuation.yield()
      continuation.finish()
    }
  }
}

extension CKSyncEngine.Status {
  init(_ status: SyncStatus, at now: Moment) {
    time = now.sinceStart
    activity = Activity(status.phase)
    waiting = status.wait.map {
      Waiting(reason: Waiting.Reason($0.reason), until: $0.until?.sinceStart)
    }
    progress = status.progress.map { progress in
      Progress(
        completedRecordCount: progress.doneRecords,
        totalRecordCount: progress.remainingRecords.map { $0 + progress.doneRecords },
        completedZoneCount: progress.doneZones,
        totalZoneCount: progress.doneZones + progress.remainingZones)
    }
    pendingRecordZoneChangeCount = status.pendingRecords
    pendingDatabaseChangeCount = status.pendingZones
    inFlightChangeCount = status.recordsInFlight + status.zonesInFlight
    lastFetch = status.lastFetch?.sinceStart
    lastSend = status.lastSend?.sinceStart
    lastFailure = status.lastFailure.map {
      Failure(
        code: $0.code, activity: Activity($0.phase), time: $0.moment.sinceStart)
    }
  }
}

extension CKSyncEngine.Status.Activity {
  init(_ phase: SyncStatus.Phase) {
    switch phase {
    case .starting: self = .starting
    case .idle: self = .idle
    case .checkingAccount: self = .checkingAccount
    case .fetching: self = .fetching
    case .sending: self = .sending
    case .stopped: self = .stopped
    }
  }
}

extension CKSyncEngine.Status.Waiting.Reason {
  init(_ reason: SyncStatus.Reason) {
    switch reason {
    case .noAccount: self = .noAccount
    case .accountUnknown: self = .accountUnknown
    case .serverAsked: self = .serverAsked
    case .retry: self = .retry
    case .gathering: self = .gathering
    }
  }
}
