public import CloudSync
import Synchronization

/// One thing that an engine told its delegate or asked of it, as it was at that time.
public struct RecordedCallback: Sendable {
  /// Its kind: the event's case, such as `sentRecordZoneChanges`, or `batch`.
  public let name: String

  /// The event; `nil` for a batch.
  public let event: CKSyncEngine.Event?

  /// The records of the batch that the delegate gave out; `nil` for an event, and where it had
  /// nothing.
  public let batch: CKSyncEngine.RecordZoneChangeBatch?

  /// One line, and one more for each record or zone it is about.
  public let text: String
}

/// What engines told a delegate, and what it answered, in order.
///
/// As a snapshot it leaves state updates out: when an engine tells of those is its own business.
/// May be used from any thread.
public final class RecordedEvents: Sendable {
  private typealias Waiter = (
    isMet: @Sendable ([RecordedCallback]) -> Bool, continuation: CheckedContinuation<Void, Never>
  )

  private struct Contents {
    var callbacks: [RecordedCallback] = []
    var waiters: [Waiter] = []

    mutating func takeWaiters() -> [Waiter] {
      let callbacks = callbacks
      let met = waiters.filter { $0.isMet(callbacks) }
      if !met.isEmpty { waiters.removeAll { $0.isMet(callbacks) } }
      return met
    }
  }

  private let contents = Mutex(Contents())

  /// An empty record.
  public init() {}

  /// Everything since the beginning, or since `forget()`.
  public var all: [RecordedCallback] { contents.withLock { $0.callbacks } }

  /// The names of all but state updates.
  public var names: [String] { all.map(\.name).filter { $0 != "stateUpdate" } }

  /// Begins anew.
  public func forget() { contents.withLock { $0.callbacks = [] } }

  /// Returns when `isMet` holds; it is asked now and after each callback.
  public func wait(until isMet: @escaping @Sendable ([RecordedCallback]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        if isMet(contents.callbacks) { return true }
        contents.waiters.append((isMet, continuation))
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Returns when a callback called `name` is there.
  public func wait(for name: String) async {
    await wait { $0.contains { $0.name == name } }
  }

  func note(_ event: CKSyncEngine.Event) {
    add(RecordedCallback(name: event.name, event: event, batch: nil, text: event.lines))
  }

  func note(
    _ batch: CKSyncEngine.RecordZoneChangeBatch?, _ context: CKSyncEngine.SendChangesContext
  ) {
    add(
      RecordedCallback(name: "batch", event: nil, batch: batch, text: CanonicalText.batch(batch)))
  }

  private func add(_ callback: RecordedCallback) {
    let waiters = contents.withLock { contents in
      contents.callbacks.append(callback)
      return contents.takeWaiters()
    }
    for waiter in waiters { waiter.continuation.resume() }
  }
}

/// A delegate that passes everything on to another one and notes it.
///
/// ```swift
/// let recorder = EventRecorder(notes)
/// let engine = CKSyncEngine(
///   .init(database: database, stateSerialization: nil, delegate: recorder))
/// ```
///
/// Engines hold their delegates weakly, so keep it. A `SimulatedDevice` has one built in.
public final class EventRecorder: CKSyncEngineDelegate {
  /// What was noted.
  public let events = RecordedEvents()

  private let delegate: any CKSyncEngineDelegate

  /// Stands before `delegate`, which it keeps.
  public init(_ delegate: any CKSyncEngineDelegate) { self.delegate = delegate }

  /// Notes the event and passes it on.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    events.note(event)
    await delegate.handleEvent(event, syncEngine: syncEngine)
  }

  /// Passes the question on and notes the answer.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let batch = await delegate.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    events.note(batch, context)
    return batch
  }

  /// Passes the question on.
  public func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    await delegate.nextFetchChangesOptions(context, syncEngine: syncEngine)
  }
}
