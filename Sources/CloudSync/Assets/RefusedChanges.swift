import CloudProtocol
import Records

/// The items of a change that this device does not send, because a file can't be read or the
/// service can't store a value.
///
/// In an atomic request the other items of a zone with such an item are not sent either.
struct RefusedChanges {
  private let saves: [(id: RecordID, error: CloudError?)]
  private let deletes: [(id: RecordID, error: CloudError?)]

  /// Creates the refusals of a request.
  ///
  /// - Parameter failed: The errors of saves, by index.
  init(_ request: ModifyRecords, _ failed: [Int: CloudError]) {
    let zones = request.isAtomic ? Set(failed.keys.map { request.save[$0].id.zone }) : []
    let sibling = CloudError(
      .batchRequestFailed, "not sent, because another record of this zone can't be sent")
    saves = request.save.enumerated().map { index, save in
      (save.id, failed[index] ?? (zones.contains(save.id.zone) ? sibling : nil))
    }
    deletes = request.delete.map { ($0, zones.contains($0.zone) ? sibling : nil) }
  }

  /// The items of the request that are sent.
  func rest(of request: ModifyRecords) -> ModifyRecords {
    var rest = request
    rest.save = zip(request.save, saves).filter { $1.error == nil }.map(\.0)
    rest.delete = zip(request.delete, deletes).filter { $1.error == nil }.map(\.0)
    return rest
  }

  /// The server's results of the saves, and the errors of those that were not sent, in the order of
  /// the request.
  func completing(saved: [ItemResult<RecordID, Record>]) -> [ItemResult<RecordID, Record>] {
    RefusedChanges.merged(saved, saves)
  }

  /// The server's results of the deletions, and the errors of those that were not sent, in the
  /// order of the request.
  func completing(deleted: [ItemResult<RecordID, Done>]) -> [ItemResult<RecordID, Done>] {
    RefusedChanges.merged(deleted, deletes)
  }

  private static func merged<Value>(
    _ results: [ItemResult<RecordID, Value>], _ items: [(id: RecordID, error: CloudError?)]
  ) -> [ItemResult<RecordID, Value>] {
    var rest = results[...]
    return items.compactMap { id, error in
      if let error { return ItemResult(id: id, .failure(error)) }
      return rest.popFirst()
    }
  }
}
