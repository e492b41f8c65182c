import CloudProtocol
import Records

/// How a batch that holds is written down.
extension RecordBatch {
  /// Writes the saves and `removals` to `ledger`: saves in the order of the request, then
  /// deletions, then what they draw along.
  func write(_ removals: [Removal], to ledger: inout Ledger) throws -> Outcome {
    var row = zone
    var types: [String] = []
    func touch(_ type: String, _ sequence: UInt64, _ bytes: Int) {
      if !types.contains(type) { types.append(type) }
      if row.id != .default { row.changedAt = sequence }
      row.byteCount = max(0, row.byteCount + bytes)
    }
    var saved: [ItemResult<RecordID, Record>.Outcome] = []
    for item in saves {
      guard item.error == nil, let merged = item.merged else {
        saved.append(.failure(item.error ?? CloudError(.internalError, "the save was not judged")))
        continue
      }
      let sequence = ledger.nextSequence()
      let record = stamped(merged, sequence, ledger.time)
      let growth = record.storedByteCount - (item.stored?.storedByteCount ?? 0)
      ledger.put(
        RecordRow(
          id: record.id, type: record.type, record: record, changedAt: sequence,
          device: context.device))
      ledger.count(bytes: growth)
      touch(record.type, sequence, growth)
      ledger.note(Ledger.RecordEvent(before: item.stored, after: record))
      saved.append(.success(record))
    }
    for removal in removals {
      guard let stored = try stored(removal) else { continue }
      let sequence = ledger.nextSequence()
      ledger.put(
        RecordRow(
          id: removal.id, type: stored.type, record: nil, changedAt: sequence,
          device: stored.created?.device ?? context.device))
      ledger.count(bytes: -stored.storedByteCount)
      touch(stored.type, sequence, -stored.storedByteCount)
      ledger.note(Ledger.RecordEvent(before: stored, after: nil))
    }
    for type in try Schema(context).additions(from: ledger.recordEvents.compactMap(\.after)) {
      ledger.append(.putRecordType(type))
    }
    if !types.isEmpty {
      ledger.put(row)
      ledger.note(Ledger.ZoneEvent(zone: row.id, types: types))
    }
    let deleted = deletes.map { item -> ItemResult<RecordID, Done>.Outcome in
      item.error.map { .failure($0) } ?? .success(Done())
    }
    return Outcome(saved: saved, deleted: deleted)
  }

  private func stored(_ removal: Removal) throws -> Record? {
    if deletes[removal.cause].id == removal.id { return deletes[removal.cause].stored }
    return try context.storage.record(removal.id, in: context.database)?.record
  }

  /// `record` as it is stored: a tag that no other version in this database has or had, who
  /// made it and who changed it, and when.
  private func stamped(_ record: Record, _ sequence: UInt64, _ time: Timestamp) -> Record {
    var record = record
    record.changeTag = ChangeTag(String(sequence, radix: 36))
    if let user = context.account?.user {
      let stamp = RecordStamp(time: time, user: user, device: context.device)
      record.modified = stamp
      if record.created == nil { record.created = stamp }
    }
    return record
  }
}
