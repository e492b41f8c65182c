package import CloudProtocol
import Records

/// A request of CloudKit Web Services as the server takes it on: what is to be asked of the cloud,
/// one after the other, and how the answers become one.
package struct Exchange: Sendable {
  /// What became of one request.
  package typealias Outcome = Result<CloudReply, CloudError>

  /// What is to be asked.
  package var requests: [CloudRequest]

  private let answer: @Sendable ([Outcome]) throws(CloudError) -> JSON
  private let writeText: (@Sendable ([Outcome]) throws(CloudError) -> [UInt8])?

  /// Asks for `requests`; `answer` gets as many outcomes, and `text` writes the same answer faster.
  init(
    _ requests: [CloudRequest],
    answer: @escaping @Sendable ([Outcome]) throws(CloudError) -> JSON,
    text: (@Sendable ([Outcome]) throws(CloudError) -> [UInt8])? = nil
  ) {
    self.requests = requests
    self.answer = answer
    writeText = text
  }

  /// Asks for one thing; `text` writes the same answer faster.
  init(
    _ request: CloudRequest, answer: @escaping @Sendable (CloudReply) throws(CloudError) -> JSON,
    text: (@Sendable (CloudReply) throws(CloudError) -> [UInt8])? = nil
  ) {
    var writeText: (@Sendable ([Outcome]) throws(CloudError) -> [UInt8])?
    if let text {
      writeText = { outcomes throws(CloudError) in try text(try Exchange.only(outcomes).get()) }
    }
    self.init(
      [request],
      answer: { outcomes throws(CloudError) in try answer(try Exchange.only(outcomes).get()) },
      text: writeText)
  }

  /// The body of the answer.
  /// - Throws: the failure of the request as a whole.
  package func body(_ outcomes: [Outcome]) throws(CloudError) -> JSON { try answer(outcomes) }

  /// The body of the answer, as text.
  /// - Throws: as `body`.
  package func text(_ outcomes: [Outcome]) throws(CloudError) -> [UInt8] {
    if let writeText { return try writeText(outcomes) }
    return try answer(outcomes).bytes
  }

  /// The first of `outcomes`, which is there as there was a request.
  static func only(_ outcomes: [Outcome]) -> Outcome {
    outcomes.first ?? .failure(CloudError(.internalError, "a request was not answered"))
  }

  /// An answer of another kind than was asked for.
  static let misplaced = CloudError(.internalError, "another question was answered than was asked")

  /// What a server makes of a request whose body is `text`; empty stands for an empty object.
  ///
  /// Otherwise as `init(_:body:notation:wantsToken:newName:)`.
  /// - Throws: `invalidArguments` when the body is not JSON or makes no sense.
  package init?(
    _ path: ServicePath, text: [UInt8], notation: Notation, wantsToken: Bool,
    newName: @escaping () -> String
  ) throws(CloudError) {
    let quick = Exchange(quickly: path, text: text, notation: notation, wantsToken: wantsToken)
    if let quick {
      self = quick
      return
    }
    try self.init(
      path, body: Exchange.body(text), notation: notation, wantsToken: wantsToken,
      newName: newName)
  }

  /// The same, of a body that is spelled as this package spells it; `nil` of any other, and of what
  /// is never long.
  package init?(
    quickly path: ServicePath, text: [UInt8], notation: Notation, wantsToken: Bool
  ) {
    guard path.endpoint == .recordsModify,
      let operations = RecordReader.read(text, notation, { $0.operations() })
    else { return nil }
    self = .recordsModify(operations, notation, wantsToken: wantsToken)
  }

  /// The body of a request as a value; an empty object where there is none.
  /// - Throws: `invalidArguments` when it is not JSON.
  package static func body(_ text: [UInt8]) throws(CloudError) -> JSON {
    do throws(JSONFault) {
      return text.isEmpty ? .object(JSON.Members()) : try JSON(parsing: text)
    } catch {
      throw .malformed("the body is not JSON: \(error)")
    }
  }

  /// What a server makes of a request.
  ///
  /// Uploads, new uses of files and the web courier are none of its business: they don't answer
  /// with JSON alone.
  /// - Parameters:
  ///   - path: What is asked, of which database.
  ///   - body: The body; an empty object where there is none.
  ///   - notation: Who asks.
  ///   - wantsToken: Whether the answer says where the zone's feed stands.
  ///   - newName: Makes names for records and subscriptions that come without one.
  /// - Throws: `invalidArguments` when the body makes no sense.
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
    case .usersLookupContacts: self = .nobody
    case .assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister: return nil
    }
  }
}
