public import CloudSync
import Foundation
import Synchronization

extension RecordSync {
  /// Fetches, then sends, until nothing is left to do: one pass of "sync now".
  ///
  /// One round is not always enough: a conflict is found by sending, settled by the keeper, and
  /// sent again in the next round.
  ///
  /// - Parameter rounds: the most rounds; enough for every conflict to be settled more than once.
  /// - Throws: `CKError` that stands in the way, ``SyncPassError`` when changes are left.
  public func sync(rounds: Int = 12) async throws {
    let failure: CKError?
    do {
      failure = try await run(rounds)
    } catch let error as CKError {
      throw error.leading
    }
    try writeDown()
    if let problem = activity.problems.first, let code = CKError.Code(rawValue: problem.code),
      problem.code != 0
    {
      throw SyncFailure(code, isRetrying: false, detail: problem.message)
    }
    try checkNothingIsLeft()
    if let failure { throw failure.leading }
  }

  /// Fetches and sends until nothing is left to do.
  ///
  /// After a round that sent something one more fetch follows, so that this device's place in the
  /// zone's history is known from now on.
  ///
  /// - Returns: the failure of the last round, if some of its changes were refused.
  /// - Throws: `CKError` that passes by itself, so that trying again now is no use.
  func run(_ rounds: Int) async throws -> CKError? {
    guard isRunning, let keeper else { throw SyncPassError.isOff }
    forgetFailures()
    wish(try keeper.everythingUnsent(in: scope))
    var failure: CKError?
    for _ in 0..<rounds {
      let sentBefore = sentCount
      failure = nil
      do {
        try await fetchChanges()
        try await sendChanges()
      } catch let error as CKError {
        if error.passes { throw error }
        failure = error
      }
      if failure == nil && pendingCount == 0 && sentCount == sentBefore { break }
    }
    return failure
  }

  /// Fetches what is new.
  ///
  /// - Throws: the engine's `CKError`, or `SyncPassError.isOff`.
  public func fetchChanges() async throws {
    guard let engine = state.withLock({ $0.engine }) else { throw SyncPassError.isOff }
    try await engine.fetchChanges()
  }

  /// Sends what is pending.
  ///
  /// - Throws: the engine's `CKError`, or `SyncPassError.isOff`.
  public func sendChanges() async throws {
    guard let engine = state.withLock({ $0.engine }) else { throw SyncPassError.isOff }
    try await engine.sendChanges()
  }

  /// Throws ``SyncPassError`` when the keeper has unsent changes.
  func checkNothingIsLeft() throws {
    let left = try keeper?.everythingUnsent(in: scope).count ?? 0
    if left > 0 { throw SyncPassError.changesLeft(left, reason: activity.problems.first?.message) }
  }

  /// Throws unless an account can be used, to be called before a pass of all `syncs`.
  ///
  /// Without an account everything of the old one is removed first, and the engines begin anew.
  ///
  /// - Throws: the `CKError` for the account's status, or `FileError`.
  public static func checkAccount(
    of container: CKContainer, _ syncs: [RecordSync]
  ) async throws {
    switch try await container.accountStatus() {
    case .available: return
    case .noAccount:
      // Before anything else: what belongs to somebody else must not be seen a moment longer.
      for sync in syncs {
        _ = sync.keeper?.take([.signedOut], in: sync.scope)
        try sync.stop()
        try sync.forgetState()
      }
      for sync in syncs { try sync.start() }
      throw CKError(.notAuthenticated)
    case .restricted: throw CKError(.managedAccountRestricted)
    case .temporarilyUnavailable: throw CKError(.accountTemporarilyUnavailable)
    case .couldNotDetermine: throw CKError(.networkUnavailable)
    @unknown default: throw CKError(.internalError)
    }
  }

  private var sentCount: Int { state.withLock { $0.activity.saved + $0.activity.deleted } }
}

extension CKError {
  /// Whether the error will pass by itself, so that the same request may succeed later.
  public var passes: Bool {
    guard code == .partialFailure, let items = partialErrorsByItemID, !items.isEmpty
    else { return FailedChange.ofSave(code) == .isRetried }
    return items.values.allSatisfy { item in
      (item as? CKError).map { FailedChange.ofSave($0.code) == .isRetried } ?? false
    }
  }

  /// The error itself, or of a partial failure the one item's error that is told of first.
  public var leading: CKError {
    guard code == .partialFailure, let items = partialErrorsByItemID else { return self }
    return items.values.compactMap { $0 as? CKError }
      .min { $0.code.rawValue < $1.code.rawValue } ?? self
  }
}

/// Why a sync pass did not finish.
public enum SyncPassError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Sync is turned off.
  case isOff
  /// So many changes are still to be sent, and the first reason there is.
  case changesLeft(Int, reason: String?)

  /// One sentence for people.
  public var description: String {
    switch self {
    case .isOff: "sync is off; turn it on first"
    case .changesLeft(let count, let reason):
      "\(count) \(count == 1 ? "change is" : "changes are") not sent yet. "
        + (reason ?? "Sync again later.")
    }
  }
}
