import CloudProtocol
import Records

extension CKSyncEngine {
  /// The records of one request.
  public struct RecordZoneChangeBatch: Sendable {
    /// The most changes one batch takes (cksyncengine 2.5).
    package static let maximumChangeCount = 250

    /// The most bytes one batch takes: under the server's 2 MB, with room for the envelope.
    package static let maximumByteCount = 1_900_000

    /// The records to save.
    public var recordsToSave: [CKRecord]

    /// The records to delete.
    public var recordIDsToDelete: [CKRecord.ID]

    /// Whether the changes of each zone land together or not at all.
    public var atomicByZone: Bool

    /// A batch as it is: nothing is checked before the server does.
    public init(
      recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [],
      atomicByZone: Bool = false
    ) {
      self.recordsToSave = recordsToSave
      self.recordIDsToDelete = recordIDsToDelete
      self.atomicByZone = atomicByZone
    }

    /// As many of the changes as one request can take, in their order.
    ///
    /// A record larger than a whole batch is sent alone, for the server to refuse it by name. A
    /// record named a second time waits for the next batch.
    /// - Parameters:
    ///   - pendingChanges: What waits to be sent.
    ///   - recordProvider: Gives the record for each save; with `nil` the change is left out.
    /// - Returns: `nil` when there is nothing to send.
    public init?(
      pendingChanges: [CKSyncEngine.PendingRecordZoneChange],
      recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
    ) async {
      self.init()
      var byteCount = 0
      var seen = Set<RecordID>(minimumCapacity: min(pendingChanges.count, Self.maximumChangeCount))
      walk: for change in pendingChanges {
        guard changeCount < Self.maximumChangeCount else { break }
        switch change {
        case .saveRecord(let id):
          guard !seen.contains(id.value), let record = await recordProvider(id) else { continue }
          let (given, size) = record.pendingSize
          guard changeCount == 0 || size <= Self.maximumByteCount - byteCount else { break walk }
          guard seen.insert(given).inserted else { continue }
          if given != id.value { seen.insert(id.value) }
          byteCount += size
          recordsToSave.append(record)
        case .deleteRecord(let id):
          let size = id.recordName.utf8.count
          guard changeCount == 0 || size <= Self.maximumByteCount - byteCount else { break walk }
          guard seen.insert(id.value).inserted else { continue }
          byteCount += size
          recordIDsToDelete.append(id)
        }
      }
      if changeCount == 0 { return nil }
    }

    private var changeCount: Int { recordsToSave.count + recordIDsToDelete.count }
  }
}

extension CKSyncEngine.RecordZoneChangeBatch: CustomStringConvertible {
  /// How many records, and whether atomic.
  public var description: String {
    "RecordZoneChangeBatch(saves: \(recordsToSave.count), "
      + "deletes: \(recordIDsToDelete.count), atomicByZone: \(atomicByZone))"
  }
}
