extension CKDatabase {
  /// Fetches all of the user's subscriptions of this database.
  public func allSubscriptions() async throws -> [CKSubscription] {
    try await requests.subscriptions(for: nil).values
  }

  /// Fetches one subscription.
  /// - Throws: the subscription's own error, such as `unknownItem`.
  public func subscription(
    for subscriptionID: CKSubscription.ID
  ) async throws -> CKSubscription {
    try await requests.subscriptions(for: [subscriptionID]).only(subscriptionID)
  }

  /// Fetches subscriptions; returns a subscription or an error for each ID.
  public func subscriptions(
    for ids: [CKSubscription.ID]
  ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
    try await requests.subscriptions(for: ids).byID
  }

  /// Creates a subscription, or replaces the one with the same ID.
  /// - Throws: the subscription's own error, such as `badDatabase`.
  @discardableResult
  public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
    try await connection.uncancelled { [requests] in
      try await requests.modifySubscriptions(saving: [subscription], deleting: [])
    }.saved.only(subscription.subscriptionID)
  }

  /// Deletes a subscription.
  /// - Throws: the subscription's own error, such as `unknownItem`.
  @discardableResult
  public func deleteSubscription(
    withID subscriptionID: CKSubscription.ID
  ) async throws -> CKSubscription.ID {
    try await connection.uncancelled { [requests] in
      try await requests.modifySubscriptions(saving: [], deleting: [subscriptionID])
    }.deleted.only(subscriptionID)
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
    try await connection.uncancelled { [requests] in
      try await requests.modifySubscriptions(
        saving: subscriptionsToSave, deleting: subscriptionIDsToDelete)
    }.byID
  }
}
