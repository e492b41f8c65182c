import CloudProtocol
import Foundation
import Records

/// The requests about shares and users, used by the async methods, the completion handlers and the
/// operations.
struct ShareRequests: Sendable {
  /// The connection to the server.
  let connection: CloudConnection

  /// Fetches the metadata of the shares at `urls`, with these fields of their root records.
  func metadatas(
    for urls: [URL], rootFields: FieldSelection? = nil
  ) async throws(CKError) -> ItemResults<URL, CKShare.Metadata> {
    let urls = urls.withoutRepetitions
    guard !urls.isEmpty else { return ItemResults(items: []) }
    let reply = try await connection.send(
      .resolveShares(ResolveShares(urls: urls.map(\.absoluteString), rootFields: rootFields)),
      to: .private)
    guard case .sharesResolved(let items) = reply else { throw .misplaced(reply) }
    return ItemResults(items, for: urls, by: \.absoluteString) { CKShareMetadata($1) }
  }

  /// Accepts the shares that `metadatas` describe.
  func accept(
    _ metadatas: [CKShare.Metadata]
  ) async throws(CKError) -> ItemResults<CKShare.Metadata, CKShare> {
    let metadatas = metadatas.withoutRepetitions
    guard !metadatas.isEmpty else { return ItemResults(items: []) }
    for metadata in metadatas where metadata.containerIdentifier != connection.container {
      throw CKError(
        .badContainer,
        "A share of \(metadata.containerIdentifier) can't be accepted in \(connection.container).")
    }
    let url = { (metadata: CKShare.Metadata) in metadata.value.share.sharing?.url ?? "" }
    let reply = try await connection.send(.acceptShares(metadatas.map(url)), to: .shared)
    guard case .sharesAccepted(let items) = reply else { throw .misplaced(reply) }
    return ItemResults(items, for: metadatas, by: url) { CKShare($1) }
  }

  /// Finds users, as participants who can be invited.
  func participants(
    for lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, CKShare.Participant> {
    try await users(lookups) { identity in
      CKShareParticipant(ShareParticipant(id: UUID().uuidString, identity: identity))
    }
  }

  /// Finds users.
  func identities(
    for lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, CKUserIdentity> {
    try await users(lookups) { CKUserIdentity($0) }
  }

  private func users<Value>(
    _ lookups: [CKUserIdentity.LookupInfo], _ value: (UserIdentity) -> Value
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, Value> {
    let lookups = lookups.withoutRepetitions
    guard !lookups.isEmpty else { return ItemResults(items: []) }
    let reply = try await connection.send(.findUsers(lookups.map(\.value)), to: .private)
    guard case .usersFound(let items) = reply else { throw .misplaced(reply) }
    return ItemResults(items, for: lookups, by: \.value) { value($1) }
  }
}
