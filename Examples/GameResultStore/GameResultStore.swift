public import Foundation
public import SyncSupport
import Synchronization

/// The results of daily puzzles on one device, in sync with the account's other devices.
///
/// A ``SyncedStore`` keeps the results, and everything that the server has not confirmed. This
/// class decides what is sent when: uploads go in groups, retries follow a plan, and without pushes
/// the store polls. Each change is on the disk when the call returns. May be used from any thread.
public final class GameResultStore: Sendable {
  /// The subscription whose silent pushes report changes by other devices.
  public static let subscriptionID = "user-data-zone-changes"

  let store: SyncedStore
  let database: CKDatabase
  let loop: SyncLoop
  let now: @Sendable () -> Date
  /// The part that changes.
  ///
  /// The synced store may be called under its lock; nothing that waits for the server may.
  let state: Mutex<State>
  private let parser: ShareTextParser

  /// Opens the results in `directory`; nothing is synced before ``start()``.
  ///
  /// - Parameters:
  ///   - directory: a folder for this store alone; it is created with the first change.
  ///   - container: the app's container.
  ///   - clock: measures all waits: 2 s for a group, 2, 4 and 8 s for retries, 5 min for polling.
  ///   - calendar: determines the time zone of a day of play.
  ///   - identity: how results get their IDs.
  ///   - isRecovering: whether damaged files are set aside; ``recoveries`` lists them, and
  ///     everything is fetched again.
  ///   - now: the present moment.
  /// - Throws: `FileError` if a file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, clock: any Clock<Duration> = ContinuousClock(),
    calendar: Calendar = .current, identity: ResultIdentity = .puzzle,
    recovering isRecovering: Bool = false, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    let folder = DocumentFolder(directory, recovering: isRecovering)
    store = try FirstVersionFiles(folder: folder)
      .open(SyncedType(GameResult.self, merging: Self.policy))
    store.connect(to: container, automaticallySync: false, clock: clock, now: now)
    database = container.privateCloudDatabase
    self.now = now
    parser = ShareTextParser(identity: identity, calendar: calendar)
    loop = SyncLoop(clock: clock)
    state = Mutex(State(store, loop))
    state.withLock { state in
      state.uploads = UploadQueue(clock: clock) { [weak self] in self?.flushed($0) }
    }
  }

  deinit { state.withLock { $0.observation?.cancel() } }

  /// The rule for conflicts: results never change, so that two versions are an accident, and the
  /// server's is kept.
  ///
  /// An unsent result is not given up for a version that can't be read; it waits for an update.
  private static let policy = MergePolicy<GameResult> { conflict in
    if case .unreadable = conflict.server { .mine } else { .server }
  }

  // MARK: Reading

  /// All results, newest first.
  public var results: [GameResult] { store.items(GameResult.self).sorted(by: GameResult.isNewer) }

  /// The result with an ID; `nil` if there is none.
  public func result(_ id: UUID) -> GameResult? { store.item(named: id.uuidString) }

  /// Whether the server has not confirmed the last change of the result with an ID.
  public func isUnsent(_ id: UUID) -> Bool { store.isUnsent(id.uuidString) }

  /// The streaks as of now, computed from the results: one for each game that was played, by name.
  ///
  /// - Parameter game: only this game's; one that was never played has a streak of zero.
  public func streaks(game: Game? = nil) -> [GameStreak] {
    let results = results
    let played = Dictionary(results.map { ($0.gameId, $0.gameName) }) { $1 }
    let games = game.map { [$0.id: $0.name] } ?? played
    let today = now()
    return games.map { id, name in
      GameStreak.compute(
        from: results, gameId: id, gameName: name, today: today, calendar: parser.calendar)
    }.sorted { ($0.gameName, $0.gameId.uuidString) < ($1.gameName, $1.gameId.uuidString) }
  }

  /// The names of the records that this version can't show, such as those of a newer one; they are
  /// kept, and left unchanged on the server.
  public var keptRecordNames: [String] { store.unreadableNames }

  /// The damaged files that were set aside since the store was opened.
  public var recoveries: [FileRecovery] { store.recoveries }

  // MARK: Changing

  /// Adds the one result in a share text.
  ///
  /// - Parameters:
  ///   - sharedText: the text from the game's Share button, with or without other text around it.
  ///   - date: when it was played; `nil` for now. A day in the text itself is preferred.
  /// - Returns: the result; the existing one if the puzzle was added before.
  /// - Throws: `ShareTextError` if the text contains no result or several, `FileError` if it can't
  ///   be stored; nothing is added then.
  @discardableResult
  public func add(sharedText: String, playedOn date: Date? = nil) throws -> GameResult {
    let result = try parser.readOne(sharedText, playedOn: date ?? now())
    let added = try add([result])
    return added.first ?? self.result(result.id) ?? result
  }

  /// Adds every result in a text, such as a file or a whole chat.
  ///
  /// - Parameter date: when results without a day were played; `nil` for now.
  /// - Throws: `ShareTextError` if nothing in it looks like a result, `FileError` if the results
  ///   can't be stored; nothing is added then.
  @discardableResult
  public func importResults(
    from text: String, playedOn date: Date? = nil
  ) throws -> ImportReport {
    let reading = try parser.read(text, playedOn: date ?? now())
    let added = try add(reading.results)
    return ImportReport(
      added: added, duplicates: reading.results.count - added.count, problems: reading.problems)
  }

  /// Adds results; one whose ID exists already is left unchanged.
  ///
  /// - Returns: those that were new.
  /// - Throws: `FileError` if they can't be stored; none is added then.
  @discardableResult
  public func add(_ results: [GameResult]) throws -> [GameResult] {
    try change { change in
      try results.filter { result in
        guard change.item(GameResult.self, named: result.recordName) == nil else { return false }
        try change.save(result)
        return true
      }
    } changed: { added in
      added.map(\.id)
    }
  }

  /// Deletes a result here and, when that is possible, on the server.
  ///
  /// - Returns: whether there was such a result.
  /// - Throws: `FileError` if it can't be stored; the result stays then.
  @discardableResult
  public func delete(_ id: UUID) throws -> Bool {
    try change { change in
      guard change.item(GameResult.self, named: id.uuidString) != nil else { return false }
      // Another device may have added the same puzzle, which has the same ID.
      change.delete(GameResult.self, named: id.uuidString, evenIfUnknown: true)
      return true
    } changed: { existed in
      existed ? [id] : []
    }
  }

  /// Makes changes, and hands them to the upload queue.
  private func change<Result: Sendable>(
    _ body: (inout SyncedTransaction) throws -> Result, changed: (Result) -> [UUID]
  ) throws -> Result {
    let (result, ids, uploads) = try state.withLock { state in
      let result = try store.change(body)
      let ids = changed(result).map(ResultRecord.recordID)
      state.hold(ids)
      return (result, ids, state.uploads)
    }
    uploads?.add(contentsOf: ids)
    return result
  }
}

/// The outcome of an import.
public struct ImportReport: Hashable, Sendable {
  /// The results that are new.
  public var added: [GameResult]
  /// The number of results that existed already, or twice in the text.
  public var duplicates: Int
  /// The parts that look like results and could not be read.
  public var problems: [ShareTextError]
}
