import CloudProtocol
import Records

extension DatabaseRequests {
  /// Fetches the user's subscriptions, or all of them for `nil`.
  func subscriptions(
    for ids: [CKSubscription.ID]?
  ) async throws(CKError) -> ItemResults<CKSubscription.ID, CKSubscription> {
    let ids = ids.map(unique)
    guard ids?.isEmpty != true else { return ItemResults(items: []) }
    try checkCount(ids?.count ?? 0)
    let reply = try await send(.fetchSubscriptions(ids?.map { SubscriptionID($0) }))
    guard case .subscriptions(let items) = reply else { throw .misplaced(reply) }
    guard let ids else { return ItemResults(all: items, \.rawValue, CKSubscription.face) }
    return ItemResults(items, for: ids, \.rawValue) { CKSubscription.face($1) }
  }

  /// Creates and deletes subscriptions.
  func modifySubscriptions(
    saving subscriptions: [CKSubscription], deleting deletedIDs: [CKSubscription.ID]
  ) async throws(CKError) -> ModifyResults<CKSubscription.ID, CKSubscription> {
    let savedIDs = subscriptions.map(\.subscriptionID)
    guard !(savedIDs.isEmpty && deletedIDs.isEmpty) else { return .empty }
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
      saved: ItemResults(saved, for: savedIDs, \.rawValue) { CKSubscription.face($1) },
      deleted: ItemResults(deleted, for: deletedIDs, \.rawValue) { _, _ in })
  }
}
