public import CloudSync
import Foundation
import Synchronization

/// A recorded delegate call: an event or a batch.
public struct RecordedCallback: Sendable {
  /// The kind: the event's case, such as `sentRecordZoneChanges`, or `batch`.
  public let name: String

  /// The event; `nil` for a batch.
  public let event: CKSyncEngine.Event?

  /// The batch that the delegate returned; `nil` for an event, and if it returned none.
  public let batch: CKSyncEngine.RecordZoneChangeBatch?

  /// A line for the call and one for each of its records or zones.
  public let text: String
}

/// The recorded delegate calls, in order; a call is recorded when the delegate has returned.
///
/// As a snapshot it omits state updates, whose timing is not specified. It can be used from any
/// thread.
public final class RecordedEvents: Sendable {
  private struct Waiter {
    var id: UUID
    var isMet: @Sendable ([RecordedCallback]) -> Bool
    var continuation: CheckedContinuation<Void, any Error>
  }

  /// The names of all calls that are recorded.
  private static let knownNames = [
    "stateUpdate", "accountChange", "fetchedDatabaseChanges", "fetchedRecordZoneChanges",
    "sentDatabaseChanges", "sentRecordZoneChanges", "willFetchChanges",
    "willFetchRecordZoneChanges", "didFetchRecordZoneChanges", "didFetchChanges",
    "willSendChanges", "didSendChanges", "batch",
  ]

  private struct Contents {
    var callbacks: [RecordedCallback] = []
    var waiters: [Waiter] = []
  }

  private let contents = Mutex(Contents())
  private let keepsTexts: Bool

  /// Creates an empty list.
  public init() { keepsTexts = true }

  /// Creates an empty list whose calls have no text, which takes time to make.
  init(keepingTexts keepsTexts: Bool) { self.keepsTexts = keepsTexts }

  /// All calls since the beginning, or since `forget()`.
  public var all: [RecordedCallback] { contents.withLock { $0.callbacks } }

  /// The names of all calls except state updates.
  public var names: [String] { all.map(\.name).filter { $0 != "stateUpdate" } }

  /// Removes all recorded calls.
  public func forget() { contents.withLock { $0.callbacks = [] } }

  /// Suspends until `isMet` returns `true`; it is called now and after each recorded call.
  ///
  /// - Parameter isMet: examines all recorded calls, and may use other members of this object. It
  ///   may be called by several threads at once.
  /// - Throws: `CancellationError` when the task is cancelled.
  public func wait(
    until isMet: @escaping @Sendable ([RecordedCallback]) -> Bool
  ) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        contents.withLock {
          $0.waiters.append(Waiter(id: id, isMet: isMet, continuation: continuation))
        }
        if Task.isCancelled {
          end(id, .failure(CancellationError()))
        } else if isMet(all) {
          end(id, .success(()))
        }
      }
    } onCancel: {
      end(id, .failure(CancellationError()))
    }
  }

  /// Resumes a waiter, unless that was done before.
  private func end(_ id: UUID, _ result: Result<Void, any Error>) {
    let waiter = contents.withLock { contents -> Waiter? in
      guard let index = contents.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return contents.waiters.remove(at: index)
    }
    waiter?.continuation.resume(with: result)
  }

  /// Suspends until a call named `name` has been recorded; an earlier one counts, too, unless
  /// `forget()` was called after it.
  ///
  /// - Throws: `DeviceError` when no call has this name, `CancellationError` when the task is
  ///   cancelled.
  public func wait(for name: String) async throws {
    guard RecordedEvents.knownNames.contains(name) else {
      let names = RecordedEvents.knownNames.joined(separator: ", ")
      throw DeviceError("No delegate call is named \"\(name)\". The names are \(names).")
    }
    try await wait { $0.contains { $0.name == name } }
  }

  func note(_ event: CKSyncEngine.Event) {
    // Made now: an app may change its records later.
    let text = keepsTexts ? event.lines : ""
    add(RecordedCallback(name: event.name, event: event, batch: nil, text: text))
  }

  func note(
    _ batch: CKSyncEngine.RecordZoneChangeBatch?, _ context: CKSyncEngine.SendChangesContext
  ) {
    let text = keepsTexts ? CanonicalText.batch(batch) : ""
    add(RecordedCallback(name: "batch", event: nil, batch: batch, text: text))
  }

  private func add(_ callback: RecordedCallback) {
    let (callbacks, waiters) = contents.withLock { contents in
      contents.callbacks.append(callback)
      return (contents.callbacks, contents.waiters)
    }
    // Outside of the lock: a condition is code of the test.
    for waiter in waiters where waiter.isMet(callbacks) { end(waiter.id, .success(())) }
  }
}

/// A delegate that records all calls and forwards them to another delegate.
///
/// ```swift
/// let recorder = EventRecorder(notes)
/// let engine = CKSyncEngine(
///   .init(database: database, stateSerialization: nil, delegate: recorder))
/// ```
///
/// Engines hold their delegates weakly, so retain it. A `SimulatedDevice` has its own recorder.
public final class EventRecorder: CKSyncEngineDelegate {
  /// The recorded calls.
  public let events = RecordedEvents()

  private let delegate: any CKSyncEngineDelegate

  /// Creates a recorder for `delegate`, which it retains.
  public init(_ delegate: any CKSyncEngineDelegate) { self.delegate = delegate }

  /// Forwards an event and records it when it is handled.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    await delegate.handleEvent(event, syncEngine: syncEngine)
    events.note(event)
  }

  /// Forwards the call and records the batch.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let batch = await delegate.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    events.note(batch, context)
    return batch
  }

  /// Forwards the call.
  public func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    await delegate.nextFetchChangesOptions(context, syncEngine: syncEngine)
  }
}
