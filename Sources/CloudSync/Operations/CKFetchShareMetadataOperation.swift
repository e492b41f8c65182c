import CloudProtocol
public import Foundation

/// Fetches the metadata of shares by URL; see CS-163.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
  /// The URLs of the shares to look up, as returned by `CKShare.url`.
  public final var shareURLs: [URL]?
  /// Whether to fetch the root records.
  public final var shouldFetchRootRecord = false
  /// The fields of the root records to fetch; `nil` fetches all.
  public final var rootRecordDesiredKeys: [CKRecord.FieldKey]?

  /// Called for each URL.
  public final var perShareMetadataResultBlock:
    ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
  /// Called once at the end; a success when only single URLs failed.
  public final var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each URL, if the newer block is not set.
  public final var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
  /// Called once at the end; `partialFailure` when single URLs failed.
  public final var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that fetches the metadata of the shares at `shareURLs`.
  public convenience init(shareURLs: [URL]) {
    self.init()
    self.shareURLs = shareURLs
  }

  override func run() async {
    await perform {
      let fields: FieldSelection? =
        shouldFetchRootRecord ? rootRecordDesiredKeys.map { .keys($0) } ?? .all : nil
      return try await effectiveContainer.shareRequests
        .metadatas(for: shareURLs ?? [], rootFields: fields)
    } reporting: { results in
      try await report(results) { url, result in
        if let block = self.perShareMetadataResultBlock { return block(url, result.widened) }
        self.perShareMetadataBlock?(url, result.success, result.failure)
      }
    } concluding: { _, result, error in
      self.fetchShareMetadataResultBlock?(result)
      self.fetchShareMetadataCompletionBlock?(error)
    }
  }
}
