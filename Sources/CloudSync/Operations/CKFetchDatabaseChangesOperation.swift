import Foundation

/// Fetches which zones of a database changed.
///
/// See CS-141.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// Where the last fetch ended; `nil` asks for every zone there is.
  public final var previousServerChangeToken: CKServerChangeToken?
  /// The most zones wanted in one page, 0 for as many as the server likes.
  public final var resultsLimit = 0
  /// Whether to fetch all pages.
  public final var fetchAllChanges = true

  /// Called for each zone that is new or holds changes.
  public final var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that is gone, unless one of the two below is set and fits.
  public final var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that went because the user removed the app's data.
  public final var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that went because the user reset encrypted data.
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

  /// An operation that fetches from the start.
  public override init() { super.init() }

  /// Fetches the changes after `previousServerChangeToken`.
  public convenience init(previousServerChangeToken: CKServerChangeToken?) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func run() async {
    var token = previousServerChangeToken
    var moreComing = false
    var failure: CKError?
    do throws(CKError) {
      let requests = try requests()
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

  /// Reports one page, unless the operation is cancelled on the way: then its token must not
  /// be told either.
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
