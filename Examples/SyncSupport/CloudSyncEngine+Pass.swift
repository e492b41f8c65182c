import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine {
  /// Fetches and sends until nothing is left to do: "sync now".
  ///
  /// One round is not always enough: a conflict is found by sending, settled by the store, and
  /// sent again in the next round.
  ///
  /// - Parameter rounds: the most rounds; enough for every conflict to be settled more than once.
  /// - Throws: the `CKError` that stands in the way, or ``SyncPassError`` when changes are left.
  public func sync(rounds: Int = 12) async throws {
    guard let engine = state.withLock({ $0.engine }) else { throw SyncPassError.isOff }
    sendHeldAgain(engine.state)
    state.withLock { $0.activity.solveAll() }
    var last: CKError?
    for _ in 0..<rounds {
      last = nil
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
      } catch let error as CKError {
        if FailedChange.ofSave(error.code) == .isRetried { throw error }
        last = error
      }
      if last == nil && pendingCount == 0 { return }
    }
    if let last { throw last }
    throw SyncPassError.changesLeft(pendingCount)
  }
}

/// Why a sync pass did not finish.
public enum SyncPassError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Sync is turned off.
  case isOff
  /// So many changes are still to be sent.
  case changesLeft(Int)

  /// One sentence for people.
  public var description: String {
    switch self {
    case .isOff: "sync is off; turn it on first"
    case .changesLeft(let count): "\(count) changes are not sent yet; sync again later"
    }
  }
}
