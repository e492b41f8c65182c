import SyncMachine
import Synchronization

/// The observers of an engine's status.
struct StatusObservers: Sendable {
  private var continuations: [UInt64: AsyncStream<Void>.Continuation] = [:]
  private var lastNumber: UInt64 = 0
  private var hasEnded = false

  /// Adds an observer; returns `nil` when the engine has stopped.
  mutating func add(_ continuation: AsyncStream<Void>.Continuation) -> UInt64? {
    guard !hasEnded else { return nil }
    lastNumber += 1
    continuations[lastNumber] = continuation
    return lastNumber
  }

  mutating func remove(_ number: UInt64) { continuations[number] = nil }

  /// All observers.
  var all: [AsyncStream<Void>.Continuation] { Array(continuations.values) }

  /// All observers, which are removed.
  mutating func end() -> [AsyncStream<Void>.Continuation] {
    defer { continuations = [:] }
    hasEnded = true
    return all
  }
}

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
    let number = statusObservers.withLock { $0.add(continuation) }
    continuation.yield()
    guard let number else {
      continuation.finish()
      return stream
    }
    isObserved.store(true, ordering: .releasing)
    continuation.onTermination = { [weak self] _ in
      self?.statusObservers.withLock { $0.remove(number) }
    }
    return stream
  }

  /// Signals a possible change to the observers; inexpensive if there never was one.
  func signalStatus() {
    guard isObserved.load(ordering: .acquiring) else { return }
    for continuation in statusObservers.withLock({ $0.all }) { continuation.yield() }
  }

  /// Ends all status sequences.
  func endStatus() {
    for continuation in statusObservers.withLock({ $0.end() }) {
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
