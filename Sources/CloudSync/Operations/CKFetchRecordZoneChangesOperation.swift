public import Foundation

/// Fetches the changes of zones, one zone after the other.
///
/// The reported tokens, and the records reported before them, stay valid if the operation fails
/// later. See CS-60 to CS-62.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The settings of the fetch of one zone.
  public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration
  /// The settings of the fetch of one zone, by the older name.
  public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

  /// The zones, in the order of the fetch.
  public final var recordZoneIDs: [CKRecordZone.ID]?
  /// The settings of each zone; zones without settings are fetched completely.
  public final var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
  /// Whether to fetch all pages of each zone.
  public final var fetchAllChanges = true

  /// Called for each record that is new or changed.
  public final var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called for each deleted record.
  public final var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
  /// Called after each page of a zone but the last, with the token that ends it.
  public final var recordZoneChangeTokensUpdatedBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
  /// Called once for each zone after its records.
  public final var recordZoneFetchResultBlock:
    (
      (
        CKRecordZone.ID,
        Result<
          (
            serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
          ), any Error
        >
      ) -> Void
    )?
  /// Called once at the end; a success when only single zones failed.
  public final var fetchRecordZoneChangesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record that is new or changed, if there is no `recordWasChangedBlock`.
  public final var recordChangedBlock: ((CKRecord) -> Void)?
  /// Called once for each zone after its records, if there is no
  /// `recordZoneFetchResultBlock`.
  public final var recordZoneFetchCompletionBlock:
    ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
  /// Called once at the end; with `partialFailure` when single zones failed.
  public final var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that fetches the changes of `recordZoneIDs`.
  public convenience init(
    recordZoneIDs: [CKRecordZone.ID]? = nil,
    configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
  ) {
    self.init()
    self.recordZoneIDs = recordZoneIDs
    self.configurationsByRecordZoneID = configurationsByRecordZoneID
  }

  /// Creates an operation that fetches the changes of `recordZoneIDs`, with the older label.
  public convenience init(
    recordZoneIDs: [CKRecordZone.ID], optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
  ) {
    self.init(
      recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
  }

  /// The configurations under their older name.
  public final var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
    get { configurationsByRecordZoneID }
    set { configurationsByRecordZoneID = newValue }
  }

  override func run() async {
    var zoneFailures: [AnyHashable: CKError] = [:]
    var failure: CKError?
    do throws(CKError) {
      try checkCancellation()
      for zoneID in (recordZoneIDs ?? []).withoutRepetitions {
        do throws(CKError) {
          try await fetch(zoneID)
        } catch {
          guard error.isAboutOneZone, !isCancelled else { throw error }
          zoneFailures[zoneID] = error
          await report(.failure(error), of: zoneID)
        }
      }
    } catch {
      failure = error
    }
    await conclude(failure, items: zoneFailures) { result, error in
      self.fetchRecordZoneChangesResultBlock?(result)
      self.fetchRecordZoneChangesCompletionBlock?(error)
    }
  }

  private typealias ZoneEnd = (
    serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool
  )

  /// Fetches the pages of one zone.
  private func fetch(_ zoneID: CKRecordZone.ID) async throws(CKError) {
    let configuration = configurationsByRecordZoneID?[zoneID]
    var token = configuration?.previousServerChangeToken
    let limit = configuration?.resultsLimit ?? 0
    while true {
      let page = try await requests.zoneChanges(
        in: zoneID, since: token, desiredKeys: configuration?.desiredKeys,
        limit: limit > 0 ? limit : nil)
      try await report(page)
      guard page.moreComing && fetchAllChanges else {
        await report(.success((page.token, nil, page.moreComing)), of: zoneID)
        return try checkCancellation()
      }
      token = page.token
      await callbacks.call { self.recordZoneChangeTokensUpdatedBlock?(zoneID, page.token, nil) }
    }
  }

  /// Reports the records of one page.
  private func report(_ page: DatabaseRequests.ZonePage) async throws(CKError) {
    try await report(page.modifications) { id, result in
      if let block = self.recordWasChangedBlock {
        block(id, result.widened)
      } else if let record = result.success {
        self.recordChangedBlock?(record)
      }
    }
    await callbacks.call {
      for deletion in page.deletions where !self.isCancelled {
        self.recordWithIDWasDeletedBlock?(deletion.recordID, deletion.recordType)
      }
    }
    try checkCancellation()
  }

  /// Reports the end of one zone.
  private func report(_ end: Result<ZoneEnd, CKError>, of zoneID: CKRecordZone.ID) async {
    await callbacks.call {
      if let block = self.recordZoneFetchResultBlock { return block(zoneID, end.widened) }
      let success = end.success
      self.recordZoneFetchCompletionBlock?(
        zoneID, success?.serverChangeToken, success?.clientChangeTokenData,
        success?.moreComing ?? false, end.failure)
    }
  }
}

extension CKError {
  /// Whether the error of a request about one zone is that zone's own, so that others may do
  /// better, and not one of the account, the way or the server.
  fileprivate var isAboutOneZone: Bool {
    switch code {
    case .zoneNotFound, .userDeletedZone, .changeTokenExpired, .zoneBusy, .unknownItem,
      .permissionFailure, .invalidArguments, .serverRejectedRequest, .badDatabase:
      true
    default: false
    }
  }
}
