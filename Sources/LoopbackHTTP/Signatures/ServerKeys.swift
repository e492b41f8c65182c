import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import WebServices

/// The keys of programs on other servers, which sign their requests instead of showing tokens.
///
/// Each key has an account of its own, which owns what the program creates. Its contact data has
/// the key's name and the public key; so keys are where accounts are: in the server's file and in
/// archives. A key that was removed leaves its account, because records refer to it. Rules: WS-96.
///
/// A request names the key, the time, and a signature of the time, the SHA-256 of the body in
/// Base64 and the path, joined by colons. It is accepted ten minutes before and after that time,
/// and once.
struct ServerKeys: Sendable {
  /// A key.
  struct Key: Hashable, Sendable {
    var id: String
    var name: String
  }

  /// The names of the header fields.
  private enum Field {
    static let keyID = "x-apple-cloudkit-request-keyid"
    static let date = "x-apple-cloudkit-request-iso8601date"
    static let signature = "x-apple-cloudkit-request-signaturev1"
  }

  /// How far the time of a request may be from the server's, in seconds.
  static let window: Double = 10 * 60
  static let accountPrefix = "server-key-"

  let server: LoopbackServer
  let clock: @Sendable () -> Timestamp
  private let seen = SeenSignatures()

  init(server: LoopbackServer, clock: @escaping @Sendable () -> Timestamp) {
    self.server = server
    self.clock = clock
  }

  // MARK: Keys

  /// The keys, in the order of their IDs.
  func list() throws(CloudError) -> [Key] {
    var keys: [Key] = []
    for account in try server.accounts() where account.name.hasPrefix(Self.accountPrefix) {
      guard let person = try server.person(of: account.name), person.familyName != nil else {
        continue
      }
      let id = account.name.dropFirst(Self.accountPrefix.count)
      keys.append(Key(id: String(id), name: person.givenName ?? ""))
    }
    return keys
  }

  /// Adds a public key in PEM; the same key has the same ID again.
  func add(_ pem: String, name: String) throws(CloudError) -> Key {
    guard let key = PublicKey(pem: pem) else {
      throw CloudError(
        .invalidArguments,
        pem.contains("PRIVATE KEY")
          ? "this is a private key, which stays with its program; give the public one: openssl ec "
            + "-in FILE -pubout"
          : "this is not a public key of the curve P-256 (prime256v1) in PEM")
    }
    guard name.utf8.count <= 255 else {
      throw CloudError(.invalidArguments, "the name of a key has at most 255 bytes")
    }
    try server.controls.setPerson(
      of: Self.accountPrefix + key.id, givenName: name,
      familyName: Data(key.bytes).base64EncodedString())
    return Key(id: key.id, name: name)
  }

  /// Removes a key; its requests are refused from now on.
  func remove(_ id: String) throws(CloudError) {
    guard try publicKey(id) != nil else {
      throw CloudError(.unknownItem, "there is no key with this ID")
    }
    try server.controls.setPerson(of: Self.accountPrefix + id)
  }

  private func publicKey(_ id: String) throws(CloudError) -> PublicKey? {
    guard id.utf8.count == 64, let person = try server.person(of: Self.accountPrefix + id) else {
      return nil
    }
    return person.familyName.flatMap { Data(base64Encoded: $0) }.flatMap {
      PublicKey(bytes: [UInt8]($0))
    }
  }

  // MARK: Requests

  /// Whether a request is signed, validly or not.
  static func isSigned(_ head: HTTPRequestHead) -> Bool { !head.values(Field.keyID).isEmpty }

  /// Checks a signed request by its head; the signature needs the body.
  ///
  /// - Throws: The reason for which it is refused.
  func check(_ head: HTTPRequestHead, _ path: ServicePath) throws(CloudError) {
    guard path.database == .public, !path.endpoint.isOfDevice else {
      throw .refused("a server-to-server key is for the public database")
    }
    _ = try parts(of: head)
  }

  /// The account of the key that signed a request.
  ///
  /// - Throws: The reason for which it is refused.
  func account(of head: HTTPRequestHead, body: [UInt8]) throws(CloudError) -> String {
    let (key, date, signature, time) = try parts(of: head)
    var hash = SHA256()
    hash.update(body)
    let message = "\(date):\(Notation.base64(hash.digest())):\(head.path)"
    guard key.isValid(signature, of: Array(message.utf8)) else {
      throw .refused("the signature does not fit the date, the body and the path")
    }
    // Without s: the same message has a second valid signature with the same r.
    guard seen.note("\(key.id) \(signature.r.words)", until: time + Self.window, now: now) else {
      throw .refused("the request was received before; sign each request anew")
    }
    return Self.accountPrefix + key.id
  }

  private var now: Double { clock().secondsSinceReferenceDate }

  private func parts(
    of head: HTTPRequestHead
  ) throws(CloudError) -> (key: PublicKey, date: String, signature: Signature, time: Double) {
    guard head.values(Field.keyID).count == 1, let id = head.value(Field.keyID),
      let key = try publicKey(id)
    else { throw .refused("the key is not known; cloudsync keys list shows those that are") }
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
    return (key, date, signature, seconds)
  }
}

extension CloudError {
  /// A signed request that is not accepted.
  fileprivate static func refused(_ reason: String) -> CloudError {
    CloudError(.notAuthenticated, reason)
  }
}

/// The signatures that were accepted, until their time is over.
private final class SeenSignatures: Sendable {
  /// The maximum number; more signed requests are refused within ten minutes.
  private static let most = 200_000

  private let signatures = Mutex<[String: Double]>([:])

  /// Notes a signature; `false` if it was noted before, or there are too many.
  func note(_ signature: String, until end: Double, now: Double) -> Bool {
    signatures.withLock { signatures in
      if signatures.count >= Self.most { signatures = signatures.filter { $0.value >= now } }
      guard signatures.count < Self.most, signatures[signature] == nil else { return false }
      signatures[signature] = end
      return true
    }
  }
}
