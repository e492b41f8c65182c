import Foundation

/// Fetches the user's subscriptions, by ID or all of them; see CS-55 to CS-57.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The subscriptions to fetch; `nil` fetches none, unless the operation was made to fetch all.
  public final var subscriptionIDs: [CKSubscription.ID]?

  /// Called for each subscription.
  public final var perSubscriptionResultBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  /// Called once at the end; a success when only single subscriptions failed.
  public final var fetchSubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with the subscriptions; `partialFailure` if single ones failed.
  public final var fetchSubscriptionCompletionBlock:
    (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

  private final var fetchesAll = false

  /// Creates an operation; set its properties before it starts.
  public required override init() { super.init() }

  /// Creates an operation that fetches the subscriptions `subscriptionIDs`.
  public convenience init(subscriptionIDs: [CKSubscription.ID]) {
    self.init()
    self.subscriptionIDs = subscriptionIDs
  }

  /// Creates an operation that fetches all of the user's subscriptions of the database.
  open class func fetchAllSubscriptionsOperation() -> Self {
    let operation = self.init()
    operation.fetchesAll = true
    return operation
  }

  override func run() async {
    await perform {
      try await requests.subscriptions(for: fetchesAll ? nil : subscriptionIDs ?? [])
    } reporting: { results in
      try await report(results) { self.perSubscriptionResultBlock?($0, $1.widened) }
    } concluding: { results, result, error in
      self.fetchSubscriptionsResultBlock?(result)
      self.fetchSubscriptionCompletionBlock?(results?.valuesByID, error)
    }
  }
}
