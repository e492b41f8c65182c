import CloudProtocol
import Records

extension CKDatabase {
  /// Fetches one record.
  /// - Throws: the record's own error, such as `unknownItem`.
  public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
    try await one(records(for: [recordID])[recordID], recordID)
  }

  /// Saves one record when nobody else changed it; afterwards the object holds the server's
  /// version.
  /// - Throws: the record's own error, such as `serverRecordChanged`.
  @discardableResult
  public func save(_ record: CKRecord) async throws -> CKRecord {
    let results = try await modifyRecords(saving: [record], deleting: [])
    return try one(results.saveResults[record.recordID], record.recordID)
  }

  /// Deletes one record, whatever its version.
  /// - Throws: the record's own error, such as `zoneNotFound`.
  @discardableResult
  public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
    let results = try await modifyRecords(saving: [], deleting: [recordID])
    try one(results.deleteResults[recordID], recordID)
    return recordID
  }

  /// Fetches records.
  ///
  /// - Parameters:
  ///   - ids: The records; one named twice is fetched once.
  ///   - desiredKeys: The fields wanted; `nil` is all, an empty list is none.
  /// - Returns: a record or an error for each ID.
  public func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
  ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
    var seen: Set<CKRecord.ID> = []
    let ids = ids.filter { seen.insert($0).inserted }
    guard !ids.isEmpty else { return [:] }
    try checkCount(ids.count)
    let reply = try await send(
      .fetchRecords(FetchRecords(ids: ids.map(\.value), fields: FieldSelection(desiredKeys))))
    guard case .records(let items) = reply else { throw CKError.misplaced(reply) }
    return results(items, for: ids, CKRecordID.init) { CKRecord($1) }
  }

  /// Saves and deletes records in one request.
  ///
  /// A record that was saved holds the server's version afterwards, except for fields that were
  /// changed while the request was on its way.
  /// - Parameters:
  ///   - recordsToSave: The records to save.
  ///   - recordIDsToDelete: The records to delete, whatever their versions.
  ///   - savePolicy: What to do when somebody else changed a record.
  ///   - atomically: Whether all changes of one custom zone land together or not at all.
  /// - Returns: how it went with each record; single failures do not throw.
  /// - Throws: `limitExceeded` for more than 400 items, `invalidArguments` when an ID is named
  ///   twice, and what fails the request as a whole.
  @discardableResult
  public func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
    atomically: Bool = true
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  ) {
    let savedIDs = recordsToSave.map(\.recordID)
    guard !(savedIDs.isEmpty && recordIDsToDelete.isEmpty) else { return ([:], [:]) }
    try checkCount(savedIDs.count + recordIDsToDelete.count)
    try checkUnique(savedIDs + recordIDsToDelete, "record")
    let saves = recordsToSave.map { $0.pendingSave(policy: savePolicy.value) }
    let reply = try await send(
      .modifyRecords(
        ModifyRecords(
          save: saves, delete: recordIDsToDelete.map(\.value), policy: savePolicy.value,
          isAtomic: atomically)))
    guard case .recordsModified(let saved, let deleted) = reply else {
      throw CKError.misplaced(reply)
    }
    let sent = Dictionary(zip(savedIDs, zip(recordsToSave, saves))) { first, _ in first }
    let saveResults = results(
      saved, for: savedIDs, CKRecordID.init, clientRecord: { sent[$0]?.0 }
    ) { id, record in
      guard let (object, save) = sent[id] else { return CKRecord(record) }
      object.didSave(record, of: save)
      return object
    }
    let deleteResults = results(deleted, for: recordIDsToDelete, CKRecordID.init) { _, _ in }
    return (saveResults, deleteResults)
  }
}

extension CKDatabase {
  /// The one result of a request about one item.
  func one<ID: CustomStringConvertible, Value>(
    _ result: Result<Value, any Error>?, _ id: ID
  ) throws -> Value {
    guard let result else { throw CKError.unanswered(id) }
    return try result.get()
  }

  /// Turns the answers for single items into the results apps read, one for each ID asked for.
  func results<ID: Hashable & CustomStringConvertible, Item, Answer, Value>(
    _ answers: [ItemResult<Item, Answer>], for ids: [ID], _ face: (Item) -> ID,
    clientRecord: (ID) -> CKRecord? = { _ in nil }, _ value: (ID, Answer) -> Value
  ) -> [ID: Result<Value, any Error>] {
    var results: [ID: Result<Value, any Error>] = [:]
    for id in ids { results[id] = .failure(CKError.unanswered(id)) }
    for answer in answers {
      let id = face(answer.id)
      switch answer.outcome {
      case .success(let success): results[id] = .success(value(id, success))
      case .failure(let error):
        results[id] = .failure(CKError(error, clientRecord: clientRecord(id)))
      }
    }
    return results
  }
}

extension FieldSelection {
  /// The fields an app wants: `nil` is all, an empty list is none.
  package init(_ desiredKeys: [CKRecord.FieldKey]?) {
    guard let desiredKeys else {
      self = .all
      return
    }
    self = desiredKeys.isEmpty ? .none : .keys(desiredKeys)
  }
}
