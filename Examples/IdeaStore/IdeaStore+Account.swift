import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Whose ideas these are.
extension IdeaStore {
  /// Asks who is signed in and follows it; the answer counts for what was fetched before it and
  /// for what is fetched after.
  ///
  /// - Returns: the number of the account's time here, which changes with every other account.
  /// - Throws: `CKError`, such as `notAuthenticated`.
  func verifyAccount() async throws -> UInt64 {
    while true {
      let question = core.state.withLock { state in
        state.accountQuestions += 1
        return state.accountQuestions
      }
      var user: CKRecord.ID?
      var failure: CKError?
      do {
        user = try await container.userRecordID()
      } catch let error as CKError where error.code == .notAuthenticated {
        failure = error
      }
      let epoch: UInt64? = core.state.withLock { state in
        // A later question was answered already: this answer may be of an account that is gone.
        guard question > state.answeredQuestion else { return nil }
        state.answeredQuestion = question
        core.follow(user, &state)
        return state.epoch
      }
      guard let epoch else { continue }
      if let failure { throw failure }
      return epoch
    }
  }

  /// Follows a change of the account before anything else happens: what belongs to somebody else
  /// must not be seen a moment longer.
  ///
  /// The engine may tell late, when the person is back already, so whoever is signed in now is
  /// asked for; only when nobody can say is the engine believed.
  func follow(_ change: CKSyncEngine.Event.AccountChange, _ engine: CKSyncEngine) async {
    let before = core.state.withLock { state in
      state.engine === engine ? (state.epoch, state.settings.owner) : nil
    }
    guard let before else { return }
    do {
      _ = try await verifyAccount()
    } catch {
      if (error as? CKError)?.code != .notAuthenticated {
        core.state.withLock { state in
          switch change.changeType {
          case .signIn(let user), .switchAccounts(_, let user): core.follow(user, &state)
          case .signOut: core.follow(nil, &state)
          }
        }
      }
    }
    core.state.withLock { state in
      guard (state.epoch, state.settings.owner) != before else {
        return core.askAgainIfAccountFailed(&state)
      }
      core.ask(&state, fetching: true)
      state.tell()
    }
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

extension IdeaCore {
  /// The account may have changed; the engine tells of other accounts, so this is about one that
  /// could not be used and perhaps can be now.
  func accountSignalled() {
    state.withLock { state in
      state.accountSignals &+= 1
      askAgainIfAccountFailed(&state)
    }
  }

  /// Asks for a pass when the last one ended for want of an account.
  func askAgainIfAccountFailed(_ state: inout State) {
    guard state.bell != nil, state.phase == .offline, let code = state.code,
      IdeaErrorRule.rule(for: code).handling == .workOffline
    else { return }
    ask(&state, fetching: true)
  }

  /// Makes `user`, or nobody, the one whose ideas these are.
  ///
  /// Everything of somebody else goes first, at once: memory, file, log, what was set aside. Ideas
  /// that were made while nobody was signed in stay, and belong to whoever signs in.
  func follow(_ user: CKRecord.ID?, _ state: inout State) {
    if let owner = state.settings.owner, owner != user?.recordName { wipe(&state) }
    guard let user, state.settings.owner != user.recordName else { return }
    change(&state) { $0.owner = user.recordName }
    flush(&state)
  }

  private func wipe(_ state: inout State) {
    state.shelf = IdeaShelf()
    state.settings = IdeaSettings()
    state.areSettingsWritten = true
    state.log = []
    state.unwrittenLog = []
    state.damage = nil
    state.groups = []
    state.offered = [:]
    state.refused = [:]
    state.isStorageFull = false
    state.hasSubscribed = false
    state.conflicts = 0
    state.sent = 0
    state.received = 0
    state.code = nil
    state.message = nil
    state.wants.names = []
    state.epoch += 1
    do {
      try state.journal.remove()
    } catch {
      log(.failure, "Not removed from the disk: \(error).", &state)
    }
    log(.account, "The account changed; everything of the old one was removed.", &state)
    state.tell()
  }
}
