import Foundation

/// Finds users to invite to shares; see CS-166.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
  /// The criteria of the search.
  public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

  /// Called for each criterion.
  public final var perShareParticipantResultBlock:
    ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
  /// Called once at the end; a success if only single users were not found.
  public final var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each user that was found, if the newer block is not set.
  public final var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)?
  /// Called once at the end; `partialFailure` if single users were not found.
  public final var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that searches by `userIdentityLookupInfos`.
  public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
    self.init()
    self.userIdentityLookupInfos = userIdentityLookupInfos
  }

  override func run() async {
    await perform {
      try await effectiveContainer.shareRequests.participants(for: userIdentityLookupInfos ?? [])
    } reporting: { results in
      try await report(results) { lookup, result in
        if let block = self.perShareParticipantResultBlock { return block(lookup, result.widened) }
        if let participant = result.success { self.shareParticipantFetchedBlock?(participant) }
      }
    } concluding: { _, result, error in
      self.fetchShareParticipantsResultBlock?(result)
      self.fetchShareParticipantsCompletionBlock?(error)
    }
  }
}
