package import CloudProtocol
import Records

/// A request of CloudKit Web Services on the server's side: the cloud requests to perform in order,
/// and the encoding of their outcomes as one response.
///
/// `requests` are performed first, in order; then the one that `nextRequest(after:)` returns for
/// their outcomes, if there is one. The response is made of all outcomes.
package struct ServerRequest: Sendable {
  /// The outcome of a cloud request.
  package typealias Outcome = Result<CloudReply, CloudError>

  /// The cloud requests.
  package var requests: [CloudRequest]

  private let answer: @Sendable ([Outcome]) throws(CloudError) -> JSON
  private let writeText: (@Sendable ([Outcome]) throws(CloudError) -> [UInt8])?
  /// Makes one more request from the reply to the first; `nil` if there is never one.
  private let next: (@Sendable (CloudReply) -> CloudRequest?)?

  /// Whether another request may follow ``requests``.
  package var mayContinue: Bool { next != nil }

  /// Performs `requests`; `answer` encodes their outcomes, `text` is a faster encoder of the same
  /// response, and `next` makes one more request from the reply to the first.
  init(
    _ requests: [CloudRequest],
    next: (@Sendable (CloudReply) -> CloudRequest?)? = nil,
    answer: @escaping @Sendable ([Outcome]) throws(CloudError) -> JSON,
    text: (@Sendable ([Outcome]) throws(CloudError) -> [UInt8])? = nil
  ) {
    self.requests = requests
    self.next = next
    self.answer = answer
    writeText = text
  }

  /// Performs one request; `text` is a faster encoder of the same response.
  init(
    _ request: CloudRequest, answer: @escaping @Sendable (CloudReply) throws(CloudError) -> JSON,
    text: (@Sendable (CloudReply) throws(CloudError) -> [UInt8])? = nil
  ) {
    var writeText: (@Sendable ([Outcome]) throws(CloudError) -> [UInt8])?
    if let text {
      writeText = { outcomes throws(CloudError) in try text(try ServerRequest.only(outcomes).get())
      }
    }
    self.init(
      [request],
      answer: { outcomes throws(CloudError) in try answer(try ServerRequest.only(outcomes).get()) },
      text: writeText)
  }

  /// The request that follows ``requests``, of which `outcomes` are the outcomes so far; `nil` when
  /// all requests have one.
  package func nextRequest(after outcomes: [Outcome]) -> CloudRequest? {
    if outcomes.count < requests.count { return requests[outcomes.count] }
    guard outcomes.count == requests.count, case .success(let reply)? = outcomes.first else {
      return nil
    }
    return next?(reply)
  }

  /// The body of the response.
  /// - Throws: the failure of the request as a whole.
  package func body(_ outcomes: [Outcome]) throws(CloudError) -> JSON { try answer(outcomes) }

  /// The body of the response, as text.
  /// - Throws: as `body`.
  package func text(_ outcomes: [Outcome]) throws(CloudError) -> [UInt8] {
    if let writeText { return try writeText(outcomes) }
    return try answer(outcomes).bytes
  }

  /// The first of `outcomes`, which exists because there was a request.
  static func only(_ outcomes: [Outcome]) -> Outcome {
    outcomes.first ?? .failure(CloudError(.internalError, "a request was not answered"))
  }

  /// The error of a reply that does not match the request.
  static let mismatchedReply = CloudError(
    .internalError, "the reply belongs to another request")

  /// Decodes a request whose body is `text`; empty text means an empty object.
  ///
  /// Otherwise as `init(_:body:notation:wantsToken:newName:)`.
  /// - Throws: `invalidArguments` if the body is not JSON or malformed.
  package init?(
    _ path: ServicePath, text: [UInt8], notation: Notation, wantsToken: Bool,
    newName: @escaping () -> String
  ) throws(CloudError) {
    let quick = ServerRequest(quickly: path, text: text, notation: notation, wantsToken: wantsToken)
    if let quick {
      self = quick
      return
    }
    try self.init(
      path, body: ServerRequest.body(text), notation: notation, wantsToken: wantsToken,
      newName: newName)
  }

  /// Decodes a body in the exact form that this package writes; `nil` for any other form, and for
  /// endpoints with short bodies.
  package init?(
    quickly path: ServicePath, text: [UInt8], notation: Notation, wantsToken: Bool
  ) {
    guard path.endpoint == .recordsModify,
      let operations = RecordReader.read(text, notation, { $0.operations() })
    else { return nil }
    self = .recordsModify(operations, notation, wantsToken: wantsToken)
  }

  /// Parses the body of a request; an empty object if there is no body.
  /// - Throws: `invalidArguments` when it is not JSON.
  package static func body(_ text: [UInt8]) throws(CloudError) -> JSON {
    do throws(JSONParsingError) {
      return text.isEmpty ? .object(JSON.Members()) : try JSON(parsing: text)
    } catch {
      throw .malformed("the body is not JSON: \(error)")
    }
  }

  /// Decodes a request.
  ///
  /// Returns `nil` for uploads, `assets/rereference` and the web courier, whose responses are not
  /// only JSON.
  /// - Parameters:
  ///   - path: The endpoint and the database.
  ///   - body: The body; an empty object if there is none.
  ///   - notation: The encoding, with the requester.
  ///   - wantsToken: Whether the response contains the zone's current token.
  ///   - newName: Generates names for records and subscriptions without one.
  /// - Throws: `invalidArguments` if the body is malformed.
  package init?(
    _ path: ServicePath, body: JSON, notation: Notation, wantsToken: Bool,
    newName: @escaping () -> String
  ) throws(CloudError) {
    guard body.members != nil else { throw .malformed("the body must be a JSON object") }
    var notation = notation
    let isText = [try body.flag("numbersAsStrings"), try body.flag("numberAsStrings")]
    notation.numbersAsStrings = isText.contains(true)
    switch path.endpoint {
    case .recordsModify:
      self = try .recordsModify(body, notation, wantsToken: wantsToken, newName)
    case .recordsLookup: self = try .recordsLookup(body, notation)
    case .recordsQuery: self = try .recordsQuery(body, notation, wantsToken: wantsToken)
    case .recordsChanges: self = try .recordsChanges(body, notation)
    case .recordsResolve:
      self = try .recordsResolve(body, notation, environment: path.environment)
    case .recordsAccept: self = try .recordsAccept(body, notation, environment: path.environment)
    case .changesDatabase: self = try .databaseChanges(body, notation, tokenName: "syncToken")
    case .zonesChanges: self = try .databaseChanges(body, notation, tokenName: "metaSyncToken")
    case .changesZone: self = try .zoneChanges(body, notation)
    case .zonesList: self = .zonesList(notation)
    case .zonesLookup: self = try .zonesLookup(body, notation)
    case .zonesModify: self = try .zonesModify(body, notation)
    case .subscriptionsList: self = .subscriptionsList(notation)
    case .subscriptionsLookup: self = try .subscriptionsLookup(body, notation)
    case .subscriptionsModify: self = try .subscriptionsModify(body, notation, newName)
    case .usersCaller, .usersCurrent: self = .currentUser()
    case .usersDiscover: self = try .usersDiscover(body, notation)
    case .usersLookupEmail, .usersLookupID: self = try .usersLookup(body, notation)
    case .usersLookupContacts: self = .noUsers
    case .assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister: return nil
    }
  }
}
