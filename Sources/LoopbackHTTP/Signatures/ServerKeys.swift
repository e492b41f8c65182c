import CloudProtocol
import Foundation
import LoopbackServer
import Records

/// The keys of programs on other servers, which sign their requests instead of showing tokens.
///
/// Each key has an account of its own, which owns what the program creates. Its contact data has
/// the key's name as the given name, and the public key as the family name, which no reply
/// contains; so keys are where accounts are: in the server's file and in archives. A key that was
/// removed leaves its account, because records refer to it. Rules: WS-12.
struct ServerKeys: Sendable {
  /// A key.
  struct Key: Hashable, Sendable {
    var id: String
    var name: String
    /// The user record name of its account.
    var user: UserID
  }

  private static let accountPrefix = LoopbackServer.serverKeyPrefix

  let server: LoopbackServer

  /// The account of the key with an ID.
  static func account(of id: String) -> String { accountPrefix + id }

  /// Whether an account is that of a key.
  static func isKey(account: String) -> Bool { account.hasPrefix(accountPrefix) }

  /// Checks the name of an account that a person signs in to.
  ///
  /// - Throws: `invalidArguments` if only a signed request may use the account.
  static func checkSignIn(_ account: String) throws(CloudError) {
    guard !isKey(account: account) else {
      throw CloudError(
        .invalidArguments,
        "an account whose name begins with '\(accountPrefix)' belongs to a server-to-server key; "
          + "choose another name")
    }
  }

  /// The keys, in the order of their IDs.
  func list() throws(CloudError) -> [Key] {
    var keys: [Key] = []
    for account in try server.accounts() where Self.isKey(account: account.name) {
      guard let person = try server.person(of: account.name), person.familyName != nil else {
        continue
      }
      let id = account.name.dropFirst(Self.accountPrefix.count)
      keys.append(Key(id: String(id), name: person.givenName ?? "", user: account.user))
    }
    return keys
  }

  /// Adds a public key in PEM; the same key has the same ID again, and its name unless there is
  /// another one.
  func add(_ pem: String, name newName: String? = nil) throws(CloudError) -> Key {
    guard let key = PublicKey(pem: pem) else {
      throw CloudError(
        .invalidArguments,
        pem.contains("PRIVATE KEY")
          ? "this is a private key, which stays with its program; give the public one: openssl ec "
            + "-in FILE -pubout"
          : "this is not a public key of the curve P-256 (prime256v1) in PEM")
    }
    var name = newName ?? ""
    if newName == nil, let known = try list().first(where: { $0.id == key.id }) {
      name = known.name
    }
    guard name.utf8.count <= 255 else {
      throw CloudError(.invalidArguments, "the name of a key has at most 255 bytes")
    }
    try server.controls.setPerson(
      of: Self.account(of: key.id), givenName: name,
      familyName: Data(key.bytes).base64EncodedString())
    return Key(id: key.id, name: name, user: try server.user(of: Self.account(of: key.id)))
  }

  /// Removes a key; its requests are refused from now on.
  func remove(_ id: String) throws(CloudError) {
    guard try publicKey(id) != nil else {
      throw CloudError(.unknownItem, "there is no key with this ID")
    }
    try server.controls.setPerson(of: Self.account(of: id))
  }

  /// The number of bytes of an ID.
  static let idLength = 64

  /// The public key with an ID; `nil` if it is unknown or was removed.
  func publicKey(_ id: String) throws(CloudError) -> PublicKey? {
    guard id.utf8.count == Self.idLength, let person = try server.person(of: Self.account(of: id))
    else {
      return nil
    }
    return person.familyName.flatMap { Data(base64Encoded: $0) }.flatMap {
      PublicKey(bytes: [UInt8]($0))
    }
  }
}

extension LoopbackWebServer {
  /// Whether an account is that of a program's key, which signs its requests and has no token.
  package static func isKey(account: String) -> Bool { ServerKeys.isKey(account: account) }
}
