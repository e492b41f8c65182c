import LoopbackServer
import Records
import WebServices

@testable import LoopbackHTTP

/// A credential that is not alice's, and the access that it gives.
struct Credential: Sendable {
  /// The access that a credential gives, by WS-8 to WS-13 and WS-89 to WS-95.
  enum Reach: Sendable {
    /// The app is not known: 401 `AUTHENTICATION_FAILED`.
    case nowhere
    /// The app is known and the person is not: 421 `AUTHENTICATION_REQUIRED` with the place to
    /// sign in, even where no person is needed.
    case signIn
    /// The app is known and nobody is there: what needs a person is answered with 421.
    case world
    /// Another person, who is let in to what is theirs.
    case other
  }

  var name: String
  var reach: Reach
  var query: String

  /// All that are tried, some of them older than a web token's life.
  static func all(
    _ world: AccessWorld, _ belongings: AccessWorld.Belongings
  ) throws -> [Credential] {
    let web = world.web
    let alice = AccessWorld.alice
    let expired = try web.webAuthToken(for: alice)
    world.pass(seconds: AccessWorld.lifetime + 1)
    let strange = try Stranger(world)
    let api = web.apiToken()
    let good = try web.webAuthToken(for: alice)
    let elsewhere = AccessWorld.otherContainer
    var all: [Credential] = [
      .init(name: "nothing", reach: .nowhere, query: ""),
      .init(name: "empty items", reach: .nowhere, query: "ckAPIToken=&ckWebAuthToken="),
      .init(name: "a malformed API token", reach: .nowhere, query: "ckAPIToken=%FF%00x"),
      .init(name: "a web token alone", reach: .nowhere, query: "ckWebAuthToken=\(good)"),
      .init(
        name: "another server's API token", reach: .nowhere,
        query: "ckAPIToken=\(strange.api)&ckWebAuthToken=\(good)"),
      .init(
        name: "another container's API token", reach: .nowhere,
        query: "ckAPIToken=\(web.apiToken(for: elsewhere))&ckWebAuthToken=\(good)"),
      .init(
        name: "a web token for an API token", reach: .nowhere,
        query: "ckAPIToken=\(good)&ckWebAuthToken=\(good)"),
      .init(
        name: "two API tokens", reach: .nowhere,
        query: "ckAPIToken=\(api)&ckAPIToken=\(api)&ckWebAuthToken=\(good)"),
      .init(
        name: "the control token for an API token", reach: .nowhere,
        query: "ckAPIToken=\(web.controlToken)&ckWebAuthToken=\(good)"),
      .init(name: "an API token alone", reach: .world, query: "ckAPIToken=\(api)"),
      .init(
        name: "an API token of this container alone", reach: .world,
        query: "ckAPIToken=\(web.apiToken(for: AccessWorld.container))"),
      .init(
        name: "two web tokens", reach: .signIn,
        query: "ckAPIToken=\(api)&ckWebAuthToken=\(good)&ckWebAuthToken=\(good)"),
      .init(
        name: "a web token and a session", reach: .signIn,
        query: "ckAPIToken=\(api)&ckWebAuthToken=\(good)&ckSession=\(good)"),
      .init(name: "bob's web token", reach: .other, query: try world.query("bob")),
      .init(
        name: "bob's web token of this container", reach: .other,
        query: "ckAPIToken=\(api)&ckSession="
          + (try web.webAuthToken(for: "bob", container: AccessWorld.container))),
    ]
    let wrong: [(String, String)] = [
      ("a malformed web token", "x"), ("a web token that can't be read", "%FF"),
      ("an expired web token", expired), ("another server's web token", strange.web),
      ("a web token of another container", try web.webAuthToken(for: alice, container: elsewhere)),
      ("an API token for a web token", api),
      ("the control token for a web token", web.controlToken),
      ("a file's signed path for a web token", belongings.signatures[0]),
      ("an upload's signed path for a web token", belongings.signatures[1]),
      ("a courier's signed path for a web token", belongings.signatures[2]),
      ("a web token with another end", String(good.dropLast()) + (good.last == "A" ? "B" : "A")),
      ("a web token cut short", String(good.dropLast(4))),
      ("a web token with something behind it", good + "AAAA"),
      ("a web token with padding", good + "="),
    ]
    all += wrong.map { name, token in
      Credential(name: name, reach: .signIn, query: "ckAPIToken=\(api)&ckWebAuthToken=\(token)")
    }
    return all
  }

  /// Tokens of another server, for accounts of the same names.
  private struct Stranger {
    let api: String
    let web: String

    init(_ world: AccessWorld) throws {
      let server = LoopbackServer(clock: world.server.clock)
      defer { server.close() }
      let tokens = try AccessTokens(server, lifetime: AccessWorld.lifetime)
      api = tokens.apiToken()
      web = tokens.webToken(for: AccessWorld.alice)
    }
  }
}
