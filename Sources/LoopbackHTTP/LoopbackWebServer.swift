public import CloudProtocol
import Foundation
public import LoopbackServer
import Records

/// A loopback server that speaks CloudKit Web Services over HTTP on this machine.
///
/// ```swift
/// let server = LoopbackServer()
/// let web = try LoopbackWebServer(server)
/// print(web.url, web.apiToken(), try web.webAuthToken(for: "alice"))
/// ```
///
/// It listens on 127.0.0.1 only and accepts requests from programs and from its own console page,
/// not from pages of other sites. The underlying server can be used in this process at the same
/// time. Call from any task.
public final class LoopbackWebServer: Sendable {
  /// The settings of a web server.
  public struct Options: Sendable {
    /// The port, 0 to 65535; 0 takes any free one.
    public var port: Int
    /// Whether faults can be injected over HTTP.
    public var allowsFaultControl: Bool
    /// Origins of web pages that may use the service, such as `http://localhost:3000`; none by
    /// default, since any page a browser shows could reach this machine.
    public var allowedOrigins: [String]
    /// The lifetime of a web token in seconds.
    public var webTokenSeconds: Double
    /// The control token; `nil` generates a random one.
    public var controlToken: String?

    /// The defaults: any free port, and only what a test needs is allowed.
    public init(
      port: Int = 0, allowsFaultControl: Bool = false, allowedOrigins: [String] = [],
      webTokenSeconds: Double = 14 * 24 * 60 * 60, controlToken: String? = nil
    ) {
      self.port = port
      self.allowsFaultControl = allowsFaultControl
      self.allowedOrigins = allowedOrigins
      self.webTokenSeconds = webTokenSeconds
      self.controlToken = controlToken
    }
  }

  /// The underlying server.
  public let server: LoopbackServer
  /// The base URL: `http://127.0.0.1:` and the port.
  public let url: String
  /// The token for the control interface and the console.
  public let controlToken: String

  let router: RequestRouter
  private let http: HTTPServer
  private let routes: ServiceRoutes

  /// The port that the server listens on.
  public var port: Int { http.port }

  /// The URL of the console page.
  ///
  /// It contains the control token in the fragment, which browsers do not send to the server.
  public var consoleURL: String { "\(url)/console#token=\(controlToken)" }

  /// Starts listening and answering requests.
  ///
  /// - Parameters:
  ///   - server: The server that answers the requests.
  ///   - options: The settings.
  ///   - clock: The clock for long polls and for the time limits of slow clients.
  /// - Throws: `serverRejectedRequest` if the port cannot be used, `networkFailure` if `server` is
  ///   closed.
  public convenience init(
    _ server: LoopbackServer, options: Options = Options(),
    clock: any Clock<Duration> = ContinuousClock()
  ) throws(CloudError) {
    try self.init(
      server, options: options, http: HTTPServerOptions(port: options.port, clock: clock))
  }

  /// Starts listening with custom socket settings.
  package init(
    _ server: LoopbackServer, options: Options, http httpOptions: HTTPServerOptions
  ) throws(CloudError) {
    self.server = server
    var httpOptions = httpOptions
    httpOptions.wallClock = httpOptions.wallClock ?? server.clock
    controlToken = options.controlToken ?? LoopbackWebServer.randomToken()
    let tokens = AccessTokens(
      signer: TokenSigner(key: try server.signingKey()), clock: server.clock,
      lifetime: options.webTokenSeconds)
    let courier = WebCourier(
      clock: httpOptions.clock, wallClock: server.clock, taskExecutor: server.taskExecutor)
    let router = RequestRouter(options)
    self.router = router
    do throws(HTTPServerError) {
      http = try HTTPServer(
        httpOptions, admission: { router.admission($0) }, handler: { await router.answer($0) },
        refusalFields: { router.refusalFields($0) })
    } catch {
      throw CloudError(.serverRejectedRequest, error.description)
    }
    url = "http://127.0.0.1:\(http.port)"
    routes = ServiceRoutes(server: server, tokens: tokens, courier: courier, baseURL: url)
    let control = ControlRoutes(
      server: server, token: controlToken, allowsFaults: options.allowsFaultControl,
      signIn: { tokens.webToken(for: $0) }, clock: httpOptions.clock)
    router.open(routes, control, port: http.port)
  }

  /// The API token of an app, for one container or for all.
  public func apiToken(for container: String? = nil) -> String {
    routes.tokens.apiToken(for: container)
  }

  /// A token for the account called `account`, which is made when there is none.
  ///
  /// - Parameters:
  ///   - account: 1 to 255 bytes without control characters.
  ///   - container: The container that the token is valid for; `nil` for all.
  /// - Throws: `invalidArguments` for an invalid name, `networkFailure` after the server was
  ///   closed.
  public func webAuthToken(
    for account: String, container: String? = nil
  ) throws(CloudError) -> String {
    _ = try server.user(of: account)
    return routes.tokens.webToken(for: account, container: container)
  }

  /// Stops listening; the underlying server keeps running.
  ///
  /// Running requests complete, and long polls are answered. Returns when all connections are
  /// closed.
  public func stop() async {
    routes.courier.close()
    // Consoles wait for events; they get an empty response.
    server.wakeEventWaiters()
    await http.stop()
  }

  private static func randomToken() -> String {
    (0..<4).map { _ in
      let digits = String(UInt64.random(in: 0...(.max)), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
