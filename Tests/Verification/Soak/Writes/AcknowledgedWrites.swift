import CloudSync
import Synchronization
import VerificationSupport

/// The results that all devices saw: which saves were acknowledged, and with which tag.
///
/// Saves need the tag of what they change, so the versions of a record are a chain: one tag each.
final class AcknowledgedWrites: Sendable {
  /// The knowledge about one record.
  struct Page: Sendable {
    /// The tag of every version that anybody saw.
    var tags: [Int: String] = [:]
    /// The latest version that was acknowledged to its writer.
    var acknowledged = 0
    /// The edits of each device that were acknowledged to it.
    var counts: [Int: Int] = [:]
    /// The version that announced the deletion.
    var ending: Int?
    /// Whether the deletion was sent.
    var isDeleted = false
  }

  /// An event that is counted, by its name in the report.
  enum Event: String, CaseIterable {
    case saves = "saves acknowledged"
    case deletions = "deletions acknowledged"
    case conflicts = "conflicts resolved"
    /// A save that turned out to be applied although no answer came.
    case foundApplied = "applied without an answer"
    case requests = "requests"
    case failedRequests = "failed requests"
    case pushes = "pushes and signs of missed ones"
    case fetched = "changes fetched"
    case files = "files compared"
    case reopened = "engines closed and opened"
  }

  /// The counts of events so far.
  struct Totals: Sendable {
    fileprivate var counts: [Event: Int] = [:]

    subscript(event: Event) -> Int { counts[event] ?? 0 }

    /// The writes that were acknowledged.
    var acknowledged: Int { self[.saves] + self[.deletions] }
  }

  private struct State {
    var pages: [NoteKey: Page] = [:]
    var totals = Totals()
    var engines: [WeakEngine] = []
  }

  private struct WeakEngine: Sendable { weak var value: CKSyncEngine? }

  private let state = Mutex(State())

  var totals: Totals { state.withLock { $0.totals } }
  var pages: [NoteKey: Page] { state.withLock { $0.pages } }
  let violations = Violations()

  /// Adds a violation.
  func violation(_ text: String) { violations.add(text) }

  func count(_ event: Event, _ number: Int = 1) {
    state.withLock { $0.totals.counts[event, default: 0] += number }
  }

  /// Notes that a device saw `note` under `tag`.
  func saw(_ note: Note, _ key: NoteKey, tag: String) {
    let fault = state.withLock { $0.pages[key, default: Page()].saw(note, tag) }
    if let fault { violation("\(key): \(fault)") }
  }

  /// Notes that a save was acknowledged to `device`.
  func acknowledged(_ note: Note, _ key: NoteKey, tag: String, to device: Int) {
    saw(note, key, tag: tag)
    if note.writer != device {
      violation("device \(device) got an answer about a save of device \(note.writer): \(key)")
    }
    count(.saves)
    state.withLock { $0.pages[key, default: Page()].acknowledge(note, to: device) }
  }

  /// Notes that a record that is at its end is deleted.
  func deleting(_ key: NoteKey) {
    state.withLock { $0.pages[key, default: Page()].isDeleted = true }
  }

  /// Notes that `device` found a record deleted, which another device must have sent.
  func foundDeleted(_ key: NoteKey?, by device: String) {
    guard let key, !state.withLock({ $0.pages[key]?.isDeleted == true }) else { return }
    violation("\(device): \(key) is gone, and nobody deleted it")
  }

  /// Remembers that an engine was made, and not the engine.
  func opened(_ engine: CKSyncEngine) {
    state.withLock { $0.engines.append(WeakEngine(value: engine)) }
  }

  /// The number of engines that still exist.
  var livingEngines: Int { state.withLock { $0.engines.count { $0.value != nil } } }

  /// Forgets everything but the figures.
  func clear() { state.withLock { $0.pages = [:] } }
}

extension AcknowledgedWrites.Page {
  /// Answers what can't be, if something can't.
  fileprivate mutating func saw(_ seen: Note, _ tag: String) -> String? {
    if let known = tags.updateValue(tag, forKey: seen.version), known != tag {
      return "version \(seen.version) was saved twice: as \(known) and as \(tag)"
    }
    guard seen.isEnding else { return nil }
    if let ending, ending != seen.version {
      return "saved after its end: versions \(ending) and \(seen.version)"
    }
    ending = seen.version
    return nil
  }

  fileprivate mutating func acknowledge(_ note: Note, to device: Int) {
    acknowledged = max(acknowledged, note.version)
    counts[device] = max(counts[device] ?? 0, note.counts[device])
  }
}
