import CloudProtocol
import Records

extension CloudCall {
  /// A digest of a mutation's content: equal for a repeated request, different for every other.
  ///
  /// It is stable across processes, so that a storage can keep it.
  ///
  /// The content of an upload and the receipts of assets are omitted: the machine compares the
  /// upload's checksum with its receipt, and a file that was uploaded again is the same file.
  var digest: [UInt8] {
    var writer = ByteWriter(capacity: 1024)
    writer.write(container)
    writer.write(environment.rawValue)
    writer.write(database.rawValue)
    writer.write(contentOf: request)
    return SHA256.digest(of: writer.bytes)
  }
}

extension ByteWriter {
  /// Appends the content of a mutation; reads have no digest and append nothing.
  fileprivate mutating func write(contentOf request: CloudRequest) {
    switch request {
    case .modifyZones(let request):
      write(UInt8(0))
      write(list: request.save) { $0.write($1) }
      write(list: request.delete) { $0.write($1) }
    case .modifyRecords(let request):
      write(UInt8(1))
      write(contentOf: request)
    case .modifySubscriptions(let request):
      write(UInt8(2))
      write(list: request.save) { $0.write($1) }
      write(list: request.delete) { $0.write($1.rawValue) }
    case .acceptShares(let urls):
      write(UInt8(3))
      write(list: urls) { $0.write($1) }
    case .uploadAsset(let request):
      write(UInt8(4))
      write(request.recordType)
      write(request.key)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      break
    }
  }

  private mutating func write(contentOf request: ModifyRecords) {
    write(list: request.save) { $0.write(contentOf: $1) }
    write(list: request.delete) { writer, id in
      writer.write(id)
      writer.write(optional: request.deleteTags[id]) { $0.write($1.rawValue) }
    }
    write(request.policy.rawValue)
    write(request.isAtomic)
    switch request.fields {
    case .all: write(UInt8(0))
    case .none: write(UInt8(1))
    case .keys(let keys):
      write(UInt8(2))
      write(list: keys) { $0.write($1) }
    }
  }

  private mutating func write(contentOf save: RecordSave) {
    write(save.id)
    write(save.type)
    write(optional: save.changeTag) { $0.write($1.rawValue) }
    write(list: save.changes) { writer, change in
      writer.write(change.key)
      writer.write(optional: change.field) { writer, field in
        writer.write(field.isEncrypted)
        writer.write(field.value.withoutReceipts)
      }
    }
    switch save.parent {
    case .keep: write(false)
    case .set(let parent):
      write(true)
      write(optional: parent) { $0.write($1) }
    }
    write(optional: save.sharing) { $0.write($1) }
    write(optional: save.policy) { $0.write($1.rawValue) }
    write(save.clearsOtherFields)
  }
}

extension FieldValue {
  /// The value with assets reduced to their checksums.
  fileprivate var withoutReceipts: FieldValue {
    switch self {
    case .asset(let asset): .asset(Asset(checksum: asset.checksum, size: asset.size))
    case .list(let values) where values.first?.kind == .asset:
      .list(values.map(\.withoutReceipts))
    case .string, .int64, .double, .date, .bytes, .reference, .location, .list: self
    }
  }
}
