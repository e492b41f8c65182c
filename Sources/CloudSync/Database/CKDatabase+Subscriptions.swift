import CloudProtocol
import Records

extension CKDatabase {
  /// Fetches all of the user's subscriptions of this database.
  public func allSubscriptions() async throws -> [CKSubscription] {
    let reply = try await send(.fetchSubscriptions(nil))
    guard case .subscriptions(let items) = reply else { throw CKError.misplaced(reply) }
    return items.compactMap { $0.value.map(CKSubscription.face) }
  }

  /// Fetches one subscription.
  /// - Throws: the subscription's own error, such as `unknownItem`.
  public func subscription(
    for subscriptionID: CKSubscription.ID
  ) async throws -> CKSubscription {
    try await one(subscriptions(for: [subscriptionID])[subscriptionID], subscriptionID)
  }

  /// Fetches subscriptions; answers one or an error for each ID.
  public func subscriptions(
    for ids: [CKSubscription.ID]
  ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
    guard !ids.isEmpty else { return [:] }
    try checkCount(ids.count)
    let reply = try await send(.fetchSubscriptions(ids.map { SubscriptionID($0) }))
    guard case .subscriptions(let items) = reply else { throw CKError.misplaced(reply) }
    return results(items, for: ids, \.rawValue) { CKSubscription.face($1) }
  }

  /// Creates a subscription, or replaces the one of that name.
  /// - Throws: the subscription's own error, such as `badDatabase`.
  @discardableResult
  public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
    let results = try await modifySubscriptions(saving: [subscription], deleting: [])
    return try one(
      results.saveResults[subscription.subscriptionID], subscription.subscriptionID)
  }

  /// Deletes a subscription.
  /// - Throws: the subscription's own error, such as `unknownItem`.
  @discardableResult
  public func deleteSubscription(
    withID subscriptionID: CKSubscription.ID
  ) async throws -> CKSubscription.ID {
    let results = try await modifySubscriptions(saving: [], deleting: [subscriptionID])
    try one(results.deleteResults[subscriptionID], subscriptionID)
    return subscriptionID
  }

  /// Creates and deletes subscriptions in one request; single failures do not throw.
  @discardableResult
  public func modifySubscriptions(
    saving subscriptionsToSave: [CKSubscription],
    deleting subscriptionIDsToDelete: [CKSubscription.ID]
  ) async throws -> (
    saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
    deleteResults: [CKSubscription.ID: Result<Void, any Error>]
  ) {
    let savedIDs = subscriptionsToSave.map(\.subscriptionID)
    guard !(savedIDs.isEmpty && subscriptionIDsToDelete.isEmpty) else { return ([:], [:]) }
    try checkCount(savedIDs.count + subscriptionIDsToDelete.count)
    try checkUnique(savedIDs + subscriptionIDsToDelete, "subscription")
    let reply = try await send(
      .modifySubscriptions(
        ModifySubscriptions(
          save: subscriptionsToSave.map(\.value),
          delete: subscriptionIDsToDelete.map { SubscriptionID($0) })))
    guard case .subscriptionsModified(let saved, let deleted) = reply else {
      throw CKError.misplaced(reply)
    }
    return (
      results(saved, for: savedIDs, \.rawValue) { CKSubscription.face($1) },
      results(deleted, for: subscriptionIDsToDelete, \.rawValue) { _, _ in }
    )
  }
}
