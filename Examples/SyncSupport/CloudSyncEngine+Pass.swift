import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine {
  /// Fetches and sends until nothing is left to do: "sync now".
  ///
  /// One round is not always enough: a conflict is found by sending, settled by the store, and
  /// sent again in the next round. After a round that sent something one more fetch follows, so
  /// that this device's place in the zone's history is known from now on.
  ///
  /// - Parameter rounds: the most rounds; enough for every conflict to be settled more than once.
  /// - Throws: the `CKError` that stands in the way, such as a missing network, or
  ///   ``SyncPassError`` when changes are left that the cloud does not take.
  public func sync(rounds: Int = 12) async throws {
    guard let engine = state.withLock({ $0.engine }) else { throw SyncPassError.isOff }
    state.withLock { $0.activity.solveAll() }
    sendHeldAgain(engine.state)
    for _ in 0..<rounds {
      let sentBefore = sentCount
      var failure: CKError?
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
      } catch let error as CKError {
        if Self.passes(error) { throw error }
        failure = error
      }
      if failure == nil && pendingCount == 0 && sentCount == sentBefore { break }
    }
    var left = 0
    for store in stores {
      let changes = try store.changesToSend()
      left += changes.saves.count + changes.deletes.count
    }
    if left > 0 {
      throw SyncPassError.changesLeft(left, reason: activity.problems.first?.message)
    }
  }

  private var sentCount: Int { state.withLock { $0.activity.saved + $0.activity.deleted } }

  /// Whether an error will pass by itself, so that trying again now is no use.
  private static func passes(_ error: CKError) -> Bool {
    guard error.code == .partialFailure, let items = error.partialErrorsByItemID, !items.isEmpty
    else { return FailedChange.ofSave(error.code) == .isRetried }
    return items.values.allSatisfy { item in
      (item as? CKError).map { FailedChange.ofSave($0.code) == .isRetried } ?? false
    }
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
