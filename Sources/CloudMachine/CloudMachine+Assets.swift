import CloudProtocol
package import Records

/// Files are uploaded separately from their records: the upload returns a receipt, which the save
/// then redeems.
///
/// Rules: CS-36 to CS-43, WS-83 to WS-86.
extension CloudMachine {
  /// Returns a file's content to a user who may read the record that contains it.
  func downloadAsset(_ request: DownloadAsset, _ context: RequestContext) throws -> CloudReply {
    let ask = FetchRecords(ids: [request.record], fields: .keys([request.key]))
    guard case .records(let results) = try fetchRecords(ask, context), let result = results.first
    else { throw Refusal(.internalError, "the reply does not match the request") }
    switch result.outcome {
    case .failure(let error): throw Refusal(error)
    case .success(let record):
      guard
        let asset = record.fields[request.key]?.value.assets
          .first(where: { $0.checksum == request.checksum }),
        let content = try content(of: asset, in: context.storage)
      else {
        throw Refusal(
          .assetNotAvailable,
          "the field '\(request.key)' of the record does not hold this file now; fetch it again")
      }
      return .assetContent(content)
    }
  }

  /// The content of an asset; a large one is read when it is needed.
  private func content(
    of asset: Asset, in storage: any CloudStorage
  ) throws -> AssetContent? {
    guard asset.size > AssetContent.partBytes, let assetReader else {
      return try storage.assetContent(asset.checksum).map { AssetContent($0) }
    }
    guard try storage.assetContent(asset.checksum, in: 0..<1) != nil else { return nil }
    return AssetContent(storedCount: asset.size) { (range) throws(CloudError) in
      try assetReader(asset.checksum, range)
    }
  }

  /// Stores a file's content and returns the receipt with which a save may put it into a record.
  func uploadAsset(
    _ request: UploadAsset, _ context: RequestContext, requestID: String
  ) throws -> (CloudReply, WriteTransaction) {
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
    // The save checks the quota exactly; this only rejects files that could never be saved. Without
    // a quota the database's row is not read, so no other request waits while the file is stored.
    if context.database.scope == .private, let quota = context.account?.quota,
      request.content.count > max(0, quota - (try context.databaseRow().byteCount))
    {
      throw Refusal(
        .quotaExceeded, "the account's storage is full; delete something or raise the quota")
    }
    let old = try context.storage.uploads(through: context.uploadHorizon, limit: 100)
    let upload = UploadRow(
      receipt: "", user: user,
      recordType: RecordTypeID(
        container: context.database.container, environment: context.database.environment,
        name: request.recordType),
      key: request.key, checksum: try request.content.checksum(),
      size: request.content.count, time: context.now)
    let named = try upload.named(
      storage: context.storage.identity(), device: context.device, requestID: requestID)
    let asset = Asset(checksum: named.checksum, size: named.size, receipt: named.receipt)
    return (
      .assetUploaded(asset),
      WriteTransaction(
        old.map { .removeUpload($0) } + [.putUpload(named, content: request.content)])
    )
  }

  /// Removes uploads whose receipts have expired, with the content that no record refers to.
  ///
  /// Each upload removes some of them; a server calls this at its start for the rest.
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
  /// The row with a receipt that cannot be guessed without the storage's identity, and that is the
  /// same for a repeated request.
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
  /// Uploads made at this time or earlier have expired.
  var uploadHorizon: Timestamp {
    Timestamp(secondsSinceReferenceDate: now.secondsSinceReferenceDate - limits.uploadSeconds)
  }
}
