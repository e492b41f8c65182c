import CloudSyncTesting
import Foundation
import Synchronization

/// A behavior of an app that loses no data, so that the suite must not report it.
enum Habit {
  /// Lets the user's action wait until a running sync has ended.
  case waitsForSync
  /// Refuses the user's actions during a sync.
  case refusesDuringSync
  /// Throws from each sync after it has done its work.
  case throwsAfterSync
  /// Does nothing in a sync but throw an error with a path.
  case throwsInSync
  /// Throws an error with a path from each action.
  case throwsInActions
  /// Sleeps on the clock in a sync, in the task of the call.
  case sleepsInSync
  /// Sleeps on the clock in a task that a sync starts and does not wait for.
  case sleepsBesideSync
  /// Has two engines for one database.
  case hasTwoEngines
  /// Removes its folder before a sync.
  case removesItsFolder
}

/// A correct small app with one unusual behavior.
final class NotesWithHabit: ConformingApp {
  private let notes: SmallNotes
  private let other: SmallNotes?
  private let surroundings: AppSurroundings
  private let habit: Habit
  /// The syncs under way, and the actions that wait for their end.
  private let state = Mutex((syncs: 0, waiters: [CheckedContinuation<Void, Never>]()))

  init(_ surroundings: AppSurroundings, _ habit: Habit) throws {
    self.surroundings = surroundings
    self.habit = habit
    notes = try SmallNotes(surroundings, .lastWriteWins, nil)
    other = try habit == .hasTwoEngines ? SmallNotes(surroundings, .lastWriteWins, nil) : nil
  }

  private var failure: UnreadableFile {
    UnreadableFile(path: surroundings.folder.appendingPathComponent("notes.json").path)
  }

  var items: [String: String] { notes.items }

  func write(_ text: String, as name: String) async throws {
    try await prepare()
    try notes.write(text, as: name)
  }

  func delete(_ name: String) async throws {
    try await prepare()
    try notes.delete(name)
  }

  private func prepare() async throws {
    switch habit {
    case .throwsInActions: throw failure
    case .refusesDuringSync where state.withLock({ $0.syncs > 0 }): throw failure
    case .waitsForSync:
      await withCheckedContinuation { waiter in
        let waits = state.withLock { state in
          if state.syncs > 0 { state.waiters.append(waiter) }
          return state.syncs > 0
        }
        if !waits { waiter.resume() }
      }
    default: break
    }
  }

  func sync() async throws {
    switch habit {
    case .throwsInSync: throw failure
    case .sleepsInSync: try await surroundings.clock.sleep(for: .seconds(1))
    case .removesItsFolder: try FileManager.default.removeItem(at: surroundings.folder)
    case .hasTwoEngines: try await other?.sync()
    default: break
    }
    var timer: Task<Void, any Error>?
    if habit == .sleepsBesideSync {
      let clock = surroundings.clock
      timer = Task { try await clock.sleep(for: .seconds(1)) }
      await clock.waitForSleeper(of: .seconds(1))
    }
    defer { timer?.cancel() }
    state.withLock { $0.syncs += 1 }
    defer { endSync() }
    try await notes.sync()
    if habit == .throwsAfterSync { throw failure }
  }

  private func endSync() {
    let waiters = state.withLock { state in
      state.syncs -= 1
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

/// An error with the path of a file, as Foundation has them.
private struct UnreadableFile: Error, CustomStringConvertible {
  var path: String
  var description: String { "\(path) can't be read" }
}
