#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

/// The methods for several items with completion handlers. Each is equivalent to its `async` form
/// and calls the handler on a queue other than the main queue.
extension CKDatabase {
  /// Fetches records.
  @preconcurrency public func fetch(
    withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil,
    completionHandler:
      @escaping @Sendable (
        Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.records(for: recordIDs, desiredKeys: desiredKeys)
    }
  }

  /// Saves and deletes records in one request.
  @preconcurrency public func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
    atomically: Bool = true,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
            deleteResults: [CKRecord.ID: Result<Void, any Error>]
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.modifyRecords(
        saving: recordsToSave, deleting: recordIDsToDelete, savePolicy: savePolicy,
        atomically: atomically)
    }
  }

  /// Fetches zones.
  @preconcurrency public func fetch(
    withRecordZoneIDs recordZoneIDs: [CKRecordZone.ID],
    completionHandler:
      @escaping @Sendable (
        Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.recordZones(for: recordZoneIDs)
    }
  }

  /// Creates and deletes zones in one request.
  @preconcurrency public func modifyRecordZones(
    saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
            deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.modifyRecordZones(
        saving: recordZonesToSave, deleting: recordZoneIDsToDelete)
    }
  }

  /// Fetches subscriptions.
  @preconcurrency public func fetch(
    withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
    completionHandler:
      @escaping @Sendable (
        Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.subscriptions(for: subscriptionIDs)
    }
  }

  /// Creates and deletes subscriptions in one request.
  @preconcurrency public func modifySubscriptions(
    saving subscriptionsToSave: [CKSubscription],
    deleting subscriptionIDsToDelete: [CKSubscription.ID],
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
            deleteResults: [CKSubscription.ID: Result<Void, any Error>]
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.modifySubscriptions(
        saving: subscriptionsToSave, deleting: subscriptionIDsToDelete)
    }
  }

  /// Fetches one page of the zones that changed.
  @preconcurrency public func fetchDatabaseChanges(
    since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            modifications: [CKDatabase.DatabaseChange.Modification],
            deletions: [CKDatabase.DatabaseChange.Deletion],
            changeToken: CKServerChangeToken, moreComing: Bool
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.databaseChanges(since: changeToken, resultsLimit: resultsLimit)
    }
  }

  /// Fetches one page of the records of a zone that changed.
  @preconcurrency public func fetchRecordZoneChanges(
    inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            modificationResultsByID: [CKRecord.ID: Result<
              CKDatabase.RecordZoneChange.Modification, any Error
            >],
            deletions: [CKDatabase.RecordZoneChange.Deletion],
            changeToken: CKServerChangeToken, moreComing: Bool
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.recordZoneChanges(
        inZoneWith: zoneID, since: changeToken, desiredKeys: desiredKeys,
        resultsLimit: resultsLimit)
    }
  }
}
