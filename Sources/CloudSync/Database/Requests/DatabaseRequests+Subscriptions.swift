import CloudProtocol
import Records

extension DatabaseRequests {
  /// Fetches the user's subscriptions, each once, or all subscriptions for `nil`.
  func subscriptions(
    for ids: [CKSubscription.ID]?
  ) async throws(CKError) -> ItemResults<CKSubscription.ID, CKSubscription> {
    let ids = ids?.withoutRepetitions
    guard ids?.isEmpty != true else { return ItemResults(items: []) }
    try checkCount(ids?.count ?? 0)
    let reply = try await send(.fetchSubscriptions(ids?.map { SubscriptionID($0) }))
    guard case .subscriptions(let items) = reply else { throw .misplaced(reply) }
    return ItemResults(items, for: ids ?? items.map(\.id.rawValue), by: SubscriptionID.init) {
      CKSubscription.face($1)
    }
  }

  /// Creates an operation that creates and deletes subscriptions.
  func modifySubscriptions(
    saving subscriptions: [CKSubscription], deleting deletedIDs: [CKSubscription.ID]
  ) async throws(CKError) -> ModifyResults<CKSubscription.ID, CKSubscription> {
    let savedIDs = subscriptions.map(\.subscriptionID)
    guard !(savedIDs.isEmpty && deletedIDs.isEmpty) else { return ModifyResults() }
    try checkModification(saving: savedIDs, deleting: deletedIDs, "subscription")
    var saved: [Subscription] = []
    for subscription in subscriptions { saved.append(try subscription.checkedValue()) }
    let reply = try await send(
      .modifySubscriptions(
        ModifySubscriptions(
          save: saved, delete: deletedIDs.map { SubscriptionID($0) })))
    guard case .subscriptionsModified(let saved, let deleted) = reply else {
      throw .misplaced(reply)
    }
    return ModifyResults(
      saved: ItemResults(saved, for: savedIDs, by: SubscriptionID.init) { CKSubscription.face($1) },
      deleted: ItemResults(deleted, for: deletedIDs, by: SubscriptionID.init) { _, _ in })
  }
}
