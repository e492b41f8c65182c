public import Foundation
import Records

/// Shares and users. Calls for a single item throw its error; those for several items return a
/// result for each. See CS-156 to CS-166.
extension CKContainer {
  /// The requests for shares.
  var shareRequests: ShareRequests { ShareRequests(connection: connection) }

  /// Fetches the metadata of the share at `url`, without its root record.
  /// - Throws: `unknownItem` if there is none; `permissionFailure` or
  ///   `participantMayNeedVerification` if it is restricted to other users.
  public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
    try await shareRequests.metadatas(for: [url]).only(url)
  }

  /// Fetches the metadata of the shares at `urls`, without their root records.
  public func shareMetadatas(
    for urls: [URL]
  ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
    try await shareRequests.metadatas(for: urls).byID
  }

  /// Accepts a share; its records appear in the shared database.
  @discardableResult
  public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
    try await connection.uncancelled { [shareRequests] in
      try await shareRequests.accept([metadata])
    }.only(metadata)
  }

  /// Accepts several shares.
  @discardableResult
  public func accept(
    _ metadatas: [CKShare.Metadata]
  ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
    try await connection.uncancelled { [shareRequests] in
      try await shareRequests.accept(metadatas)
    }.byID
  }

  /// Finds the user with a mail address, to invite to a share.
  public func shareParticipant(
    forEmailAddress emailAddress: String
  ) async throws -> CKShare.Participant {
    try await participant(.init(emailAddress: emailAddress))
  }

  /// Finds the user with a telephone number, to invite to a share.
  public func shareParticipant(
    forPhoneNumber phoneNumber: String
  ) async throws -> CKShare.Participant {
    try await participant(.init(phoneNumber: phoneNumber))
  }

  /// Finds the user with a user record, to invite to a share.
  public func shareParticipant(
    forUserRecordID userRecordID: CKRecord.ID
  ) async throws -> CKShare.Participant {
    try await participant(.init(userRecordID: userRecordID))
  }

  /// Finds the users with these mail addresses.
  public func shareParticipants(
    forEmailAddresses emailAddresses: [String]
  ) async throws -> [String: Result<CKShare.Participant, any Error>] {
    try await participants(emailAddresses) { .init(emailAddress: $0) }
  }

  /// Finds the users with these telephone numbers.
  public func shareParticipants(
    forPhoneNumbers phoneNumbers: [String]
  ) async throws -> [String: Result<CKShare.Participant, any Error>] {
    try await participants(phoneNumbers) { .init(phoneNumber: $0) }
  }

  /// Finds the users with these user records.
  public func shareParticipants(
    forUserRecordIDs userRecordIDs: [CKRecord.ID]
  ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
    try await participants(userRecordIDs) { .init(userRecordID: $0) }
  }

  /// Finds users in any of these ways.
  public func shareParticipants(
    for lookupInfos: [CKUserIdentity.LookupInfo]
  ) async throws -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, any Error>] {
    try await shareRequests.participants(for: lookupInfos).byID
  }

  private func participant(
    _ lookup: CKUserIdentity.LookupInfo
  ) async throws -> CKShare.Participant {
    try await shareRequests.participants(for: [lookup]).only(lookup)
  }

  private func participants<Key: Hashable>(
    _ keys: [Key], _ lookup: (Key) -> CKUserIdentity.LookupInfo
  ) async throws -> [Key: Result<CKShare.Participant, any Error>] {
    let found = try await shareRequests.participants(for: keys.map(lookup)).byID
    return Dictionary(
      keys.compactMap { key in found[lookup(key)].map { (key, $0) } }
    ) { first, _ in first }
  }

  // MARK: Discovery, the older calls

  /// Finds the user with a mail address; `nil` if there is none.
  public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? {
    try await identity(.init(emailAddress: email))
  }

  /// Finds the user with a telephone number; `nil` if there is none.
  public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
    try await identity(.init(phoneNumber: phoneNumber))
  }

  /// Finds the user with a user record; `nil` if there is none.
  public func userIdentity(
    forUserRecordID userRecordID: CKRecord.ID
  ) async throws -> CKUserIdentity? {
    try await identity(.init(userRecordID: userRecordID))
  }

  /// Finds the users with these mail addresses; the result has no entry for an unknown one.
  public func userIdentities(
    forEmailAddresses emails: [String]
  ) async throws -> [String: CKUserIdentity] {
    try await identities(emails) { .init(emailAddress: $0) }
  }

  /// Finds the users with these telephone numbers; the result has no entry for an unknown one.
  public func userIdentities(
    forPhoneNumbers phoneNumbers: [String]
  ) async throws -> [String: CKUserIdentity] {
    try await identities(phoneNumbers) { .init(phoneNumber: $0) }
  }

  /// Finds the users with these user records; the result has no entry for an unknown one.
  public func userIdentities(
    forUserRecordIDs userRecordIDs: [CKRecord.ID]
  ) async throws -> [CKRecord.ID: CKUserIdentity] {
    try await identities(userRecordIDs) { .init(userRecordID: $0) }
  }

  private func identities<Key: Hashable>(
    _ keys: [Key], _ lookup: (Key) -> CKUserIdentity.LookupInfo
  ) async throws -> [Key: CKUserIdentity] {
    let found = try await shareRequests.identities(for: keys.map(lookup)).byID
    var identities: [Key: CKUserIdentity] = [:]
    for key in keys {
      do { identities[key] = try found[lookup(key)]?.get() } catch CKError.unknownItem { continue }
    }
    return identities
  }

  /// Returns an empty list, since there is no address book.
  public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

  private func identity(_ lookup: CKUserIdentity.LookupInfo) async throws -> CKUserIdentity? {
    do {
      return try await shareRequests.identities(for: [lookup]).only(lookup)
    } catch CKError.unknownItem {
      return nil
    }
  }
}
