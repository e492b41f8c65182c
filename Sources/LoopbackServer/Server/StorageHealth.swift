import CloudMachine
import Synchronization

/// Notes when a server's storage begins to fail, and when it works again.
///
/// A storage that fails mostly fails for many requests, and some others succeed: a full disk can be
/// read. So each kind of failure is reported once, until it has ended.
final class StorageHealth: Sendable {
  /// The kinds of failures, by what has to happen before the storage works again.
  private enum Failure: Hashable {
    /// Any transaction succeeds.
    case untilTransaction
    /// A change is stored.
    case untilChange
    /// The server is started with other data.
    case untilRestart

    init?(_ error: any Error) {
      switch error {
      case let error as ServerFileError:
        switch error.code {
        // Another process uses the file.
        case .busy: return nil
        case .cannotOpen, .readOnly, .full, .failed: self = .untilChange
        case .notADatabase, .foreign, .newer, .damaged: self = .untilRestart
        }
      // A conflict without a delay is with another transaction.
      case let error as TransactionConflict where error.delay > .zero: self = .untilTransaction
      default: return nil
      }
    }
  }

  private struct State {
    var observer: (@Sendable (String?) -> Void)?
    var failures: Set<Failure> = []
  }

  private let state = Mutex(State())
  /// Whether there is a failure that may end, which each transaction asks.
  private let isFailing = Atomic(false)

  /// Sets what is called with the reason for a failure when it begins, and with `nil` when the
  /// storage works again.
  ///
  /// It is called while a lock is held, so that the calls keep their order.
  func observe(_ observer: @escaping @Sendable (_ reason: String?) -> Void) {
    state.withLock { $0.observer = observer }
  }

  /// Notes that a transaction failed.
  func note(_ error: any Error, reason: String) {
    guard let failure = Failure(error) else { return }
    state.withLock { state in
      guard state.failures.insert(failure).inserted else { return }
      isFailing.store(state.failures != [.untilRestart], ordering: .relaxed)
      state.observer?(reason)
    }
  }

  /// Notes that a transaction succeeded.
  ///
  /// - Parameter hasChanges: Whether it has stored a change.
  func noteSuccess(hasChanges: Bool) {
    guard isFailing.load(ordering: .relaxed) else { return }
    state.withLock { state in
      let before = state.failures
      state.failures.remove(.untilTransaction)
      if hasChanges { state.failures.remove(.untilChange) }
      guard state.failures != before, state.failures.isSubset(of: [.untilRestart]) else { return }
      isFailing.store(false, ordering: .relaxed)
      if state.failures.isEmpty { state.observer?(nil) }
    }
  }
}
