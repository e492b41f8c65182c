import CloudProtocol
import Foundation
import Records

/// Everything that is asked about shares and people, in one place: the async calls, the
/// completion handlers and the operations all come here.
struct ShareRequests: Sendable {
  /// The way to the server.
  let connection: CloudConnection

  /// Describes the shares behind `urls`, the root records too when `rootFields` names fields.
  func metadatas(
    for urls: [URL], rootFields: FieldSelection? = nil
  ) async throws(CKError) -> ItemResults<URL, CKShare.Metadata> {
    let urls = unique(urls)
    guard !urls.isEmpty else { return ItemResults(items: []) }
    let reply = try await connection.send(
      .resolveShares(ResolveShares(urls: urls.map(\.absoluteString), rootFields: rootFields)),
      to: .private)
    guard case .sharesResolved(let items) = reply else { throw .misplaced(reply) }
    return results(items, for: urls, by: \.absoluteString) { CKShareMetadata($0) }
  }

  /// Joins the shares that `metadatas` describe.
  func accept(
    _ metadatas: [CKShare.Metadata]
  ) async throws(CKError) -> ItemResults<CKShare.Metadata, CKShare> {
    let metadatas = unique(metadatas)
    guard !metadatas.isEmpty else { return ItemResults(items: []) }
    for metadata in metadatas where metadata.containerIdentifier != connection.container {
      throw CKError(
        .badContainer,
        "A share of \(metadata.containerIdentifier) can't be accepted in \(connection.container).")
    }
    let urls = metadatas.map { $0.value.share.sharing?.url ?? "" }
    let reply = try await connection.send(.acceptShares(urls), to: .shared)
    guard case .sharesAccepted(let items) = reply else { throw .misplaced(reply) }
    return results(items, for: metadatas, by: { $0.value.share.sharing?.url ?? "" }) { record in
      CKShare(state: CKRecord.State(record: record, base: record.fields))
    }
  }

  /// Finds people, as participants who can be invited.
  func participants(
    for lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, CKShare.Participant> {
    try await people(lookups) { identity in
      CKShareParticipant(ShareParticipant(id: UUID().uuidString, identity: identity))
    }
  }

  /// Finds people.
  func identities(
    for lookups: [CKUserIdentity.LookupInfo]
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, CKUserIdentity> {
    try await people(lookups) { CKUserIdentity($0) }
  }

  private func people<Value>(
    _ lookups: [CKUserIdentity.LookupInfo], _ value: (UserIdentity) -> Value
  ) async throws(CKError) -> ItemResults<CKUserIdentity.LookupInfo, Value> {
    let lookups = unique(lookups)
    guard !lookups.isEmpty else { return ItemResults(items: []) }
    let reply = try await connection.send(.findUsers(lookups.map(\.value)), to: .private)
    guard case .usersFound(let items) = reply else { throw .misplaced(reply) }
    return results(items, for: lookups, by: \.value, value)
  }

  private func results<ID: Hashable & Sendable, Key: Hashable, Answer, Value>(
    _ answers: [ItemResult<Key, Answer>], for ids: [ID], by key: (ID) -> Key,
    _ value: (Answer) -> Value
  ) -> ItemResults<ID, Value> {
    let outcomes = Dictionary(answers.map { ($0.id, $0.outcome) }) { first, _ in first }
    return ItemResults(
      items: ids.map { id in
        switch outcomes[key(id)] {
        case .success(let answer): (id, .success(value(answer)))
        case .failure(let error): (id, .failure(CKError(error)))
        case nil: (id, .failure(.unanswered(String(describing: id))))
        }
      })
  }

  private func unique<ID: Hashable>(_ ids: [ID]) -> [ID] {
    var seen: Set<ID> = []
    return ids.filter { seen.insert($0).inserted }
  }
}
