package import CloudProtocol
package import Records

/// A request to CloudKit Web Services on the client's side: encodes the body and decodes the
/// response.
package struct ClientRequest: Sendable {
  /// The endpoint.
  package var endpoint: Endpoint
  /// The database in the path.
  package var database: DatabaseScope

  private let makeBody: @Sendable () -> JSON?
  private let writeText: (@Sendable () -> [UInt8])?
  private let outcome: @Sendable (JSON) throws(CloudError) -> Result<CloudReply, CloudError>
  private let readReply: (@Sendable ([UInt8]) -> CloudReply?)?

  /// The body; `nil` for a `GET` request.
  package var body: JSON? { makeBody() }

  /// The body as text; `nil` for a `GET` request.
  package var text: [UInt8]? { writeText?() ?? makeBody()?.bytes }

  /// A request with `body` to `endpoint`; `reply` decodes the response.
  init(
    _ endpoint: Endpoint, of database: DatabaseScope,
    body: @escaping @autoclosure @Sendable () -> JSON?,
    reply: @escaping @Sendable (JSON) throws(CloudError) -> CloudReply
  ) {
    self.init(
      endpoint, of: database, body: body(),
      outcome: { answer throws(CloudError) in .success(try reply(answer)) })
  }

  /// A request with `body` to `endpoint`; `outcome` decodes the response, which may be a failure of
  /// the whole request.
  ///
  /// - Parameters:
  ///   - text: A faster encoder of `body`.
  ///   - quickly: A faster decoder with the results of `outcome`; returns `nil` for a response that
  ///     only `outcome` can decode.
  init(
    _ endpoint: Endpoint, of database: DatabaseScope,
    body: @escaping @autoclosure @Sendable () -> JSON?,
    text: (@Sendable () -> [UInt8])? = nil,
    outcome: @escaping @Sendable (JSON) throws(CloudError) -> Result<CloudReply, CloudError>,
    quickly: (@Sendable ([UInt8]) -> CloudReply?)? = nil
  ) {
    self.endpoint = endpoint
    self.database = database
    makeBody = body
    writeText = text
    self.outcome = outcome
    readReply = quickly
  }

  /// Decodes a response with status 200.
  /// - Throws: the failure that it describes, and `internalError` if it is malformed.
  package func reply(to body: JSON) throws(CloudError) -> CloudReply {
    let outcome: Result<CloudReply, CloudError>
    do throws(CloudError) { outcome = try self.outcome(body) } catch {
      guard error.code == .invalidArguments else { throw error }
      // A malformed response is not the caller's fault.
      throw CloudError(
        .internalError,
        "the server's answer to \(endpoint.rawValue) is invalid: "
          + error.message)
    }
    return try outcome.get()
  }

  /// Decodes a response with status 200 and the body `text`.
  /// - Throws: the failure that it describes, and `internalError` if it is malformed. Returns `nil`
  ///   if it is not JSON.
  package func reply(toText text: [UInt8]) throws(CloudError) -> CloudReply? {
    if let reply = quickReply(to: text) { return reply }
    guard let body = try? JSON(parsing: text) else { return nil }
    return try reply(to: body)
  }

  /// Decodes a response in the exact form that this package writes; `nil` for any other form, and
  /// for endpoints with short responses.
  package func quickReply(to text: [UInt8]) -> CloudReply? { readReply?(text) }

  /// The request that corresponds to `request`.
  ///
  /// Returns `nil` for uploads and downloads, which use other requests. A request about records in
  /// several zones takes one request per zone, unless the server is known to accept them together;
  /// see `parts(of:)`.
  package init?(_ request: CloudRequest, _ notation: Notation) {
    switch request {
    case .fetchCurrentUser: self = .fetchCurrentUser()
    case .fetchDatabaseChanges(let request): self = .fetchDatabaseChanges(request, notation)
    case .fetchZoneChanges(let request): self = .fetchZoneChanges(request, notation)
    case .fetchZones(let zones): self = .fetchZones(zones, notation)
    case .modifyZones(let request): self = .modifyZones(request, notation)
    case .fetchRecords(let request): self = .fetchRecords(request, notation)
    case .modifyRecords(let request): self = .modifyRecords(request, notation)
    case .fetchSubscriptions(let ids): self = .fetchSubscriptions(ids, notation)
    case .modifySubscriptions(let request): self = .modifySubscriptions(request, notation)
    case .queryRecords(let request): self = .queryRecords(request, notation)
    case .resolveShares(let request): self = .resolveShares(request, notation)
    case .acceptShares(let urls): self = .acceptShares(urls, notation)
    case .findUsers(let lookups): self = .findUsers(lookups, notation)
    case .uploadAsset, .downloadAsset: return nil
    }
  }

  /// The outcomes of items in the requested order: decoded values or the described failures.
  static func results<ID, Value>(
    _ items: [JSON], of ids: [ID], _ notation: Notation,
    _ read: (JSON, ID) throws(CloudError) -> ItemResult<ID, Value>
  ) throws(CloudError) -> [ItemResult<ID, Value>] {
    guard items.count == ids.count else {
      throw .malformed("\(items.count) items were received where \(ids.count) were requested")
    }
    var results: [ItemResult<ID, Value>] = []
    results.reserveCapacity(items.count)
    for (item, id) in zip(items, ids) {
      if let error = try notation.error(item) {
        results.append(ItemResult(id: id, .failure(error)))
      } else {
        results.append(try read(item, id))
      }
    }
    return results
  }
}
