import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// The book behind one lock and in one file; what both databases' engines talk to.
final class SocialCore: RecordKeeper {
  struct State: Sendable {
    var book: SocialBook
    var isWritten = true
    var notices: [String] = []
    var recovery: FileRecovery?
    var failure: SyncFailure?
    var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
    /// Told the user's name when everything of an account was removed.
    var forgetters: [@Sendable (String) -> Void] = []
    /// Hands the other database's engine what news of this one made necessary.
    var relay: (@Sendable ([RecordWish]) -> Void)?
  }

  let state: Mutex<State>
  let scoring: LeaderboardScoring
  private let file: DocumentFile<SocialBook>

  static func stateFile(_ directory: URL, _ scope: CKDatabase.Scope) -> URL {
    directory.appendingPathComponent(
      "leaderboard-\(scope == .shared ? "shared" : "private")-state.data")
  }

  /// Opens the file; with recovery a damaged one is set aside, and everything is fetched anew.
  init(
    directory: URL, scoring: LeaderboardScoring, recovering isRecovering: Bool
  ) throws(FileError) {
    self.scoring = scoring
    file = DocumentFile(
      directory.appendingPathComponent("leaderboards.json"), format: "social-book")
    let reading = try file.read(recovering: isRecovering)
    if reading.body == nil {
      // What a lost file knew, only whole zones can tell again.
      for scope in [CKDatabase.Scope.private, .shared] {
        try AtomicFile(Self.stateFile(directory, scope)).removeFile()
      }
    }
    state = Mutex(State(book: reading.body ?? SocialBook(), recovery: reading.recovery))
  }

  /// Changes the book for the person; it is on the disk when this returns.
  ///
  /// - Throws: `FileError` when it can't be written; nothing is changed then.
  func change<Result>(_ body: (inout SocialBook) throws -> Result) throws -> Result {
    try state.withLock { state in
      let before = state.book
      do {
        let result = try body(&state.book)
        if state.book != before {
          state.isWritten = false
          try write(&state)
          tell(state)
        }
        return result
      } catch {
        state.book = before
        throw error
      }
    }
  }

  /// Changes the book for `user`, if it is theirs still.
  ///
  /// - Throws: `CKError` when another account has taken its place, `FileError` as ``change(_:)``.
  func change<Result>(
    as user: String, _ body: (inout SocialBook) throws -> Result
  ) throws -> Result {
    try change { book in
      guard book.owner == user else { throw CKError(.operationCancelled) }
      return try body(&book)
    }
  }

  /// Notes when everything was last in step; the next change takes it to the disk.
  func note(lastSync date: Date) {
    state.withLock { state in
      state.book.lastSync = date
      state.failure = nil
    }
  }

  func take(_ news: [RecordNews], in scope: CKDatabase.Scope) -> [RecordWish] {
    let (wishes, relayed, relay, forgotten) = state.withLock { state in
      let before = state.book
      var wishes: [RecordWish] = []
      for item in news { wishes += state.book.take(item, in: scope, scoring) }
      var forgotten: (String, [@Sendable (String) -> Void])?
      if let owner = before.owner, owner != state.book.owner {
        forgotten = (owner, state.forgetters)
        state.notices = []
        state.recovery = nil
        state.failure = nil
      }
      if state.book != before {
        state.isWritten = false
        tell(state)
      }
      let isRelayed = scope == .private && state.book != before
      return (
        wishes, isRelayed ? state.book.unsent(in: .shared) : [], state.relay, forgotten
      )
    }
    if forgotten != nil {
      do {
        try file.file.removeCopies()
      } catch {
        state.withLock { $0.notices.append("\(error)") }
      }
    }
    if let forgotten { for forget in forgotten.1 { forget(forgotten.0) } }
    if !relayed.isEmpty { relay?(relayed) }
    return wishes
  }

  func record(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> CKRecord? {
    state.withLock { $0.book.record(id, in: scope) }
  }

  func isUnsent(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> Bool {
    record(id, in: scope) != nil
  }

  func everythingUnsent(in scope: CKDatabase.Scope) -> [RecordWish] {
    state.withLock { $0.book.unsent(in: scope) }
  }

  func writeDown() throws {
    try state.withLock { try write(&$0) }
  }

  private func write(_ state: inout State) throws(FileError) {
    guard !state.isWritten else { return }
    try file.write(state.book)
    state.isWritten = true
  }

  private func tell(_ state: State) {
    for listener in state.listeners.values { listener.yield() }
  }
}
