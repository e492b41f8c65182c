import CloudProtocol
import Records

extension Receipt {
  /// The receipt of a call that was carried out.
  ///
  /// Fields of saved records that have the values of the request are left out, because a repeated
  /// call contains them again. The last byte of the digest is 1 if fields were left out, else 0.
  init(_ key: ReceiptKey, of call: AdmittedCall, reply: CloudReply) {
    let short = reply.omittingFields(of: call.request)
    self.init(
      key: key, reply: short ?? reply, digest: call.original.digest + [short == nil ? 0 : 1])
  }

  /// The reply to a repeated call; `nil` if its content differs from that of the first.
  func reply(to call: AdmittedCall) -> CloudReply? {
    guard reply.answers(call.request) else { return nil }
    // Receipts of earlier versions have no digest, or another one, and whole replies.
    guard let digest, digest.count == CloudCall.digestLength + 1 else { return reply }
    guard digest.dropLast() == call.original.digest[...] else { return nil }
    return digest.last == 1 ? reply.restoringFields(of: call.request) : reply
  }
}

extension CloudReply {
  /// The reply without the fields that have the values of the request; `nil` if they could not be
  /// restored from it.
  fileprivate func omittingFields(of request: CloudRequest) -> CloudReply? {
    guard case .recordsModified(var saved, let deleted) = self,
      case .modifyRecords(let request) = request, request.fields == .all,
      saved.count == request.save.count
    else { return nil }
    for index in saved.indices {
      guard case .success(var record) = saved[index].outcome else { continue }
      guard record.sharing == nil, record.omitFields(request.save[index].changes) else {
        return nil
      }
      saved[index].outcome = .success(record)
    }
    return .recordsModified(saved: saved, deleted: deleted)
  }

  /// The reply with the fields of the request in all records that were saved.
  fileprivate func restoringFields(of request: CloudRequest) -> CloudReply {
    guard case .recordsModified(var saved, let deleted) = self,
      case .modifyRecords(let request) = request
    else { return self }
    for index in saved.indices {
      guard case .success(var record) = saved[index].outcome else { continue }
      let changes = request.save[index].changes.filter { $0.field != nil }
      record.fields.apply(changes.map { (key: $0.key, field: $0.field) })
      saved[index].outcome = .success(record)
    }
    return .recordsModified(saved: saved, deleted: deleted)
  }

  /// Whether the reply matches `request`, with a result for each of its items.
  fileprivate func answers(_ request: CloudRequest) -> Bool {
    switch (self, request) {
    case (.zonesModified(let saved, let deleted), .modifyZones(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.recordsModified(let saved, let deleted), .modifyRecords(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.subscriptionsModified(let saved, let deleted), .modifySubscriptions(let request)):
      saved.count == request.save.count && deleted.count == request.delete.count
    case (.sharesAccepted(let results), .acceptShares(let urls)): results.count == urls.count
    case (.assetUploaded(let asset), .uploadAsset(let request)):
      asset.size == request.content.count
        && asset.checksum == (try? request.content.checksum())
    case (.zonesModified, _), (.recordsModified, _), (.subscriptionsModified, _),
      (.currentUser, _), (.databaseChanges, _), (.zoneChanges, _), (.zones, _), (.records, _),
      (.subscriptions, _), (.queried, _), (.sharesResolved, _), (.sharesAccepted, _),
      (.usersFound, _), (.assetUploaded, _), (.assetContent, _):
      false
    }
  }
}

extension Record {
  /// Removes the fields that `changes` set; does nothing and returns `false` if one of them has
  /// another value, or one that the digest of the request does not cover.
  fileprivate mutating func omitFields(_ changes: [RecordSave.Change]) -> Bool {
    // In a new record they are mostly in the same order.
    var isWhole = changes.count == fields.count
    for (index, change) in changes.enumerated() {
      guard let field = change.field else {
        isWhole = false
        continue
      }
      if field.value.holdsAssets { return false }
      isWhole = isWhole && fields[index].key == change.key
      guard (isWhole ? fields[index].field : fields[change.key]) == field else { return false }
    }
    if isWhole {
      fields = Fields()
    } else {
      fields.apply(changes.map { (key: $0.key, field: nil) })
    }
    return true
  }
}

extension FieldValue {
  /// Whether the value is an asset or a list of assets.
  var holdsAssets: Bool {
    switch self {
    case .asset: true
    case .list(let values): values.first?.kind == .asset
    case .string, .int64, .double, .date, .bytes, .reference, .location: false
    }
  }
}
