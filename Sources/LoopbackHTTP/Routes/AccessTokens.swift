import Foundation
import LoopbackServer
import Records
import Synchronization

/// The tokens of CloudKit Web Services: issues them and authenticates requests.
///
/// An API token identifies an app, for one container or for all. A web token identifies an account.
/// Each response contains a fresh web token; older tokens stay valid until they expire. Rules:
/// WS-8 to WS-13.
struct AccessTokens: Sendable {
  /// The account that a web token identifies.
  struct Bearer: Hashable, Sendable {
    var account: String
    /// The container that the token is valid for; `nil` for all.
    var container: String?
    var issued: Timestamp
  }

  /// The result of authenticating a request.
  enum Authentication: Hashable, Sendable {
    /// The API token is missing or not valid for this container.
    case invalidAPIToken
    /// A valid API token without a web token.
    case app
    /// The web token is malformed, expired or for another container.
    case invalidWebToken
    /// A valid web token.
    case person(Bearer)
  }

  let signer: TokenSigner
  let clock: @Sendable () -> Timestamp
  /// The lifetime of a web token in seconds.
  let lifetime: Double
  /// The API token for all containers.
  private let commonToken: String
  /// The verified web tokens: a device sends the same token with many requests.
  ///
  /// Only the content of a token is kept; its expiry is checked for each request.
  private let known = BoundedCache<Bearer>(most: 1024)

  init(signer: TokenSigner, clock: @escaping @Sendable () -> Timestamp, lifetime: Double) {
    self.signer = signer
    self.clock = clock
    self.lifetime = lifetime
    commonToken = signer.digest(for: "app of all containers")
  }

  /// The API token for a container; `nil` for all containers.
  func apiToken(for container: String? = nil) -> String {
    container.map { signer.digest(for: "app of container \($0)") } ?? commonToken
  }

  /// Issues a web token for an account, valid for one container or for all.
  func webToken(for account: String, container: String? = nil) -> String {
    signer.sign(.webToken) { writer in
      writer.write(account)
      writer.write(optional: container) { $0.write($1) }
      writer.write(clock().secondsSinceReferenceDate)
      writer.write(fixed: UInt64.random(in: 0...(.max)))
    }
  }

  /// Authenticates the tokens of a request to `container`.
  func finding(api: String?, web: String?, container: String) -> Authentication {
    guard let api,
      isSame(api, commonToken) || isSame(api, apiToken(for: container))
    else { return .invalidAPIToken }
    guard let web, !web.isEmpty else { return .app }
    let bearer = known.value(web) { opened(web) }
    guard let bearer, bearer.container ?? container == container else { return .invalidWebToken }
    let age = clock().secondsSinceReferenceDate - bearer.issued.secondsSinceReferenceDate
    // A clock that was set back does not invalidate tokens.
    return age <= lifetime ? .person(bearer) : .invalidWebToken
  }

  /// Verifies a web token that is not in the cache.
  private func opened(_ web: String) -> Bearer? {
    signer.verify(web, .webToken) { (reader) throws(ByteFormatError) in
      let account = try reader.string()
      let container = try reader.optional { (reader) throws(ByteFormatError) in
        try reader.string()
      }
      let issued = Timestamp(secondsSinceReferenceDate: try reader.double())
      _ = try reader.fixed64()
      return Bearer(account: account, container: container, issued: issued)
    }
  }

  private func isSame(_ first: String, _ second: String) -> Bool {
    TokenSigner.isSame(first.utf8, second.utf8)
  }
}

/// A cache of the results of a function; a full one is emptied.
final class BoundedCache<Value: Sendable>: Sendable {
  private let most: Int
  private let values = Mutex<[String: Value]>([:])

  /// Creates a cache of at most `most` values.
  init(most: Int) { self.most = most }

  /// The value of a key: the known one, or that of `make`, which is kept unless it is `nil`.
  func value(_ key: String, _ make: () -> Value?) -> Value? {
    if let known = values.withLock({ $0[key] }) { return known }
    guard let value = make() else { return nil }
    values.withLock { values in
      if values.count >= most { values = [:] }
      values[key] = value
    }
    return value
  }
}
