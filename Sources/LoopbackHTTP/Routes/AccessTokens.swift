import Foundation
import LoopbackServer
import Records
import Synchronization

/// Who may come in: the tokens of CloudKit Web Services.
///
/// An API token stands for an app: for one container, or for all. A web token stands for an
/// account. Each answer hands out a fresh web token; older ones stay good until they expire.
/// Source: web-services 1.2.
struct AccessTokens: Sendable {
  /// Who a web token stands for.
  struct Bearer: Hashable, Sendable {
    var account: String
    /// The one container it is good for; `nil` for all.
    var container: String?
    var issued: Timestamp
  }

  /// What a request showed.
  enum Finding: Hashable, Sendable {
    /// No API token, or none of this server's for this container.
    case unknownApp
    /// An app, and nobody in particular.
    case app
    /// A web token that is none, has expired, or is another container's.
    case unknownPerson
    /// A person.
    case person(Bearer)
  }

  let seal: Seal
  let clock: @Sendable () -> Timestamp
  /// How long a web token is good, in seconds.
  let lifetime: Double
  /// The API token for all containers.
  private let commonToken: String
  /// Who some web tokens stand for: a device shows the same one with many requests.
  private let known = KnownTokens()

  init(seal: Seal, clock: @escaping @Sendable () -> Timestamp, lifetime: Double) {
    self.seal = seal
    self.clock = clock
    self.lifetime = lifetime
    commonToken = seal.digits(for: "app of all containers")
  }

  /// The API token for a container, or for all.
  func apiToken(for container: String? = nil) -> String {
    container.map { seal.digits(for: "app of container \($0)") } ?? commonToken
  }

  /// A web token for an account; good for one container, or for all.
  func webToken(for account: String, container: String? = nil) -> String {
    seal.close(.webToken) { writer in
      writer.write(account)
      writer.write(optional: container) { $0.write($1) }
      writer.write(clock().secondsSinceReferenceDate)
      writer.write(fixed: UInt64.random(in: 0...(.max)))
    }
  }

  /// Who shows these tokens to `container`.
  func finding(api: String?, web: String?, container: String) -> Finding {
    guard let api,
      isSame(api, commonToken) || isSame(api, apiToken(for: container))
    else { return .unknownApp }
    guard let web, !web.isEmpty else { return .app }
    let bearer = known.bearer(of: web) ?? opened(web)
    guard let bearer, bearer.container ?? container == container else { return .unknownPerson }
    let age = clock().secondsSinceReferenceDate - bearer.issued.secondsSinceReferenceDate
    // A clock that was set back makes nobody a stranger.
    return age <= lifetime ? .person(bearer) : .unknownPerson
  }

  /// Who an unknown web token stands for.
  private func opened(_ web: String) -> Bearer? {
    let bearer = seal.open(web, .webToken) { (reader) throws(ByteFormatError) in
      let account = try reader.string()
      let container = try reader.optional { (reader) throws(ByteFormatError) in
        try reader.string()
      }
      let issued = Timestamp(secondsSinceReferenceDate: try reader.double())
      _ = try reader.fixed64()
      return Bearer(account: account, container: container, issued: issued)
    }
    if let bearer { known.put(bearer, for: web) }
    return bearer
  }

  private func isSame(_ first: String, _ second: String) -> Bool {
    Seal.isSame(first.utf8, second.utf8)
  }
}

/// Remembers web tokens that were found to be good, so that a device's next request is cheaper.
///
/// Only what a token says is remembered; whether it has expired is decided anew each time.
private final class KnownTokens: Sendable {
  /// How many are remembered; then it begins anew.
  private static let most = 1024

  private let bearers = Mutex<[String: AccessTokens.Bearer]>([:])

  func bearer(of token: String) -> AccessTokens.Bearer? { bearers.withLock { $0[token] } }

  func put(_ bearer: AccessTokens.Bearer, for token: String) {
    bearers.withLock { bearers in
      if bearers.count >= KnownTokens.most { bearers = [:] }
      bearers[token] = bearer
    }
  }
}
