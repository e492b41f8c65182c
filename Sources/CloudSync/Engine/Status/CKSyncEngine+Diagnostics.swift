import SyncMachine
import Synchronization

extension CKSyncEngine {
  /// A diagnostic report for bug reports: the status of the engine, the size of its state, and
  /// errors.
  ///
  /// It contains kinds, numbers and times only: no names of records, zones, containers or accounts,
  /// no tokens, no error messages and no record content. Not in CloudKit.
  public var diagnostics: String {
    let status = status
    let (stage, state) = driver.core.withLock { ($0.machine.stage, $0.machine.state.snapshot) }
    var lines = [
      "CKSyncEngine diagnostics, format 1",
      "time: \(status.time.roundedSeconds) s since the engine began",
      "database scope: \(database.databaseScope)",
      "stage: \(stage.rawValue)",
      "status: \(status.description)",
      "last fetch: \(Self.text(status.lastFetch))",
      "last send: \(Self.text(status.lastSend))",
    ]
    if let failure = status.lastFailure {
      lines.append(
        "last failure: \(failure.code) while \(failure.activity.rawValue), "
          + Self.text(failure.time))
    } else {
      lines.append("last failure: none")
    }
    lines += [
      "account: \(state.user == nil ? "none" : "known")",
      "account change not fully delivered: \(state.unannounced != nil)",
      "database token: \(state.databaseToken == nil ? "none" : "known")",
      "zones with a token: \(state.zoneTokens.count)",
      "zones with unfetched changes: \(state.changedZones.count)",
      "zones to read from the start: \(state.expiredZones.count)",
      "fetch due before the next send: \(state.needsFetch)",
      "unlisted changes of the app: \(state.hasUntrackedChanges)",
      "subscription: \(state.subscription == nil ? "none" : "known")",
      "state store: \(stateStoreText)",
    ]
    return lines.map { $0 + "\n" }.joined()
  }

  private var stateStoreText: String {
    if let error = stateStoreError { return "failed with \(type(of: error))" }
    return driver.core.withLock { $0.journal != nil } ? "in use" : "none"
  }

  private static func text(_ time: Duration?) -> String {
    time.map { "\($0.roundedSeconds) s" } ?? "none"
  }
}
