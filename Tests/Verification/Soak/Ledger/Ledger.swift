import CloudSync
import Synchronization
import VerificationSupport

/// The results that all devices saw: which saves were acknowledged, and with which tag.
///
/// Saves need the tag of what they change, so the versions of a record are a chain: one tag each.
final class Ledger: Sendable {
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

  /// The counts of events so far.
  struct Totals: Sendable {
    var saves = 0
    var deletions = 0
    var conflicts = 0
    /// Saves that turned out to be applied although no answer came.
    var foundApplied = 0
    var requests = 0
    var failedRequests = 0
    var pushes = 0
    var fetched = 0
    var files = 0
    var reopened = 0

    /// The writes that were acknowledged.
    var acknowledged: Int { saves + deletions }
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

  func count(_ key: any WritableKeyPath<Totals, Int> & Sendable, _ number: Int = 1) {
    state.withLock { $0.totals[keyPath: key] += number }
  }

  /// Notes that somebody saw `note` under `tag`.
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
    state.withLock { state in
      state.totals.saves += 1
      state.pages[key, default: Page()].acknowledge(note, to: device)
    }
  }

  /// Notes that `device` sends the deletion of a record that is at its end.
  func deleting(_ key: NoteKey) {
    state.withLock { $0.pages[key, default: Page()].isDeleted = true }
  }

  /// Whether nobody has sent the deletion of a record.
  func isNotDeleted(_ key: NoteKey) -> Bool {
    state.withLock { $0.pages[key]?.isDeleted != true }
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

extension Ledger.Page {
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
