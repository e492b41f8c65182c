/// The methods for single items with completion handlers. Each is equivalent to its `async` form
/// and calls the handler on a queue other than the main queue.
extension CKDatabase {
  /// Fetches one record.
  @preconcurrency public func fetch(
    withRecordID recordID: CKRecord.ID,
    completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.record(for: recordID)
    }
  }

  /// Saves one record.
  @preconcurrency public func save(
    _ record: CKRecord,
    completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) { try await self.save(record) }
  }

  /// Deletes one record.
  @preconcurrency public func delete(
    withRecordID recordID: CKRecord.ID,
    completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.deleteRecord(withID: recordID)
    }
  }

  /// Fetches all zones.
  @preconcurrency public func fetchAllRecordZones(
    completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) { try await self.allRecordZones() }
  }

  /// Fetches one zone.
  @preconcurrency public func fetch(
    withRecordZoneID zoneID: CKRecordZone.ID,
    completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.recordZone(for: zoneID)
    }
  }

  /// Creates one zone.
  @preconcurrency public func save(
    _ zone: CKRecordZone,
    completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) { try await self.save(zone) }
  }

  /// Deletes one zone with its records.
  @preconcurrency public func delete(
    withRecordZoneID zoneID: CKRecordZone.ID,
    completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.deleteRecordZone(withID: zoneID)
    }
  }

  /// Fetches one subscription.
  @preconcurrency public func fetch(
    withSubscriptionID subscriptionID: CKSubscription.ID,
    completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.subscription(for: subscriptionID)
    }
  }

  /// Fetches all subscriptions.
  @preconcurrency public func fetchAllSubscriptions(
    completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) { try await self.allSubscriptions() }
  }

  /// Creates one subscription.
  @preconcurrency public func save(
    _ subscription: CKSubscription,
    completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) { try await self.save(subscription) }
  }

  /// Deletes one subscription.
  @preconcurrency public func delete(
    withSubscriptionID subscriptionID: CKSubscription.ID,
    completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.deleteSubscription(withID: subscriptionID)
    }
  }
}
