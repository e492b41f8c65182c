import Foundation

#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

/// Fetches zones, by ID or all there are.
///
/// See CS-55 to CS-57.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zones.
  public final var recordZoneIDs: [CKRecordZone.ID]?

  /// Called for each zone.
  public final var perRecordZoneResultBlock:
    ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  /// Called once at the end; a success when only single zones failed.
  public final var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with what was fetched; `partialFailure` when single zones failed.
  public final var fetchRecordZonesCompletionBlock:
    (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

  private final var fetchesAll = false

  /// An operation with nothing to do as long as it is told nothing.
  public required override init() { super.init() }

  /// Fetches the zones `recordZoneIDs`.
  public convenience init(recordZoneIDs: [CKRecordZone.ID]) {
    self.init()
    self.recordZoneIDs = recordZoneIDs
  }

  /// An operation that fetches every zone of the database.
  open class func fetchAllRecordZonesOperation() -> Self {
    let operation = self.init()
    operation.fetchesAll = true
    return operation
  }

  override func run() async {
    var done: ItemResults<CKRecordZone.ID, CKRecordZone>?
    var failure: CKError?
    do throws(CKError) {
      let results = try await requests().zones(for: fetchesAll ? nil : recordZoneIDs ?? [])
      done = results
      try await report(results) { self.perRecordZoneResultBlock?($0, $1.widened) }
    } catch {
      failure = error
    }
    let zones = done?.valuesByID
    await conclude(failure, items: done?.failures ?? [:]) { result, error in
      self.fetchRecordZonesResultBlock?(result)
      self.fetchRecordZonesCompletionBlock?(zones, error)
    }
  }
}
