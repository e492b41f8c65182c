public import CloudSync
public import Foundation
public import SyncSupport
import Synchronization

/// The results of daily puzzles on one device, in step with the cloud.
///
/// Local first: every change is on the disk when the call returns, and is uploaded when that is
/// possible. The store drives its `RecordSync` by hand: it decides itself what is sent when, so
/// that uploads go in groups and retries follow a plan. May be used from any thread.
public final class GameResultStore: Sendable {
  /// The subscription whose silent pushes mean that another device changed something.
  public static let subscriptionID = "user-data-zone-changes"

  let core: StoreCore
  let sync: RecordSync
  let container: CKContainer
  let clock: any Clock<Duration>
  let uploads: UploadQueue<UUID>
  private let parser: ShareTextParser

  /// Opens the results kept in `directory`; nothing is synced before ``start()``.
  ///
  /// - Parameters:
  ///   - directory: a folder for this store alone; it is made with the first change.
  ///   - container: the cloud to sync with.
  ///   - clock: measures all waits: 2 s for company, 2, 4 and 8 s for retries, 5 min for polling.
  ///   - calendar: says in which time zone a day of play is a day.
  ///   - identity: how results get their IDs.
  ///   - isRecovering: whether damaged files are set aside under other names; what the cloud has is
  ///     fetched again then, and ``recoveries`` tells which files it was.
  ///   - now: the present moment.
  /// - Throws: `FileError` when a file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, clock: any Clock<Duration> = ContinuousClock(),
    calendar: Calendar = .current, identity: ResultIdentity = .puzzle,
    recovering isRecovering: Bool = false, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    let core = try StoreCore(directory: directory, recovering: isRecovering, now: now)
    self.core = core
    self.container = container
    self.clock = clock
    parser = ShareTextParser(identity: identity, calendar: calendar)
    let uploads = UploadQueue<UUID>(clock: clock) { [weak core] in core?.flushed($0) }
    self.uploads = uploads
    // Nothing is sent but in the groups of a pass.
    let sync = RecordSync(
      database: container.privateCloudDatabase, stateFile: StoreCore.stateFile(directory),
      keeper: core, automaticallySync: false, clock: clock, recovering: isRecovering)
    self.sync = sync
    core.state.withLock { state in
      state.uploads = uploads
      state.sync = sync
    }
  }

  deinit {
    let run = core.state.withLock { ($0.bell, $0.retryTimer, $0.pollTimer) }
    for listener in core.state.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() }
    run.0?.finish()
    run.1?.cancel()
    run.2?.cancel()
  }

  // MARK: Reading

  /// All results, newest first.
  public var results: [GameResult] { core.state.withLock { $0.library.newestFirst } }

  /// The result with an ID; `nil` when there is none.
  public func result(_ id: UUID) -> GameResult? { core.state.withLock { $0.library[id] } }

  /// The streaks as of now, computed from the results: one a game that was played, by name.
  ///
  /// - Parameter game: only this game's; one that was never played has a streak of zero.
  public func streaks(game: Game? = nil) -> [GameStreak] {
    let results = results
    var games: [UUID: String] = [:]
    if let game {
      games[game.id] = game.name
    } else {
      for result in results { games[result.gameId] = result.gameName }
    }
    let today = core.now()
    return games.map { id, name in
      GameStreak.compute(
        from: results, gameId: id, gameName: name, today: today, calendar: parser.calendar)
    }.sorted { ($0.gameName, $0.gameId.uuidString) < ($1.gameName, $1.gameId.uuidString) }
  }

  /// Where sync stands.
  public var status: SyncStatus { core.state.withLock { $0.status } }

  /// Where sync stands now, and again whenever a sync begins or ends or the account changes.
  public var statusUpdates: AsyncStream<SyncStatus> {
    AsyncStream { listener in
      let id = UUID()
      listener.onTermination = { [weak core] _ in
        core?.state.withLock { $0.listeners[id] = nil }
      }
      core.state.withLock { state in
        state.listeners[id] = listener
        listener.yield(state.status)
      }
    }
  }

  /// The names of the cloud's records that this version can't show, such as those of a newer one;
  /// they are kept and left alone.
  public var keptRecordNames: [String] { core.state.withLock { $0.kept.names } }

  /// What was damaged and set aside since the store was opened, for the person to know.
  public var recoveries: [FileRecovery] {
    core.state.withLock { $0.recoveries } + (sync.recovery.map { [$0] } ?? [])
  }

  /// The last 200 lines of the log, oldest first.
  public var log: [SyncLogEntry] { core.state.withLock { $0.log } }

  // MARK: Changing

  /// Adds the one result in a share text.
  ///
  /// - Parameters:
  ///   - sharedText: what the game's Share button gave, with or without chatter around it.
  ///   - date: when it was played; `nil` for now. A day in the text itself comes first.
  /// - Returns: the result; the one that is there already when the puzzle was added before.
  /// - Throws: `ShareTextError` when the text holds no result or several, `FileError` when it can't
  ///   be written down; nothing is added then.
  @discardableResult
  public func add(sharedText: String, playedOn date: Date? = nil) throws -> GameResult {
    let result = try parser.readOne(sharedText, playedOn: date ?? core.now())
    let added = try add([result])
    return added.first ?? self.result(result.id) ?? result
  }

  /// Adds every result in a text, such as a file or a whole chat.
  ///
  /// - Parameter date: when those were played that don't tell; `nil` for now.
  /// - Throws: `ShareTextError` when there is nothing like a result in it, `FileError` when the
  ///   results can't be written down; nothing is added then.
  @discardableResult
  public func importResults(
    from text: String, playedOn date: Date? = nil
  ) throws -> ImportReport {
    let reading = try parser.read(text, playedOn: date ?? core.now())
    let added = try add(reading.results)
    return ImportReport(
      added: added, duplicates: reading.results.count - added.count, problems: reading.problems)
  }

  /// Adds results; one whose ID is there already is left as it is.
  ///
  /// - Returns: those that were new.
  /// - Throws: `FileError` when they can't be written down; none is added then.
  @discardableResult
  public func add(_ results: [GameResult]) throws -> [GameResult] {
    let added = try core.state.withLock { state in
      var library = state.library
      var queue = state.queue
      var added: [GameResult] = []
      for result in results where library[result.id] == nil {
        library[result.id] = result
        queue.put(.save, result.id)
        added.append(result)
      }
      try Self.write(&library, &queue, &state)
      state.held.formUnion(added.map(\.id))
      return added
    }
    uploads.add(contentsOf: added.map(\.id))
    return added
  }

  /// Deletes a result here and, when that is possible, in the cloud.
  ///
  /// - Returns: whether there was such a result.
  /// - Throws: `FileError` when it can't be written down; the result stays then.
  @discardableResult
  public func delete(_ id: UUID) throws -> Bool {
    let existed = try core.state.withLock { state in
      guard state.library[id] != nil else { return false }
      var library = state.library
      var queue = state.queue
      library[id] = nil
      queue.put(.delete, id)
      try Self.write(&library, &queue, &state)
      state.attempts[id] = nil
      state.refused.remove(id)
      state.held.insert(id)
      return true
    }
    if existed { uploads.add(id) }
    return existed
  }

  /// The queue first: a change that is in it alone is finished at the next start, the other way
  /// round it would never reach the cloud.
  private static func write(
    _ library: inout ResultLibrary, _ queue: inout OfflineQueue, _ state: inout StoreCore.State
  ) throws {
    try queue.write()
    do {
      try library.write()
    } catch {
      // The queue on the disk names a change that was not made; put the old one back.
      var before = state.queue
      before.touch()
      try? before.write()
      throw error
    }
    state.library = library
    state.queue = queue
  }
}

/// What became of an import.
public struct ImportReport: Hashable, Sendable {
  /// The results that are new.
  public var added: [GameResult]
  /// How many were there already, or twice in the text.
  public var duplicates: Int
  /// What looked like results and could not be read.
  public var problems: [ShareTextError]
}
