import Foundation

/// Finds people, to be invited to shares.
///
/// See CS-166.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
  /// The people to find.
  public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

  /// Called for each person.
  public final var perShareParticipantResultBlock:
    ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
  /// Called once at the end; a success when only single people were not found.
  public final var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each person that was found, where the newer block is not set.
  public final var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)?
  /// Called once at the end; `partialFailure` when single people were not found.
  public final var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Finds the people that `userIdentityLookupInfos` tell how to look for.
  public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
    self.init()
    self.userIdentityLookupInfos = userIdentityLookupInfos
  }

  override func run() async {
    var items: [AnyHashable: CKError] = [:]
    var failure: CKError?
    do throws(CKError) {
      try checkCancellation()
      let results = try await effectiveContainer.shareRequests
        .participants(for: userIdentityLookupInfos ?? [])
      items = results.failures
      try await report(results) { lookup, result in
        if let block = self.perShareParticipantResultBlock { return block(lookup, result.widened) }
        if let participant = result.success { self.shareParticipantFetchedBlock?(participant) }
      }
    } catch {
      failure = error
    }
    await conclude(failure, items: items) { result, error in
      self.fetchShareParticipantsResultBlock?(result)
      self.fetchShareParticipantsCompletionBlock?(error)
    }
  }
}
