import CloudProtocol
package import Records

/// Files travel apart from their records: first the content, which gives a receipt, then the save
/// that redeems it.
///
/// Source: cloudkit-surface 1.4, web-services 1.10.
extension CloudMachine {
  /// A file's content, to whoever may read the record that holds it.
  func downloadAsset(_ request: DownloadAsset, _ context: RequestContext) throws -> CloudReply {
    let ask = FetchRecords(ids: [request.record], fields: .keys([request.key]))
    guard case .records(let results) = try fetchRecords(ask, context), let result = results.first
    else { throw Refusal(.internalError, "a record was asked for and something else came") }
    switch result.outcome {
    case .failure(let error): throw Refusal(error)
    case .success(let record):
      guard
        record.fields[request.key]?.value.assets
          .contains(where: { $0.checksum == request.checksum }) == true,
        let content = try context.storage.assetContent(request.checksum)
      else {
        throw Refusal(
          .assetNotAvailable,
          "the field '\(request.key)' of the record does not hold this file now; fetch it again")
      }
      return .assetContent(content)
    }
  }

  /// Keeps a file's content and gives the receipt with which a save may put it into a record.
  func uploadAsset(
    _ request: UploadAsset, _ context: RequestContext, requestID: String
  ) throws -> (CloudReply, Ledger) {
    guard let user = context.account?.user else {
      throw Refusal(.notAuthenticated, "no account is signed in")
    }
    if let error = context.names.faultOfFieldKey(request.key) { throw Refusal(error) }
    if let error = context.names.faultOfRecordType(request.recordType) { throw Refusal(error) }
    guard request.content.count <= limits.assetBytes else {
      throw Refusal(
        .limitExceeded,
        "the file holds \(request.content.count) bytes, more than the \(limits.assetBytes) that "
          + "one may hold")
    }
    var ledger = Ledger(try context.databaseRow(), now: context.now)
    // The save that redeems it is judged exactly; this only keeps out what can never be saved.
    if context.database.scope == .private, let quota = context.account?.quota,
      request.content.count > max(0, quota - ledger.database.byteCount)
    {
      throw Refusal(
        .quotaExceeded, "the account's storage is full; delete something or raise the quota")
    }
    for receipt in try context.storage.uploads(through: context.uploadHorizon, limit: 100) {
      ledger.append(.removeUpload(receipt))
    }
    let upload = UploadRow(
      receipt: "", user: user,
      recordType: RecordTypeID(
        container: context.database.container, environment: context.database.environment,
        name: request.recordType),
      key: request.key, checksum: SHA256.hexadecimal(of: request.content),
      size: request.content.count, time: context.now)
    let named = try upload.named(
      storage: context.storage.identity(), device: context.device, requestID: requestID)
    ledger.append(.putUpload(named, content: request.content))
    return (
      .assetUploaded(
        Asset(checksum: named.checksum, size: named.size, receipt: named.receipt)), ledger
    )
  }

  /// Forgets uploads whose receipts are too old to be redeemed, with the content that no record
  /// holds.
  ///
  /// Each upload does some of this by itself; a server calls it now and then for the rest.
  package func forgetOldUploads(now: Timestamp, in storage: any CloudStorage) throws {
    let horizon = Timestamp(
      secondsSinceReferenceDate: now.secondsSinceReferenceDate - limits.uploadSeconds)
    try storage.transaction {
      let old = try storage.uploads(through: horizon, limit: .max)
      if !old.isEmpty { try storage.commit(old.map { .removeUpload($0) }) }
    }
  }
}

extension UploadRow {
  /// The same with a receipt that nobody can guess who does not know the storage's number, and
  /// that is the same when the request comes again.
  fileprivate func named(storage: UInt64, device: String?, requestID: String) -> UploadRow {
    var writer = ByteWriter(capacity: 256)
    writer.write(fixed: storage)
    writer.write(user.rawValue)
    writer.write(optional: device) { $0.write($1) }
    writer.write(requestID)
    writer.write(recordType.container)
    writer.write(recordType.environment.rawValue)
    writer.write(recordType.name)
    writer.write(key)
    writer.write(checksum)
    writer.write(time.secondsSinceReferenceDate)
    var row = self
    row.receipt = SHA256.hexadecimal(of: writer.bytes)
    return row
  }
}

extension RequestContext {
  /// Uploads made then or earlier can't be redeemed any more.
  var uploadHorizon: Timestamp {
    Timestamp(secondsSinceReferenceDate: now.secondsSinceReferenceDate - limits.uploadSeconds)
  }
}
