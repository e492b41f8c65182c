import CloudProtocol
import Records

extension CKSyncEngine {
  /// The record changes of one request.
  public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
    /// The maximum number of changes in a batch (CE-60).
    package static let maximumChangeCount = 250

    /// The maximum size of a batch in bytes: below the server's 2 MB, with space for the envelope.
    package static let maximumByteCount = 1_900_000

    /// The records that are saved by this request, each with its changed fields.
    public var recordsToSave: [CKRecord]

    /// The records that are deleted by this request.
    public var recordIDsToDelete: [CKRecord.ID]

    /// Whether the changes of each zone succeed or fail together.
    public var atomicByZone: Bool

    /// Creates a batch without checks; the server checks it.
    public init(
      recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [],
      atomicByZone: Bool = false
    ) {
      self.recordsToSave = recordsToSave
      self.recordIDsToDelete = recordIDsToDelete
      self.atomicByZone = atomicByZone
    }

    /// Creates a batch of as many of the changes as one request can hold, in their order.
    ///
    /// A record larger than a batch is sent alone, so that the server rejects that record. A record
    /// that occurs twice is left for the next batch.
    /// - Parameters:
    ///   - pendingChanges: The pending changes.
    ///   - recordProvider: Returns the record for each save; for `nil` the change is omitted.
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

    /// A description with the numbers of records and whether the batch is atomic.
    public var description: String {
      "RecordZoneChangeBatch(saves: \(recordsToSave.count), "
        + "deletes: \(recordIDsToDelete.count), atomicByZone: \(atomicByZone))"
    }
  }
}
