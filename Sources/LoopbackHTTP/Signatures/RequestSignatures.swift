import CloudProtocol
import Foundation
import Records
import Synchronization
import WebServices

/// The verification of requests that programs on other servers sign.
///
/// A request names the key, the time, and a signature of the time, the SHA-256 of the body in
/// Base64 and the path with its query, joined by colons. Some clients sign an empty text in place
/// of the hash of an empty body. A request is accepted ten minutes before and after its time, and
/// once. Rules: WS-12.
struct RequestSignatures: Sendable {
  /// The names of the header fields.
  private enum Field {
    static let keyID = "x-apple-cloudkit-request-keyid"
    static let date = "x-apple-cloudkit-request-iso8601date"
    static let signature = "x-apple-cloudkit-request-signaturev1"
  }

  /// The query items of requests that have tokens, which a signed request can't have.
  private static let tokenItems = ["ckAPIToken"] + ServiceRoutes.webTokenItems

  /// How far the time of a request may be from the server's, in seconds.
  private static let window: Double = 10 * 60

  let keys: ServerKeys
  let clock: @Sendable () -> Timestamp
  private let accepted = AcceptedSignatures()

  init(keys: ServerKeys, clock: @escaping @Sendable () -> Timestamp) {
    self.keys = keys
    self.clock = clock
  }

  /// Whether a request is signed, validly or not.
  static func isSigned(_ head: HTTPRequestHead) -> Bool { !head.values(Field.keyID).isEmpty }

  /// Checks the form of a signed request's head; the key is not looked for, and the signature needs
  /// the body.
  ///
  /// - Throws: The reason for which it is refused.
  func check(_ head: HTTPRequestHead, _ path: ServicePath) throws(CloudError) {
    _ = try parts(of: head, path)
  }

  /// Looks up the key that a request names.
  ///
  /// It reads the storage. The signature needs the body.
  ///
  /// - Throws: The reason for which the request is refused.
  func checkKey(of head: HTTPRequestHead, _ path: ServicePath) throws(CloudError) {
    guard try keys.publicKey(try parts(of: head, path).id) != nil else { throw .unknownKey }
  }

  /// The account of the key that signed a request.
  ///
  /// - Throws: The reason for which it is refused.
  func account(of head: HTTPRequestHead, _ path: ServicePath, body: [UInt8]) throws(CloudError)
    -> String
  {
    let (id, date, signature, time) = try parts(of: head, path)
    guard let key = try keys.publicKey(id) else { throw .unknownKey }
    let target = head.sentPath + (head.query.map { "?\($0)" } ?? "")
    let hashes = [Notation.base64(SHA256.digest(of: body))] + (body.isEmpty ? [""] : [])
    let isValid = hashes.contains { hash in
      key.isValid(signature, of: Array("\(date):\(hash):\(target)".utf8))
    }
    guard isValid else {
      throw .refused("the signature does not fit the date, the body and the path with its query")
    }
    // Without s: the same message has a second valid signature with the same r.
    try accepted.add("\(key.id) \(signature.r.words)", until: time + Self.window, now: now)
    return ServerKeys.account(of: key.id)
  }

  private var now: Double { clock().secondsSinceReferenceDate }

  private func parts(
    of head: HTTPRequestHead, _ path: ServicePath
  ) throws(CloudError) -> (id: String, date: String, signature: Signature, time: Double) {
    guard path.database == .public, !path.endpoint.isOfDevice else {
      throw .refused("a server-to-server key is for the public database")
    }
    guard !path.endpoint.needsPerson else {
      throw .refused("\(path.endpoint.rawValue) is for people: a server-to-server key can't use it")
    }
    let items = QueryItems(head.query)
    guard Self.tokenItems.allSatisfy({ items.count($0) == 0 }) else {
      throw .refused("a signed request can't have \(Self.tokenItems.joined(separator: " or "))")
    }
    guard head.values(Field.keyID).count == 1, let id = head.value(Field.keyID),
      id.utf8.count == ServerKeys.idLength
    else { throw .unknownKey }
    guard head.values(Field.date).count == 1, let date = head.value(Field.date),
      let time = try? Date(date, strategy: .iso8601)
    else { throw .refused("the date is not like 2026-11-23T09:30:00Z") }
    let seconds = time.timeIntervalSinceReferenceDate
    guard abs(now - seconds) <= Self.window else {
      throw .refused("the date is more than ten minutes from the server's")
    }
    guard head.values(Field.signature).count == 1,
      let der = head.value(Field.signature).flatMap({ Data(base64Encoded: $0) }),
      let signature = Signature(der: [UInt8](der))
    else { throw .refused("the signature is not an ECDSA signature of DER in Base64") }
    return (id, date, signature, seconds)
  }
}

extension Endpoint {
  /// Whether the endpoint finds people or joins their shares, which only a person may do.
  fileprivate var needsPerson: Bool {
    switch self {
    case .usersDiscover, .usersLookupEmail, .usersLookupID, .usersLookupContacts, .recordsResolve,
      .recordsAccept:
      true
    case .recordsModify, .recordsLookup, .recordsQuery, .recordsChanges, .changesDatabase,
      .changesZone, .zonesList, .zonesLookup, .zonesModify, .zonesChanges, .subscriptionsList,
      .subscriptionsLookup, .subscriptionsModify, .usersCaller, .usersCurrent, .assetsUpload,
      .assetsRereference, .tokensCreate, .tokensRegister:
      false
    }
  }
}

extension CloudError {
  /// A signed request that is not accepted.
  fileprivate static func refused(_ reason: String) -> CloudError {
    CloudError(.notAuthenticated, reason)
  }

  fileprivate static let unknownKey = CloudError.refused(
    "the key is not known; cloudsync keys list shows those that are")
}

/// The signatures that were accepted, until their time is over.
final class AcceptedSignatures: Sendable {
  /// The maximum number; within twenty minutes, more signed requests are refused.
  private let most: Int
  private let ends = Mutex<[String: Double]>([:])

  init(most: Int = 200_000) { self.most = most }

  /// Adds a signature, unless it was accepted before or there are too many.
  func add(_ signature: String, until end: Double, now: Double) throws(CloudError) {
    try ends.withLock { (ends) throws(CloudError) in
      guard ends[signature] == nil else {
        throw .refused("the request was received before; each request needs a new signature")
      }
      if ends.count >= most { ends = ends.filter { $0.value >= now } }
      guard ends.count < most else {
        throw .refused("the server accepts \(most) signed requests in twenty minutes; wait")
      }
      ends[signature] = end
    }
  }
}
