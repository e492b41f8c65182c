public import Foundation
import Synchronization

/// A store's items with their outbox, in memory and in one file.
///
/// The mechanics every ``SyncedStore`` needs: a local change is written down together with its
/// note in the outbox before anybody hears of it, and is undone when the disk refuses; news from
/// the cloud is taken in memory first and written down once for many. May be used from any thread.
public final class SyncedDocument<Items: SyncedItems>: Sendable {
  private struct Body: Codable, Sendable {
    var items: Items
    var outbox: Outbox
    /// Set while the items are not what the cloud has told so far; absent otherwise.
    var isUnfetched: Bool?
  }

  private struct State: Sendable {
    var body: Body
    var isWritten = true
    weak var recorder: (any ChangeRecorder)?
  }

  private let file: DocumentFile<Body>
  let recordType: CloudSyncEngine.RecordType
  private let state: Mutex<State>

  /// What was set aside when the document was opened, if anything.
  public let recovery: FileRecovery?

  /// Opens the document at `url`, or starts with `empty`.
  ///
  /// - Parameters:
  ///   - url: where the document is.
  ///   - format: the format's name.
  ///   - recordType: the type of the items' records.
  ///   - empty: what the document holds when there is no file.
  ///   - isRecovering: whether a damaged file is set aside; the document is empty then.
  /// - Throws: `FileError` when the file is damaged or can't be read; nothing is changed then.
  public init(
    _ url: URL, format: String, recordType: CloudSyncEngine.RecordType,
    recovering isRecovering: Bool = false
  ) throws(FileError) {
    self.file = DocumentFile(url, format: format)
    self.recordType = recordType
    let reading = try file.read(recovering: isRecovering)
    recovery = reading.recovery
    // No file, no news: whatever an engine has fetched before reached no document that is left.
    var opened = State(
      body: reading.body ?? Body(items: Items(), outbox: Outbox(), isUnfetched: true))
    opened.isWritten = reading.body != nil
    state = Mutex(opened)
    if recovery != nil { try writeDown() }
  }

  /// Whether the cloud has to be read from its beginning, because the file was lost or is new.
  public var needsFullFetch: Bool { state.withLock { $0.body.isUnfetched ?? false } }

  /// Notes that the cloud will be read from its beginning, whatever happens.
  public func fullFetchIsCertain() {
    state.withLock { state in
      guard state.body.isUnfetched != nil else { return }
      state.body.isUnfetched = nil
      state.isWritten = false
    }
  }

  /// Sets whom to tell about local changes; the reference is weak.
  public func connect(to recorder: any ChangeRecorder) {
    state.withLock { $0.recorder = recorder }
  }

  /// Looks at items and outbox.
  public func read<Result: Sendable>(_ body: (Items, Outbox) -> Result) -> Result {
    state.withLock { body($0.body.items, $0.body.outbox) }
  }

  /// Makes a local change, all or nothing: writes it down, then tells the recorder.
  ///
  /// - Parameter body: changes the items and notes in the log what is to be written or told; when
  ///   it notes nothing, nothing is written.
  /// - Throws: what `body` throws, or `FileError` when the disk refuses; nothing changed then.
  public func change<Result: Sendable>(
    _ body: (inout Items, inout ChangeLog) throws -> Result
  ) throws -> Result {
    let (result, log, recorder) = try state.withLock { state in
      let before = state.body
      var log = ChangeLog(
        outbox: state.body.outbox, isOffered: state.recorder?.isRunning ?? false)
      do {
        let result = try body(&state.body.items, &log)
        if log.needsWriting {
          state.body.outbox = log.outbox
          try file.write(state.body)
          state.isWritten = true
        }
        return (result, log, state.recorder)
      } catch {
        state.body = before
        throw error
      }
    }
    if let recorder {
      recorder.recordsChanged(log.changed, type: recordType)
      recorder.recordsDeleted(log.removed, type: recordType)
    }
    return result
  }

  /// Takes in news from the cloud, in memory.
  ///
  /// - Parameter body: changes items and outbox and notes in the log what it changed.
  public func take<Result: Sendable>(
    _ body: (inout Items, inout ChangeLog) -> Result
  ) -> Result {
    let (result, log, recorder) = state.withLock { state in
      var log = ChangeLog(outbox: state.body.outbox, isOffered: true)
      let result = body(&state.body.items, &log)
      if log.needsWriting || log.outbox != state.body.outbox {
        state.body.outbox = log.outbox
        state.isWritten = false
      }
      return (result, log, state.recorder)
    }
    if let recorder {
      recorder.recordsChanged(log.changed, type: recordType)
      recorder.recordsDeleted(log.removed, type: recordType)
    }
    return result
  }

  /// Everything the outbox holds, written down as handed over to the engine.
  ///
  /// - Throws: `FileError` when that can't be written down.
  public func changesToSend() throws -> (saves: [UUID], deletes: [UUID]) {
    try state.withLock { state in
      if state.body.outbox.noteOffered() { state.isWritten = false }
      try write(&state)
      return (state.body.outbox.saves, state.body.outbox.deletes)
    }
  }

  /// Empties the outbox and replaces the items, in memory and on the disk, and removes copies that
  /// were set aside: they hold the old items.
  ///
  /// - Throws: `FileError` when the disk refuses; memory is changed all the same.
  public func replace(_ body: (inout Items) -> Void) throws {
    try state.withLock { state in
      body(&state.body.items)
      state.body.outbox = Outbox()
      state.isWritten = false
      try write(&state)
      try file.file.removeCopies()
    }
  }

  /// Writes the file when it lags behind.
  ///
  /// - Throws: `FileError` when the disk refuses; the next call tries again.
  public func writeDown() throws(FileError) {
    try state.withLock { state throws(FileError) in try write(&state) }
  }

  private func write(_ state: inout State) throws(FileError) {
    guard !state.isWritten else { return }
    try file.write(state.body)
    state.isWritten = true
  }
}

/// What one change did, for the disk, the outbox and the engine.
public struct ChangeLog: Sendable {
  /// The outbox, as it is after the change.
  public var outbox: Outbox
  /// Whether there is something to write down.
  public private(set) var needsWriting = false

  fileprivate private(set) var changed: [UUID] = []
  fileprivate private(set) var removed: [UUID] = []
  private let isOffered: Bool

  fileprivate init(outbox: Outbox, isOffered: Bool) {
    self.outbox = outbox
    self.isOffered = isOffered
  }

  /// Notes a change that is nobody else's business.
  public mutating func noteLocalChange() {
    needsWriting = true
  }

  /// Notes an item that is new or changed and has to be sent.
  public mutating func noteChange(_ id: UUID) {
    outbox.noteChange(id, isOffered: isOffered)
    changed.append(id)
    needsWriting = true
  }

  /// Notes an item that is gone and has to be deleted in the cloud.
  ///
  /// - Parameter isKnown: whether the cloud is to be told even if this device never sent it.
  public mutating func noteRemoval(_ id: UUID, isKnown: Bool = false) {
    needsWriting = true
    if outbox.noteRemoval(id, isOffered: isOffered || isKnown) { removed.append(id) }
  }
}
