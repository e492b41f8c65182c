import Foundation

#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

/// Fetches zones, by ID or all of them; see CS-55 to CS-57.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zones to fetch; `nil` fetches none, unless the operation was made to fetch all.
  public final var recordZoneIDs: [CKRecordZone.ID]?

  /// Called for each zone.
  public final var perRecordZoneResultBlock:
    ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  /// Called once at the end; a success when only single zones failed.
  public final var fetchRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with the fetched zones; `partialFailure` if single zones failed.
  public final var fetchRecordZonesCompletionBlock:
    (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

  private final var fetchesAll = false

  /// Creates an operation; set its properties before it starts.
  public required override init() { super.init() }

  /// Creates an operation that fetches the zones `recordZoneIDs`.
  public convenience init(recordZoneIDs: [CKRecordZone.ID]) {
    self.init()
    self.recordZoneIDs = recordZoneIDs
  }

  /// Creates an operation that fetches all zones of the database.
  open class func fetchAllRecordZonesOperation() -> Self {
    let operation = self.init()
    operation.fetchesAll = true
    return operation
  }

  override func run() async {
    await perform {
      try await requests.zones(for: fetchesAll ? nil : recordZoneIDs ?? [])
    } reporting: { results in
      try await report(results) { self.perRecordZoneResultBlock?($0, $1.widened) }
    } concluding: { results, result, error in
      self.fetchRecordZonesResultBlock?(result)
      self.fetchRecordZonesCompletionBlock?(results?.valuesByID, error)
    }
  }
}
