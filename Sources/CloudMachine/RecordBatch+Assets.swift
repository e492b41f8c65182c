import CloudProtocol
import Records

/// Validation of the files in a save.
///
/// Rules: CS-36 to CS-43, WS-83 to WS-86.
extension RecordBatch {
  /// Checks that every file in `save` was uploaded for it or is already in the record, and removes
  /// receipts and client-side locations.
  func redeemAssets(of save: inout RecordSave, stored: Record?) throws {
    for index in save.changes.indices {
      guard let field = save.changes[index].field, !field.value.assets.isEmpty else { continue }
      if field.isEncrypted {
        throw Refusal(
          .invalidArguments, "an asset is always encrypted and can't be an encrypted value")
      }
      let key = save.changes[index].key
      save.changes[index].field?.value = try redeemed(field.value, key, save.type, stored)
    }
  }

  private func redeemed(
    _ value: FieldValue, _ key: String, _ type: String, _ stored: Record?
  ) throws -> FieldValue {
    switch value {
    case .asset(let asset): .asset(try redeemed(asset, key, type, stored))
    case .list(let values): .list(try values.map { try redeemed($0, key, type, stored) })
    case .string, .int64, .double, .date, .bytes, .reference, .location: value
    }
  }

  private func redeemed(
    _ asset: Asset, _ key: String, _ type: String, _ stored: Record?
  ) throws -> Asset {
    // The file may be in any field of the record: moving it needs no second upload.
    let held = stored?.fields.lazy.flatMap(\.field.value.assets)
      .first { $0.checksum == asset.checksum }
    if let held { return held }
    guard let receipt = asset.receipt else {
      throw Refusal(
        .invalidArguments, "the asset in the field '\(key)' needs the receipt of an upload")
    }
    guard let upload = try context.storage.upload(receipt), upload.time > context.uploadHorizon
    else {
      throw Refusal(
        .assetNotAvailable,
        "the upload for the field '\(key)' is unknown or too old; upload the file again")
    }
    guard upload.user == context.account?.user, upload.key == key,
      upload.recordType.name == type,
      upload.recordType.container == context.database.container,
      upload.recordType.environment == context.database.environment,
      upload.checksum == asset.checksum
    else {
      throw Refusal(
        .invalidArguments,
        "the receipt in the field '\(key)' is for another account, type, field or file")
    }
    return Asset(checksum: upload.checksum, size: upload.size)
  }
}
