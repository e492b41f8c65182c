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
  private var edits: [PendingItem: Edit] = [:]
  private var builtAt: [PendingItem: Int] = [:]
  /// The changes that must be pending.
  private var demanded: [PendingItem: ChangeKind] = [:]

  private mutating func tick() -> Int {
    clock += 1
    return clock
  }

  /// The app did something on the engine's state.
  mutating func note(_ call: AppCall) {
    switch call {
    case .add(let kind, let item):
      edits[item] = Edit(kind: kind, addedAt: tick())
      if demanded[item] != nil { demanded[item] = kind }
    case .remove(let kind, let item):
      if edits[item]?.kind == kind { edits[item] = nil }
      if demanded[item] == kind { demanded[item] = nil }
    case .noteUntracked: break
    }
  }

  /// It is unknown whether this call had an effect.
  mutating func excuse(_ call: AppCall) {
    guard let item = call.item else { return }
    edits[item] = nil
    demanded[item] = nil
  }

  /// The app puts a batch together at this moment.
  mutating func noteBuilding() { lastBuiltAt = tick() }

  /// The batch that was built last is given to the engine.
  mutating func note(given batch: RecordBatch) {
    for id in batch.saves.map(\.id) + batch.deletions {
      builtAt[.record(id)] = lastBuiltAt
      // It may be this one that is on its way now.
      demanded[.record(id)] = nil
    }
  }

  /// The app is told the outcome of a batch.
  mutating func note(told outcomes: [ChangeOutcome]) {
    for (item, error) in outcomes {
      guard let built = builtAt.removeValue(forKey: item), error == nil, let edit = edits[item],
        edit.addedAt > built
      else { continue }
      demanded[item] = edit.kind
    }
  }

  /// The first change that `state` lacks; `nil` if it has all.
  func fault(in state: SyncState) -> String? {
    let lost = demanded.keys.filter { state.unsettledKind(of: $0) != demanded[$0] }
    return lost.min().map {
      "an edit of \($0.name) made while an older one was under way was lost with its success"
    }
  }
}
