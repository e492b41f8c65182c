import CloudProtocol
import Records

/// The saves and deletions of one request in one zone, judged together.
///
/// Nothing is written while judging: stored rows are read once and the request's own changes are
/// laid over them, so that what refers to what is judged by how things will be afterwards.
struct RecordBatch {
  /// A save on its way: what is stored, what would be stored, and why not.
  ///
  /// An object, since it holds three records: looking at one of its members must not copy them.
  /// It belongs to one batch.
  final class PendingSave {
    var save: RecordSave
    /// The row as it is, whether the asker may see it or not.
    var row: RecordRow?
    /// The record as the asker sees it.
    var stored: Record?
    /// The record as it would be, without tag and stamp; `nil` when it can't be.
    var merged: Record?
    var links: [(target: RecordID, kind: RecordLink.Kind)] = []
    var error: CloudError?

    init(_ save: RecordSave, row: RecordRow?, stored: Record?) {
      self.save = save
      self.row = row
      self.stored = stored
    }
  }

  /// A deletion on its way.
  struct PendingDelete {
    var id: RecordID
    /// The record as the asker sees it.
    var stored: Record?
    /// The version it must still have.
    var changeTag: ChangeTag?
    /// Whether the asker does not delete the share but leaves it.
    var leaves = false
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
  /// The zone as the asker may use it.
  let access: ZoneAccess
  var zone: ZoneRow { access.zone }
  var context: RequestContext { access.context }
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
  /// What storage said about records that shares are about.
  var storedRows: [RecordID: RecordRow?] = [:]
  /// Whether a save may bring its type something new.
  var bringsTypes = true
  /// Who will be in which share.
  var plan = SharePlan()

  /// Reads what is stored and judges each item on its own; `spent` is how many bytes the
  /// database counts by now.
  init(
    saves: [RecordSave], deletes: [RecordID], deleteTags: [RecordID: ChangeTag] = [:],
    policy: SavePolicy, isAtomic: Bool, access: ZoneAccess, spent: Int
  ) throws {
    self.policy = policy
    self.isAtomic = isAtomic
    self.access = access
    self.saves = try saves.map {
      let row = try access.context.storage.record($0.id, in: access.home)
      let item = PendingSave($0, row: row, stored: try access.record($0.id, at: row))
      if item.save.type.isEmpty, let stored = item.stored { item.save.type = stored.type }
      return item
    }
    self.deletes = try deletes.map {
      PendingDelete(id: $0, stored: try access.record($0), changeTag: deleteTags[$0])
    }
    var positions = [RecordID: Int](minimumCapacity: saves.count)
    for position in saves.indices { positions[saves[position].id] = position }
    savePositions = positions
    try judgeEachSave(spent: spent)
    try judgeEachDelete()
  }

  /// Judges the items together and writes what holds to `books`.
  mutating func apply(to books: inout Books) throws -> Outcome {
    let removals = try judgeTogether()
    let failed = saves.contains { $0.error != nil } || deletes.contains { $0.error != nil }
    guard !(isAtomic && failed) else { return failedOutcome() }
    return try write(removals, to: &books)
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

  private func faultOfVersion(_ item: PendingDelete) -> CloudError? {
    guard let tag = item.changeTag, item.stored?.changeTag != tag else { return nil }
    guard let stored = item.stored else {
      return CloudError(.unknownItem, "the record to delete is not there")
    }
    return CloudError(
      .serverRecordChanged, "the record to delete was changed by somebody else",
      serverRecord: stored)
  }

  private mutating func judgeEachDelete() throws {
    for index in deletes.indices {
      if let error = try faultOfUserRecord(deletes[index].id) ?? faultOfVersion(deletes[index]) {
        deletes[index].error = error
        continue
      }
      guard let stored = deletes[index].stored else { continue }
      if access.isShared && stored.sharing != nil {
        deletes[index].leaves = true
      } else {
        deletes[index].error = try permissionFault(stored, isDeletion: true)
      }
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
