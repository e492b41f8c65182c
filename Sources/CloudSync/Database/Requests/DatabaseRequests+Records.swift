import CloudProtocol
import Records

extension DatabaseRequests {
  /// Fetches records, each once.
  func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?
  ) async throws(CKError) -> ItemResults<CKRecord.ID, CKRecord> {
    let ids = ids.withoutRepetitions
    guard !ids.isEmpty else { return ItemResults(items: []) }
    try checkCount(ids.count)
    let reply = try await send(
      .fetchRecords(FetchRecords(ids: ids.map(\.value), fields: FieldSelection(desiredKeys))))
    guard case .records(let items) = reply else { throw .misplaced(reply) }
    return ItemResults(items, for: ids, by: \.value) { CKRecord.face(of: $1) }
  }

  /// Saves and deletes records; saved records then hold the server's version.
  func modifyRecords(
    saving records: [CKRecord], deleting deletedIDs: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool
  ) async throws(CKError) -> ModifyResults<CKRecord.ID, CKRecord> {
    let savedIDs = records.map(\.recordID)
    guard !(savedIDs.isEmpty && deletedIDs.isEmpty) else { return ModifyResults() }
    try checkModification(saving: savedIDs, deleting: deletedIDs, "record")
    let saves = records.map { $0.pendingSave(policy: savePolicy.value) }
    let reply = try await send(
      .modifyRecords(
        ModifyRecords(
          save: saves, delete: deletedIDs.map(\.value), policy: savePolicy.value,
          isAtomic: atomically)))
    guard case .recordsModified(let saved, let deleted) = reply else { throw .misplaced(reply) }
    let sent = Dictionary(zip(savedIDs, zip(records, saves))) { first, _ in first }
    return ModifyResults(
      saved: ItemResults(
        saved, for: savedIDs, by: \.value, clientRecord: { sent[$0]?.0 }
      ) { id, record in
        guard let (object, save) = sent[id] else { return CKRecord.face(of: record) }
        object.didSave(record, of: save)
        return object
      },
      deleted: ItemResults(deleted, for: deletedIDs, by: \.value) { _, _ in })
  }
}
