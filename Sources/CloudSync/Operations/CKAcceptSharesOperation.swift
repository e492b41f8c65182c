import Foundation

/// Joins shares.
///
/// See CS-158.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
  /// The shares to join.
  public final var shareMetadatas: [CKShare.Metadata]?

  /// Called for each share.
  public final var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
  /// Called once at the end; a success when only single shares failed.
  public final var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each share, where the newer block is not set.
  public final var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
  /// Called once at the end; `partialFailure` when single shares failed.
  public final var acceptSharesCompletionBlock: (((any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Joins the shares that `shareMetadatas` describe.
  public convenience init(shareMetadatas: [CKShare.Metadata]) {
    self.init()
    self.shareMetadatas = shareMetadatas
  }

  override func run() async {
    var items: [AnyHashable: CKError] = [:]
    var failure: CKError?
    do throws(CKError) {
      try checkCancellation()
      let results = try await effectiveContainer.shareRequests.accept(shareMetadatas ?? [])
      items = results.failures
      try await report(results) { metadata, result in
        if let block = self.perShareResultBlock { return block(metadata, result.widened) }
        self.perShareCompletionBlock?(metadata, result.success, result.failure)
      }
    } catch {
      failure = error
    }
    await conclude(failure, items: items) { result, error in
      self.acceptSharesResultBlock?(result)
      self.acceptSharesCompletionBlock?(error)
    }
  }
}
