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
    // The fragment of a URL is the title of the share, for people who read it.
    let address = { (url: URL) in String(url.absoluteString.prefix { $0 != "#" }) }
    let reply = try await connection.send(
      .resolveShares(
        ResolveShares(urls: urls.map(address).withoutRepetitions, rootFields: rootFields)),
      to: .private)
    guard case .sharesResolved(let items) = reply else { throw .misplaced(reply) }
    return ItemResults(items, for: urls, by: address) { CKShareMetadata($1) }
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
  ///
  /// An address that belongs to no account makes a participant, too: the invitation is open until
  /// an account has the address.
  func participants(
    for lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, CKShare.Participant> {
    let lookups = lookups.withoutRepetitions
    let items = try await users(lookups).map { item in
      guard item.error?.code == .unknownItem, item.id.isAddress else { return item }
      return ItemResult(id: item.id, .success(UserIdentity(lookup: item.id, hasAccount: false)))
    }
    return ItemResults(items, for: lookups, by: \.value) {
      CKShareParticipant(ShareParticipant(id: UUID().uuidString, identity: $1))
    }
  }

  /// Finds users.
  func identities(
    for lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, CKUserIdentity> {
    let lookups = lookups.withoutRepetitions
    return ItemResults(try await users(lookups), for: lookups, by: \.value) { CKUserIdentity($1) }
  }

  private func users(
    _ lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> [ItemResult<UserLookup, UserIdentity>] {
    guard !lookups.isEmpty else { return [] }
    let reply = try await connection.send(.findUsers(lookups.map(\.value)), to: .private)
    guard case .usersFound(let items) = reply else { throw .misplaced(reply) }
    return items
  }
}

extension UserLookup {
  /// Whether it is an address to which an invitation can be sent.
  fileprivate var isAddress: Bool {
    switch self {
    case .email, .phone: true
    case .user: false
    }
  }
}
