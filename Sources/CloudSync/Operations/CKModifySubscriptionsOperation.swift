import Foundation

/// Creates and deletes subscriptions in one request; see CS-97.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The subscriptions to create; one with the same ID is replaced.
  public final var subscriptionsToSave: [CKSubscription]?
  /// The subscriptions whose pushes end.
  public final var subscriptionIDsToDelete: [CKSubscription.ID]?

  /// Called for each subscription to create.
  public final var perSubscriptionSaveBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  /// Called for each subscription to delete.
  public final var perSubscriptionDeleteBlock:
    ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
  /// Called once at the end; a success when only single subscriptions failed.
  public final var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with the subscriptions; `partialFailure` if single ones failed.
  public final var modifySubscriptionsCompletionBlock:
    (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that creates and deletes subscriptions.
  public convenience init(
    subscriptionsToSave: [CKSubscription]? = nil,
    subscriptionIDsToDelete: [CKSubscription.ID]? = nil
  ) {
    self.init()
    self.subscriptionsToSave = subscriptionsToSave
    self.subscriptionIDsToDelete = subscriptionIDsToDelete
  }

  override func run() async {
    await perform {
      try await requests.modifySubscriptions(
        saving: subscriptionsToSave ?? [], deleting: subscriptionIDsToDelete ?? [])
    } reporting: { results in
      try await report(results.saved) { self.perSubscriptionSaveBlock?($0, $1.widened) }
      try await report(results.deleted) { self.perSubscriptionDeleteBlock?($0, $1.widened) }
    } concluding: { results, result, error in
      self.modifySubscriptionsResultBlock?(result)
      self.modifySubscriptionsCompletionBlock?(
        results?.saved.values, results?.deleted.successfulIDs, error)
    }
  }
}
