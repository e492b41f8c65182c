import Foundation

/// Fetches the user's subscriptions, by ID or all there are.
///
/// See CS-55 to CS-57.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The subscriptions.
  public final var subscriptionIDs: [CKSubscription.ID]?

  /// Called for each subscription.
  public final var perSubscriptionResultBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  /// Called once at the end; a success when only single subscriptions failed.
  public final var fetchSubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with what was fetched; `partialFailure` when single ones failed.
  public final var fetchSubscriptionCompletionBlock:
    (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

  private final var fetchesAll = false

  /// An operation with nothing to do as long as it is told nothing.
  public required override init() { super.init() }

  /// Fetches the subscriptions `subscriptionIDs`.
  public convenience init(subscriptionIDs: [CKSubscription.ID]) {
    self.init()
    self.subscriptionIDs = subscriptionIDs
  }

  /// An operation that fetches all of the user's subscriptions of the database.
  open class func fetchAllSubscriptionsOperation() -> Self {
    let operation = self.init()
    operation.fetchesAll = true
    return operation
  }

  override func run() async {
    var done: ItemResults<CKSubscription.ID, CKSubscription>?
    var failure: CKError?
    do throws(CKError) {
      let results = try await requests().subscriptions(
        for: fetchesAll ? nil : subscriptionIDs ?? [])
      done = results
      try await report(results) { self.perSubscriptionResultBlock?($0, $1.widened) }
    } catch {
      failure = error
    }
    let subscriptions = done?.valuesByID
    await conclude(failure, items: done?.failures ?? [:]) { result, error in
      self.fetchSubscriptionsResultBlock?(result)
      self.fetchSubscriptionCompletionBlock?(subscriptions, error)
    }
  }
}
