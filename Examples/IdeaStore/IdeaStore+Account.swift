import Foundation
import SyncSupport
import Synchronization

/// The reason why a pass has to begin again: the account may be another one by now.
struct AccountChanged: Error {}

extension IdeaStore {
  /// Asks for the signed-in account, and removes everything of another one.
  ///
  /// - Returns: the generation of the account, which changes with each change of the account.
  /// - Throws: `CKError`, such as `notAuthenticated`.
  func verifyAccount() async throws -> Int {
    while true {
      let asked = state.withLock(\.generation)
      let user = try await container.signedInUser()
      let generation: Int? = state.withLock { state in
        // The account may have changed meanwhile: this answer may be of one that is gone.
        guard state.generation == asked else { return nil }
        state.follow(user)
        return state.generation
      }
      guard let generation else { continue }
      guard user != nil else { throw CKError(.notAuthenticated) }
      return generation
    }
  }

  /// Changes the state for the account of a pass, and stores the changes.
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

  /// Follows a possible change of the account: ideas of another account are removed without waiting
  /// for a pass, and a pass that failed for lack of an account is repeated.
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
  /// Whether the last pass failed for lack of an account, or the present pass may do so.
  fileprivate var lacksAccount: Bool {
    if activity.phase == .syncing { return true }
    guard activity.phase == .offline, let code = activity.code else { return false }
    return IdeaErrorRule.rule(for: code).handling == .workOffline
  }
}

/// Observes changes of the account until it is released.
///
/// `@unchecked` because Foundation's token is not `Sendable`; it is immutable, and only passed on.
final class AccountObservation: @unchecked Sendable {
  private let center: NotificationCenter
  private let token: any NSObjectProtocol

  init(_ center: NotificationCenter, _ handler: @escaping @Sendable () -> Void) {
    self.center = center
    token = center.addObserver(
      forName: .CKAccountChanged, object: nil, queue: nil
    ) { _ in handler() }
  }

  deinit { end() }

  func end() { center.removeObserver(token) }
}
