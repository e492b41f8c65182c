import Foundation

/// Fetches the changes of a database: the zones that changed; see CS-141.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The token of the last fetch; `nil` fetches all zones.
  public final var previousServerChangeToken: CKServerChangeToken?
  /// The maximum number of zones in a page; 0 leaves it to the server.
  public final var resultsLimit = 0
  /// Whether to fetch all pages.
  public final var fetchAllChanges = true

  /// Called for each zone that is new or has changes.
  public final var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each deleted zone, unless one of the two blocks below is set and applies.
  public final var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that was deleted because the user removed the app's data.
  public final var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that was deleted because the user reset encrypted data.
  public final var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
    ((CKRecordZone.ID) -> Void)?
  /// Called after the zones of each page with the token that ends it.
  public final var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
  /// Called once at the end.
  public final var fetchDatabaseChangesResultBlock:
    (
      (Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void
    )?
  /// Called once at the end with the token, whether more is to come, and the error.
  public final var fetchDatabaseChangesCompletionBlock:
    ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?

  /// Creates an operation that fetches all changes.
  public override init() { super.init() }

  /// Creates an operation that fetches the changes after `previousServerChangeToken`.
  public convenience init(previousServerChangeToken: CKServerChangeToken?) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func run() async {
    var token = previousServerChangeToken
    var moreComing = false
    var failure: CKError?
    do throws(CKError) {
      try checkCancellation()
      repeat {
        let page = try await requests.databaseChanges(
          since: token, limit: resultsLimit > 0 ? resultsLimit : nil)
        try await report(page)
        token = page.token
        moreComing = page.moreComing
      } while moreComing && fetchAllChanges
    } catch {
      failure = error
    }
    let (end, isMoreComing) = (token, moreComing)
    await conclude(failure) { result, error in
      self.fetchDatabaseChangesResultBlock?(
        result.flatMap { _ in
          guard let end else { return .failure(CKError.unanswered("the change token")) }
          return .success((end, isMoreComing))
        })
      self.fetchDatabaseChangesCompletionBlock?(end, isMoreComing, error)
    }
  }

  /// Reports one page; if the operation is cancelled meanwhile, its token is not reported either.
  private func report(_ page: DatabaseRequests.DatabasePage) async throws(CKError) {
    await callbacks.call {
      for zone in page.modifications where !self.isCancelled {
        self.recordZoneWithIDChangedBlock?(zone.zoneID)
      }
      for zone in page.deletions where !self.isCancelled {
        self.block(for: zone.reason)?(zone.zoneID)
      }
      if !self.isCancelled { self.changeTokenUpdatedBlock?(page.token) }
    }
    try checkCancellation()
  }

  private func block(
    for reason: CKDatabase.DatabaseChange.Deletion.Reason
  ) -> ((CKRecordZone.ID) -> Void)? {
    switch reason {
    case .deleted: recordZoneWithIDWasDeletedBlock
    case .purged: recordZoneWithIDWasPurgedBlock ?? recordZoneWithIDWasDeletedBlock
    case .encryptedDataReset:
      recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock
        ?? recordZoneWithIDWasDeletedBlock
    }
  }
}
