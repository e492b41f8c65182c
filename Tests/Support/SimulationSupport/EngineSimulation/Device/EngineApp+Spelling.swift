import CloudProtocol
import CloudSync
import Records
import SyncMachine
import Synchronization

/// By which name an app calls the zones of its own user.
struct ZoneNaming: Sendable {
  /// Whether the app knows the user's record name, in this run or another.
  let isMixed: Bool
  /// The probability that it uses the user's record name in this run.
  private let rate: Double
  private var random: SeededRandom

  /// The habit of a run; a third of the worlds have apps that use both names.
  ///
  /// It has a generator of its own, so that other worlds do not depend on it.
  init(world: UInt64, device: Int, run: Int, isPossible: Bool) {
    var choice = SeededRandom(seed: world ^ 0x4e61_6d65_73)
    isMixed = choice.chance(1.0 / 3) && isPossible
    random = SeededRandom(seed: choice.next() &+ UInt64(device) &* 1_000 &+ UInt64(run))
    rate = isMixed ? random.pick([0, 0.2, 0.5, 0.9]) : 0
  }

  mutating func usesName() -> Bool { random.chance(rate) }
}

extension EngineApp {
  /// Converts what the engine of this app names.
  func spelling(_ engine: CKSyncEngine) -> ZoneSpelling {
    namesOwner ? engine.syncState.spelling : ZoneSpelling()
  }

  /// A zone as the app names it this time.
  func spelled(_ zone: ZoneID, _ naming: Situation.Naming, _ engine: CKSyncEngine) -> ZoneID {
    guard let spelling = usableSpelling(engine), let named = spelling.named(zone) else {
      return zone
    }
    let usesName = contents.withLock { $0.naming.usesName() }
    journal.reach("named \(naming) \(usesName ? "byUser" : "byDefault")")
    return usesName ? named : zone
  }

  /// A record as the app names it this time.
  func spelled(_ id: RecordID, _ naming: Situation.Naming, _ engine: CKSyncEngine) -> RecordID {
    RecordID(name: id.name, zone: spelled(id.zone, naming, engine))
  }

  /// A call as the app names what it is about.
  func spelled(_ call: AppCall, _ engine: CKSyncEngine) -> AppCall {
    switch call {
    case .add(let kind, let item): .add(kind, spelled(item, kind, engine))
    case .remove(let kind, let item): .remove(kind, spelled(item, kind, engine))
    case .noteUntracked: .noteUntracked
    }
  }

  private func spelled(
    _ item: PendingItem, _ kind: ChangeKind, _ engine: CKSyncEngine
  ) -> PendingItem {
    switch item {
    case .record(let id): .record(spelled(id, kind == .save ? .save : .deletion, engine))
    case .zone(let id): .zone(spelled(id, kind == .save ? .zoneSave : .zoneDeletion, engine))
    }
  }

  /// A batch whose records the app names by either name, also by another than the pending change.
  func spelled(_ batch: RecordBatch, _ engine: CKSyncEngine) -> RecordBatch {
    guard usableSpelling(engine) != nil else { return batch }
    var batch = batch
    for index in batch.saves.indices {
      batch.saves[index].id = spelled(batch.saves[index].id, .batchSave, engine)
      if case .set(let parent?) = batch.saves[index].parent {
        batch.saves[index].parent = .set(spelled(parent, .parent, engine))
      }
    }
    batch.deletions = batch.deletions.map { spelled($0, .batchDeletion, engine) }
    return batch
  }

  /// The names that the app may use now: it names no user but the one whose data both it and its
  /// engine hold.
  private func usableSpelling(_ engine: CKSyncEngine) -> ZoneSpelling? {
    guard namesOwner else { return nil }
    let spelling = engine.syncState.spelling
    guard let user = spelling.user, user == model.owner else { return nil }
    return spelling
  }
}

extension Situation {
  /// The API calls in which an app names a zone of its user.
  enum Naming: String, CaseIterable {
    case save, deletion, zoneSave, zoneDeletion, batchSave, batchDeletion, parent
    case fetchScope, sendScope
  }
}
