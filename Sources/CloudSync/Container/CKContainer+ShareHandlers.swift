public import Foundation

/// The calls for shares and users with completion handlers. Each is equivalent to its `async` form
/// and calls the handler on a queue other than the main queue.
extension CKContainer {
  /// Fetches the metadata of the share at `url`.
  @preconcurrency public func fetchShareMetadata(
    with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) { try await self.shareMetadata(for: url) }
  }

  /// Fetches the metadata of the shares at `urls`.
  @preconcurrency public func fetchShareMetadatas(
    for urls: [URL],
    completionHandler:
      @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, any Error>], any Error>) -> Void
  ) {
    connection.complete(completionHandler) { try await self.shareMetadatas(for: urls) }
  }

  /// Accepts a share.
  @preconcurrency public func accept(
    _ metadata: CKShare.Metadata,
    completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) { try await self.accept(metadata) }
  }

  /// Accepts several shares.
  @preconcurrency public func accept(
    _ metadatas: [CKShare.Metadata],
    completionHandler:
      @escaping @Sendable (
        Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler) { try await self.accept(metadatas) }
  }

  /// Finds the user with a mail address, to invite to a share.
  @preconcurrency public func fetchShareParticipant(
    withEmailAddress emailAddress: String,
    completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.shareParticipant(forEmailAddress: emailAddress)
    }
  }

  /// Finds the user with a telephone number, to invite to a share.
  @preconcurrency public func fetchShareParticipant(
    withPhoneNumber phoneNumber: String,
    completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.shareParticipant(forPhoneNumber: phoneNumber)
    }
  }

  /// Finds the user with a user record, to invite to a share.
  @preconcurrency public func fetchShareParticipant(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.shareParticipant(forUserRecordID: userRecordID)
    }
  }

  /// Finds the users with these mail addresses.
  @preconcurrency public func fetchShareParticipants(
    forEmailAddresses emailAddresses: [String],
    completionHandler:
      @escaping @Sendable (
        Result<[String: Result<CKShare.Participant, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.shareParticipants(forEmailAddresses: emailAddresses)
    }
  }

  /// Finds the users with these telephone numbers.
  @preconcurrency public func fetchShareParticipants(
    forPhoneNumbers phoneNumbers: [String],
    completionHandler:
      @escaping @Sendable (
        Result<[String: Result<CKShare.Participant, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.shareParticipants(forPhoneNumbers: phoneNumbers)
    }
  }

  /// Finds the users with these user records.
  @preconcurrency public func fetchShareParticipants(
    forUserRecordIDs userRecordIDs: [CKRecord.ID],
    completionHandler:
      @escaping @Sendable (
        Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>
      ) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.shareParticipants(forUserRecordIDs: userRecordIDs)
    }
  }

  // MARK: Discovery, the older calls

  /// Finds the users with these mail addresses.
  @preconcurrency public func discoverUserIdentities(
    forEmailAddresses emails: [String],
    completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.userIdentities(forEmailAddresses: emails)
    }
  }

  /// Finds the users with these telephone numbers.
  @preconcurrency public func discoverUserIdentities(
    forPhoneNumbers phoneNumbers: [String],
    completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.userIdentities(forPhoneNumbers: phoneNumbers)
    }
  }

  /// Finds the users with these user records.
  @preconcurrency public func discoverUserIdentities(
    forUserRecordIDs userRecordIDs: [CKRecord.ID],
    completionHandler:
      @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
  ) {
    connection.complete(completionHandler) {
      try await self.userIdentities(forUserRecordIDs: userRecordIDs)
    }
  }

  /// Finds the user with a mail address.
  @preconcurrency public func discoverUserIdentity(
    withEmailAddress email: String,
    completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, onFailure: nil) {
      try await self.userIdentity(forEmailAddress: email)
    }
  }

  /// Finds the user with a telephone number.
  @preconcurrency public func discoverUserIdentity(
    withPhoneNumber phoneNumber: String,
    completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, onFailure: nil) {
      try await self.userIdentity(forPhoneNumber: phoneNumber)
    }
  }

  /// Finds the user with a user record.
  @preconcurrency public func discoverUserIdentity(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, onFailure: nil) {
      try await self.userIdentity(forUserRecordID: userRecordID)
    }
  }

  /// Returns an empty list, since there is no address book.
  @preconcurrency public func discoverAllIdentities(
    completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler) { try await self.allUserIdentitiesFromContacts() }
  }
}
