import CloudProtocol
import Records

/// The saves and deletions of one request in one zone, validated together.
///
/// Nothing is written during validation: stored rows are read once and overlaid with the request's
/// changes, so that references are validated against the resulting state.
struct RecordBatch {
  /// A save during validation: the stored record, the resulting record and the error.
  ///
  /// A class, because it holds three records that must not be copied on access. It belongs to one
  /// batch.
  final class PendingSave {
    var save: RecordSave
    /// The stored row, regardless of access.
    var row: RecordRow?
    /// The record as the requester sees it.
    var stored: Record?
    /// The resulting record, without change tag and stamps; `nil` when the save is invalid.
    var merged: Record?
    var links: [(target: RecordID, kind: RecordLink.Kind)] = []
    /// The bytes by which the save makes the database larger.
    var growth = 0
    var error: CloudError?

    init(_ save: RecordSave, row: RecordRow?, stored: Record?) {
      self.save = save
      self.row = row
      self.stored = stored
    }
  }

  /// A deletion during validation.
  struct PendingDelete {
    var id: RecordID
    /// The record as the requester sees it.
    var stored: Record?
    /// The required change tag.
    var changeTag: ChangeTag?
    /// Whether the requester leaves the share instead of deleting it.
    var leaves = false
    var error: CloudError?
  }

  /// The outcome of each item, in the given order.
  struct Outcome {
    var saved: [ItemResult<RecordID, Record>.Outcome]
    var deleted: [ItemResult<RecordID, Done>.Outcome]
  }

  let policy: SavePolicy
  /// Whether one failure fails all.
  let isAtomic: Bool
  /// The requester's access to the zone.
  let access: ZoneAccess
  var zone: ZoneRow { access.zone }
  var context: RequestContext { access.context }
  var saves: [PendingSave]
  var deletes: [PendingDelete]
  /// The positions of records in `saves`, by name.
  private let positions: [String: Int]
  /// The saves that refer to a record.
  var holders: [RecordID: [(position: Int, kind: RecordLink.Kind)]] = [:]
  /// A cache of the stored references to a record.
  var storedLinks: [RecordID: [RecordLink]] = [:]
  /// A cache of whether a referenced record exists.
  var storedTargets: [RecordID: Bool] = [:]
  /// A cache of the stored rows of records in shares.
  var storedRows: [RecordID: RecordRow?] = [:]
  /// The record types that earlier parts of the request have extended.
  let knownTypes: [RecordTypeID: RecordTypeRow]
  /// Whether a save may extend its record type.
  var bringsTypes = true
  /// The share of each record after the batch.
  var plan = SharePlan()
  /// The size of the database before the batch, in bytes.
  let spent: Int

  /// Reads the stored rows and validates each item by itself; `spent` is the current byte count of
  /// the database.
  init(
    saves: [RecordSave], deletes: [RecordID], deleteTags: [RecordID: ChangeTag] = [:],
    positions: [String: Int] = [:], policy: SavePolicy, isAtomic: Bool, access: ZoneAccess,
    spent: Int, knownTypes: [RecordTypeID: RecordTypeRow] = [:]
  ) throws {
    self.knownTypes = knownTypes
    self.policy = policy
    self.isAtomic = isAtomic
    self.access = access
    self.positions = positions
    self.spent = spent
    self.saves = try saves.map {
      let row = try access.context.storage.record($0.id, in: access.home)
      let item = PendingSave($0, row: row, stored: try access.record($0.id, at: row))
      if item.save.type.isEmpty, let stored = item.stored { item.save.type = stored.type }
      // A share keeps its root, so a save need not name it.
      if item.save.sharing != nil, item.save.sharing?.root == nil {
        item.save.sharing?.root = item.stored?.sharing?.root
      }
      return item
    }
    self.deletes = try deletes.map {
      PendingDelete(id: $0, stored: try access.record($0), changeTag: deleteTags[$0])
    }
    try judgeEachSave()
    try judgeEachDelete()
  }

  /// Validates the items together and writes the valid ones to `transaction`.
  mutating func apply(to transaction: inout WriteTransaction) throws -> Outcome {
    let removals = try judgeTogether()
    let failed = saves.contains { $0.error != nil } || deletes.contains { $0.error != nil }
    guard !(isAtomic && failed) else { return failedOutcome() }
    return try write(removals, to: &transaction)
  }

  /// The position of a record in `saves`; `nil` if it is not saved.
  func savePosition(of id: RecordID) -> Int? {
    id.zone == zone.id ? positions[id.name] : nil
  }

  /// The outcome of a failed atomic batch: invalid items keep their error, all others fail with
  /// `batchRequestFailed`.
  ///
  /// Rules: CS-125 to CS-139.
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
      return CloudError(.unknownItem, "the record to delete does not exist")
    }
    return CloudError(
      .serverRecordChanged, "the record to delete was changed by another client",
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
