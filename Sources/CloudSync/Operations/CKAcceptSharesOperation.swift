import Foundation

/// Accepts shares; see CS-158.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
  /// The shares to accept, as `CKFetchShareMetadataOperation` returned them.
  public final var shareMetadatas: [CKShare.Metadata]?

  /// Called for each share.
  public final var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
  /// Called once at the end; a success when only single shares failed.
  public final var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each share, if the newer block is not set.
  public final var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
  /// Called once at the end; `partialFailure` when single shares failed.
  public final var acceptSharesCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that accepts the shares in `shareMetadatas`.
  public convenience init(shareMetadatas: [CKShare.Metadata]) {
    self.init()
    self.shareMetadatas = shareMetadatas
  }

  override func run() async {
    await perform {
      try await effectiveContainer.shareRequests.accept(shareMetadatas ?? [])
    } reporting: { results in
      try await report(results) { metadata, result in
        if let block = self.perShareResultBlock { return block(metadata, result.widened) }
        self.perShareCompletionBlock?(metadata, result.success, result.failure)
      }
    } concluding: { _, result, error in
      self.acceptSharesResultBlock?(result)
      self.acceptSharesCompletionBlock?(error)
    }
  }
}
