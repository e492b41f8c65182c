package import CloudProtocol
package import Records

/// A request as a client sends it to CloudKit Web Services, and what it makes of the answer.
package struct Errand: Sendable {
  /// What is asked.
  package var endpoint: Endpoint
  /// The database whose path it goes to.
  package var database: DatabaseScope

  private let makeBody: @Sendable () -> JSON?
  private let writeText: (@Sendable () -> [UInt8])?
  private let outcome: @Sendable (JSON) throws(CloudError) -> Result<CloudReply, CloudError>
  private let readReply: (@Sendable ([UInt8]) -> CloudReply?)?

  /// The body; `nil` to ask with `GET`.
  package var body: JSON? { makeBody() }

  /// The body as text; `nil` to ask with `GET`.
  package var text: [UInt8]? { writeText?() ?? makeBody()?.bytes }

  /// Sends `body` to `endpoint`; `reply` reads the answer.
  init(
    _ endpoint: Endpoint, of database: DatabaseScope,
    body: @escaping @autoclosure @Sendable () -> JSON?,
    reply: @escaping @Sendable (JSON) throws(CloudError) -> CloudReply
  ) {
    self.init(
      endpoint, of: database, body: body(),
      outcome: { answer throws(CloudError) in .success(try reply(answer)) })
  }

  /// Sends `body` to `endpoint`; `outcome` reads the answer, which may describe a failure of all
  /// that was asked.
  ///
  /// - Parameters:
  ///   - text: Writes the same as `body`, faster.
  ///   - quickly: Reads an answer as `outcome` would, faster; `nil` for one that `outcome` has to
  ///     look at.
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

  /// What an answer with status 200 says.
  /// - Throws: the failure it describes, and `internalError` when it makes no sense.
  package func reply(to body: JSON) throws(CloudError) -> CloudReply {
    let outcome: Result<CloudReply, CloudError>
    do throws(CloudError) { outcome = try self.outcome(body) } catch {
      guard error.code == .invalidArguments else { throw error }
      // An answer that makes no sense is not the caller's fault.
      throw CloudError(
        .internalError,
        "the server's answer to \(endpoint.rawValue) makes no sense: "
          + error.message)
    }
    return try outcome.get()
  }

  /// What an answer with status 200 says, whose body is `text`.
  /// - Throws: the failure it describes, and `internalError` when it makes no sense; `nil` is
  ///   answered when it is not JSON.
  package func reply(toText text: [UInt8]) throws(CloudError) -> CloudReply? {
    if let reply = quickReply(to: text) { return reply }
    guard let body = try? JSON(parsing: text) else { return nil }
    return try reply(to: body)
  }

  /// The same, of an answer that is spelled as this package spells it; `nil` of any other, and of
  /// what is never long.
  package func quickReply(to text: [UInt8]) -> CloudReply? { readReply?(text) }

  /// What is to be sent for `request`.
  ///
  /// Files go their own way; there is nothing for them. A request about records of several zones
  /// takes an errand a zone, unless the server is known to take them together; see `parts(of:)`.
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

  /// The outcomes of items in the order asked: each is read, or is the failure it describes.
  static func results<ID, Value>(
    _ items: [JSON], of ids: [ID], _ notation: Notation,
    _ read: (JSON, ID) throws(CloudError) -> ItemResult<ID, Value>
  ) throws(CloudError) -> [ItemResult<ID, Value>] {
    guard items.count == ids.count else {
      throw .malformed("\(items.count) items came where \(ids.count) were asked for")
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
