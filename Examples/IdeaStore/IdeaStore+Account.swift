import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// The reason why a pass has to begin again: the account may be another one by now.
struct AccountChanged: Error {}

/// Whose ideas these are.
extension IdeaStore {
  /// Asks who is signed in, and removes everything of another account; the answer counts for what
  /// was fetched before it and for what is fetched after.
  ///
  /// - Returns: the number of the account's time here, which changes with every other account.
  /// - Throws: `CKError`, such as `notAuthenticated`.
  func verifyAccount() async throws -> Int {
    while true {
      let asked = state.withLock(\.generation)
      var user: String?
      var failure: CKError?
      do {
        user = try await container.userRecordID().recordName
      } catch let error as CKError where error.code == .notAuthenticated {
        failure = error
      }
      let generation: Int? = state.withLock { state in
        // The account may have changed meanwhile: this answer may be of one that is gone.
        guard state.generation == asked else { return nil }
        state.follow(user)
        return state.generation
      }
      guard let generation else { continue }
      if let failure { throw failure }
      return generation
    }
  }

  /// Changes the state for the account of a pass, and writes what changed.
  ///
  /// - Throws: ``AccountChanged`` if it may be another one by now; nothing is changed then.
  func change<Result: Sendable>(
    in generation: Int, _ body: (inout IdeaState) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      guard state.generation == generation else { throw AccountChanged() }
      defer { state.flush() }
      return try body(&state)
    }
  }

  /// The account may have changed: what belongs to another one must not be seen a moment longer,
  /// and one that could not be used perhaps can be now.
  func accountMayHaveChanged() {
    let before = state.withLock { state in
      state.generation += 1
      return state.settings.owner
    }
    Task { [weak self] in
      _ = try? await self?.verifyAccount()
      self?.state.withLock { state in
        guard state.settings.owner != before || state.lacksAccount else { return }
        state.ask(fetching: true)
        state.tell()
      }
    }
  }
}

extension IdeaState {
  /// Whether the last pass ended for want of an account, or a pass is in progress, which may end
  /// so.
  fileprivate var lacksAccount: Bool {
    if activity.phase == .syncing { return true }
    guard activity.phase == .offline, let code = activity.code else { return false }
    return IdeaErrorRule.rule(for: code).handling == .workOffline
  }
}

/// Hears that the account may have changed, as long as it lives.
///
/// `@unchecked` because what Foundation gives to end it by is not checked; it is immutable, and
/// only ever passed back.
final class AccountObservation: @unchecked Sendable {
  private let center: NotificationCenter
  private let token: any NSObjectProtocol

  init(_ center: NotificationCenter, _ hear: @escaping @Sendable () -> Void) {
    self.center = center
    token = center.addObserver(
      forName: .CKAccountChanged, object: nil, queue: nil
    ) { _ in hear() }
  }

  deinit { end() }

  /// Hears nothing any more.
  func end() { center.removeObserver(token) }
}
