import CloudProtocol
import Records
import SyncMachine

/// I4: an edit that was made after a batch was built still waits when that batch has succeeded.
///
/// It looks at one thing only: what the app added after it had put a record into a batch. From the
/// success of that batch on the engine must have the newer change, until the app takes it back or
/// gives it in a later batch.
struct EditChecker {
  private struct Edit {
    var kind: ChangeKind
    /// The time of the addition, by the checker's own count.
    var addedAt: Int
  }

  private var clock = 0
  private var lastBuiltAt = 0
  /// The last change the app added, and when a batch was built that holds an older one.
  private var edits: [RecordID: Edit] = [:]
  private var builtAt: [RecordID: Int] = [:]
  /// The changes that must be pending.
  private var demanded: [RecordID: ChangeKind] = [:]

  private mutating func tick() -> Int {
    clock += 1
    return clock
  }

  /// The app did something on the engine's state.
  mutating func note(_ call: AppCall) {
    switch call {
    case .add(let change):
      edits[change.id] = Edit(kind: change.kind, addedAt: tick())
      if demanded[change.id] != nil { demanded[change.id] = change.kind }
    case .remove(let change):
      if edits[change.id]?.kind == change.kind { edits[change.id] = nil }
      if demanded[change.id] == change.kind { demanded[change.id] = nil }
    case .addZone, .removeZone, .noteUntracked: break
    }
  }

  /// It is unknown whether this call had an effect.
  mutating func excuse(_ call: AppCall) {
    switch call {
    case .add(let change), .remove(let change):
      edits[change.id] = nil
      demanded[change.id] = nil
    case .addZone, .removeZone, .noteUntracked: break
    }
  }

  /// The app puts a batch together at this moment.
  mutating func noteBuilding() { lastBuiltAt = tick() }

  /// The batch that was built last is given to the engine.
  mutating func note(given batch: RecordBatch) {
    for id in batch.saves.map(\.id) + batch.deletions {
      builtAt[id] = lastBuiltAt
      // It may be this one that is on its way now.
      demanded[id] = nil
    }
  }

  /// The app is told what became of a batch.
  mutating func note(told sent: SentRecords) {
    for result in sent.saved { settle(result.id, isDone: result.error == nil) }
    for result in sent.deleted { settle(result.id, isDone: result.error == nil) }
  }

  private mutating func settle(_ id: RecordID, isDone: Bool) {
    guard let built = builtAt.removeValue(forKey: id), isDone else { return }
    guard let edit = edits[id], edit.addedAt > built else { return }
    demanded[id] = edit.kind
  }

  /// The first change that `state` lacks; `nil` if it has all.
  func fault(in state: SyncState) -> String? {
    let lost = demanded.keys.filter { state.records.unsettledKind(of: $0) != demanded[$0] }
    return lost.min().map {
      "an edit of \($0.path) made while an older one was under way was lost with its success"
    }
  }
}
