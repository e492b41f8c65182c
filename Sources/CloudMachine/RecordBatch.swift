import CloudProtocol
import Records

/// The saves and deletions of one request in one zone, judged together.
///
/// Nothing is written while judging: stored rows are read once and the request's own changes are
/// laid over them, so that what refers to what is judged by how things will be afterwards.
struct RecordBatch {
  /// A save on its way: what is stored, what would be stored, and why not.
  struct PendingSave {
    var save: RecordSave
    var stored: Record?
    /// The record as it would be, without tag and stamp; `nil` when it can't be.
    var merged: Record?
    var links: [(target: RecordID, kind: RecordLink.Kind)] = []
    var error: CloudError?
  }

  /// A deletion on its way.
  struct PendingDelete {
    var id: RecordID
    var stored: Record?
    var error: CloudError?
  }

  /// What became of each item, in the order given.
  struct Outcome {
    var saved: [ItemResult<RecordID, Record>.Outcome]
    var deleted: [ItemResult<RecordID, Done>.Outcome]
  }

  let policy: SavePolicy
  /// Whether one failure fails all.
  let isAtomic: Bool
  let zone: ZoneRow
  let context: RequestContext
  var saves: [PendingSave]
  var deletes: [PendingDelete]
  /// Where in `saves` a record is.
  let savePositions: [RecordID: Int]
  /// Which saves point at a record.
  var holders: [RecordID: [(position: Int, kind: RecordLink.Kind)]] = [:]
  /// What storage said about who points at a record.
  var storedLinks: [RecordID: [RecordLink]] = [:]
  /// What storage said about a record that is only pointed at.
  var storedTargets: [RecordID: Bool] = [:]

  /// Reads what is stored and judges each item on its own; `spent` is how many bytes the
  /// database counts by now.
  init(
    saves: [RecordSave], deletes: [RecordID], policy: SavePolicy, isAtomic: Bool, zone: ZoneRow,
    spent: Int, context: RequestContext
  ) throws {
    self.policy = policy
    self.isAtomic = isAtomic
    self.zone = zone
    self.context = context
    self.saves = try saves.map {
      PendingSave(
        save: $0, stored: try context.storage.record($0.id, in: context.database)?.record)
    }
    self.deletes = try deletes.map {
      PendingDelete(id: $0, stored: try context.storage.record($0, in: context.database)?.record)
    }
    var positions: [RecordID: Int] = [:]
    for (position, save) in saves.enumerated() { positions[save.id] = position }
    savePositions = positions
    try judgeEachSave(spent: spent)
    judgeEachDelete()
  }

  /// Judges the items together and writes what holds to `ledger`.
  mutating func apply(to ledger: inout Ledger) throws -> Outcome {
    let removals = try judgeTogether()
    let failed = saves.contains { $0.error != nil } || deletes.contains { $0.error != nil }
    guard !(isAtomic && failed) else { return failedOutcome() }
    return try write(removals, to: &ledger)
  }

  /// The outcome of an atomic batch with a culprit: culprits keep their own error, everything else
  /// fails with `batchRequestFailed`.
  ///
  /// Source: cloudkit-surface 2.2.
  private func failedOutcome() -> Outcome {
    let innocent = CloudError(
      .batchRequestFailed, "another change of the same zone in this request failed; send it again")
    return Outcome(
      saved: saves.map { .failure($0.error ?? innocent) },
      deleted: deletes.map { .failure($0.error ?? innocent) })
  }

  /// Public records belong to who made them; the default roles of the public database let nobody
  /// else change them.
  ///
  /// Source: cloudkit-surface 2.6.
  func permissionFault(_ stored: Record?) -> CloudError? {
    guard context.database.scope == .public, let creator = stored?.created?.user,
      creator != context.account?.user
    else { return nil }
    return CloudError(
      .permissionFailure, "in the public database a record is changed by its creator only")
  }

  private mutating func judgeEachDelete() {
    for index in deletes.indices {
      deletes[index].error = permissionFault(deletes[index].stored)
    }
  }
}

extension RecordBatch.Outcome {
  /// Every item of `part` fails with `error`.
  init(_ part: ZonePart, failingWith error: CloudError) {
    saved = part.saves.map { _ in .failure(error) }
    deleted = part.deletes.map { _ in .failure(error) }
  }
}
