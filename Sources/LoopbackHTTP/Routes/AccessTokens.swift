import CloudProtocol
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

  /// The signer of one secret, and what was derived with it.
  private struct Signing {
    let secret: LoopbackServer.SigningSecret
    let signer: TokenSigner
    /// The API token for all containers.
    let commonToken: String
    /// The verified web tokens: a device sends the same token with many requests.
    ///
    /// Only the content of a token is kept; its expiry is checked for each request.
    let known = BoundedCache<Bearer>(most: 1024)

    init(_ secret: LoopbackServer.SigningSecret) {
      self.secret = secret
      signer = TokenSigner(key: secret.key)
      commonToken = signer.digest(for: "app of all containers")
    }

    /// The API token for a container; `nil` for all containers.
    func apiToken(for container: String?) -> String {
      container.map { signer.digest(for: "app of container \($0)") } ?? commonToken
    }
  }

  /// The signer of the server's last known secret.
  private final class CurrentSigning: Sendable {
    private let server: LoopbackServer
    private let signing: Mutex<Signing>

    init(_ server: LoopbackServer) throws(CloudError) {
      self.server = server
      signing = Mutex(Signing(try server.signingSecret()))
    }

    /// The signer of the server's present secret; after the server was closed, that of its last.
    var value: Signing {
      let secret = try? server.signingSecret()
      return signing.withLock { signing in
        if let secret, secret != signing.secret { signing = Signing(secret) }
        return signing
      }
    }
  }

  let clock: @Sendable () -> Timestamp
  /// The lifetime of a web token in seconds.
  let lifetime: Double
  private let current: CurrentSigning

  /// Creates the tokens of a server, for web tokens that are valid for `lifetime` seconds.
  ///
  /// When the server's secret changes, by an import or a reset, all tokens and signed paths that
  /// were issued before are invalid at once, as they are after a restart.
  ///
  /// - Throws: `networkFailure` if the server is closed.
  init(_ server: LoopbackServer, lifetime: Double) throws(CloudError) {
    clock = server.clock
    self.lifetime = lifetime
    current = try CurrentSigning(server)
  }

  /// The signer of the server's present secret.
  var signer: TokenSigner { current.value.signer }

  /// The API token for a container; `nil` for all containers.
  func apiToken(for container: String? = nil) -> String {
    current.value.apiToken(for: container)
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
    let signing = current.value
    guard let api,
      isSame(api, signing.commonToken) || isSame(api, signing.apiToken(for: container))
    else { return .invalidAPIToken }
    guard let web, !web.isEmpty else { return .app }
    let bearer = signing.known.value(web) { opened(web, signing.signer) }
    guard let bearer, bearer.container ?? container == container else { return .invalidWebToken }
    let age = clock().secondsSinceReferenceDate - bearer.issued.secondsSinceReferenceDate
    // A clock that was set back does not invalidate tokens.
    return age <= lifetime ? .person(bearer) : .invalidWebToken
  }

  /// Verifies a web token that is not in the cache.
  private func opened(_ web: String, _ signer: TokenSigner) -> Bearer? {
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
