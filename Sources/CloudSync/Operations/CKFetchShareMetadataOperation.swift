import CloudProtocol
public import Foundation

/// Describes the shares behind URLs, before they are joined.
///
/// See CS-163.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
  /// The URLs.
  public final var shareURLs: [URL]?
  /// Whether the root records come too.
  public final var shouldFetchRootRecord = false
  /// The fields of the root records that are wanted; all for `nil`.
  public final var rootRecordDesiredKeys: [CKRecord.FieldKey]?

  /// Called for each URL.
  public final var perShareMetadataResultBlock:
    ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
  /// Called once at the end; a success when only single URLs failed.
  public final var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each URL, where the newer block is not set.
  public final var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
  /// Called once at the end; `partialFailure` when single URLs failed.
  public final var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Describes the shares behind `shareURLs`.
  public convenience init(shareURLs: [URL]) {
    self.init()
    self.shareURLs = shareURLs
  }

  override func run() async {
    var items: [AnyHashable: CKError] = [:]
    var failure: CKError?
    do throws(CKError) {
      try checkCancellation()
      let fields: FieldSelection? =
        shouldFetchRootRecord ? rootRecordDesiredKeys.map { .keys($0) } ?? .all : nil
      let results = try await effectiveContainer.shareRequests
        .metadatas(for: shareURLs ?? [], rootFields: fields)
      items = results.failures
      try await report(results) { url, result in
        if let block = self.perShareMetadataResultBlock { return block(url, result.widened) }
        self.perShareMetadataBlock?(url, result.success, result.failure)
      }
    } catch {
      failure = error
    }
    await conclude(failure, items: items) { result, error in
      self.fetchShareMetadataResultBlock?(result)
      self.fetchShareMetadataCompletionBlock?(error)
    }
  }
}
