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
    guard let engine = state.withLock({ $0.engine }) else { throw SyncPassError.isOff }
    state.withLock { state in
      state.activity.solveAll()
      state.attempts = [:]
    }
    wish(keeper.everythingUnsent(in: scope), engine.state)
    var failure: CKError?
    for _ in 0..<rounds {
      let sentBefore = sentCount
      failure = nil
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
      } catch let error as CKError {
        if error.passes { throw error.leading }
        failure = error
      }
      if failure == nil && pendingCount == 0 && sentCount == sentBefore { break }
    }
    try writeDown()
    if let problem = activity.problems.first, let code = CKError.Code(rawValue: problem.code),
      problem.code != 0
    {
      throw SyncFailure(code, isRetrying: false, detail: problem.message)
    }
    let left = keeper.everythingUnsent(in: scope).count
    if left > 0 { throw SyncPassError.changesLeft(left, reason: activity.problems.first?.message) }
    if let failure { throw failure.leading }
  }

  /// The same; what passes by itself is tried again after each wait of `plan`, the rest is not.
  ///
  /// - Parameter clock: measures the waits.
  public static func retrying(
    _ plan: RetryPlan, clock: any Clock<Duration>, _ pass: () async throws -> Void
  ) async throws {
    var plan = plan
    while true {
      do {
        return try await pass()
      } catch let error as CKError {
        guard error.passes, let delay = plan.next(serverDelay: error.retryAfterSeconds) else {
          throw error
        }
        try await clock.sleep(for: delay)
      }
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
