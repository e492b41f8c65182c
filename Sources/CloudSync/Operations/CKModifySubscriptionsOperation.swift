import Foundation

/// Creates and deletes subscriptions in one request.
///
/// See CS-97.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The subscriptions to create; one of the same name is replaced.
  public final var subscriptionsToSave: [CKSubscription]?
  /// The subscriptions to delete.
  public final var subscriptionIDsToDelete: [CKSubscription.ID]?

  /// Called for each subscription to create.
  public final var perSubscriptionSaveBlock:
    ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
  /// Called for each subscription to delete.
  public final var perSubscriptionDeleteBlock:
    ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
  /// Called once at the end; a success when only single subscriptions failed.
  public final var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called once at the end with what was done; `partialFailure` when single ones failed.
  public final var modifySubscriptionsCompletionBlock:
    (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Creates and deletes subscriptions.
  public convenience init(
    subscriptionsToSave: [CKSubscription]? = nil,
    subscriptionIDsToDelete: [CKSubscription.ID]? = nil
  ) {
    self.init()
    self.subscriptionsToSave = subscriptionsToSave
    self.subscriptionIDsToDelete = subscriptionIDsToDelete
  }

  override func run() async {
    var done: ModifyResults<CKSubscription.ID, CKSubscription>?
    var failure: CKError?
    do throws(CKError) {
      let results = try await requests().modifySubscriptions(
        saving: subscriptionsToSave ?? [], deleting: subscriptionIDsToDelete ?? [])
      done = results
      try await report(results.saved) { self.perSubscriptionSaveBlock?($0, $1.widened) }
      try await report(results.deleted) { self.perSubscriptionDeleteBlock?($0, $1.widened) }
    } catch {
      failure = error
    }
    let saved = done?.saved.values
    let deleted = done?.deleted.successfulIDs
    await conclude(failure, items: done?.failures ?? [:]) { result, error in
      self.modifySubscriptionsResultBlock?(result)
      self.modifySubscriptionsCompletionBlock?(saved, deleted, error)
    }
  }
}
