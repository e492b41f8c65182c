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
/// It listens on 127.0.0.1 only and lets in programs and its own console page, not pages of other
/// sites. The server behind it can be used in this process at the same time. Call from any task.
public final class LoopbackWebServer: Sendable {
  /// How to listen, and what to allow.
  public struct Options: Sendable {
    /// The port, 0 to 65535; 0 takes any free one.
    public var port: Int
    /// Whether faults can be set up over HTTP.
    public var allowsFaultControl: Bool
    /// Origins of web pages that may use the service, such as `http://localhost:3000`; none by
    /// default, since any page a browser shows could reach this machine.
    public var allowedOrigins: [String]
    /// How many seconds a web token is good.
    public var webTokenSeconds: Double
    /// The token that lets in to the control interface; random unless given.
    public var controlToken: String?

    /// The defaults: any port, nothing allowed that a test does not need.
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

  /// The server behind it.
  public let server: LoopbackServer
  /// Where it listens: `http://127.0.0.1:` and the port.
  public let url: String
  /// The token that lets in to the control interface and the console.
  public let controlToken: String

  let door: Door
  private let http: HTTPServer
  private let routes: ServiceRoutes

  /// The port it listens on.
  public var port: Int { http.port }

  /// Where a browser shows what the server holds and what happens on it; it holds the control
  /// token, in the part of an address that browsers keep to themselves.
  public var consoleURL: String { "\(url)/console#token=\(controlToken)" }

  /// Listens, and answers from now on.
  ///
  /// - Parameters:
  ///   - server: The server to ask.
  ///   - options: How to listen.
  ///   - clock: The clock by which waiting devices are answered and slow clients are sent away.
  /// - Throws: `serverRejectedRequest` when the port can't be had, `networkFailure` when `server`
  ///   is closed.
  public convenience init(
    _ server: LoopbackServer, options: Options = Options(),
    clock: any Clock<Duration> = ContinuousClock()
  ) throws(CloudError) {
    try self.init(
      server, options: options, http: HTTPServerOptions(port: options.port, clock: clock))
  }

  /// Listens, with the sockets' own settings.
  package init(
    _ server: LoopbackServer, options: Options, http httpOptions: HTTPServerOptions
  ) throws(CloudError) {
    self.server = server
    var httpOptions = httpOptions
    httpOptions.wallClock = httpOptions.wallClock ?? server.clock
    controlToken = options.controlToken ?? LoopbackWebServer.randomToken()
    let tokens = AccessTokens(
      seal: Seal(key: try server.sealingKey()), clock: server.clock,
      lifetime: options.webTokenSeconds)
    let courier = Courier(
      clock: httpOptions.clock, wallClock: server.clock, taskExecutor: server.taskExecutor)
    let door = Door(options)
    self.door = door
    do throws(HTTPServerError) {
      http = try HTTPServer(
        httpOptions, admission: { door.admission($0) }, handler: { await door.answer($0) },
        refusalFields: { door.refusalFields($0) })
    } catch {
      throw CloudError(.serverRejectedRequest, error.description)
    }
    url = "http://127.0.0.1:\(http.port)"
    routes = ServiceRoutes(server: server, tokens: tokens, courier: courier, baseURL: url)
    let control = ControlRoutes(
      server: server, token: controlToken, allowsFaults: options.allowsFaultControl,
      signIn: { tokens.webToken(for: $0) }, clock: httpOptions.clock)
    door.open(routes, control, port: http.port)
  }

  /// The token of an app: for the container given, or for all.
  public func apiToken(for container: String? = nil) -> String {
    routes.tokens.apiToken(for: container)
  }

  /// A token for the account called `account`, which is made when there is none.
  ///
  /// - Parameters:
  ///   - account: 1 to 255 bytes without control characters.
  ///   - container: The one container it is good for; `nil` for all.
  /// - Throws: `invalidArguments` for another name, `networkFailure` after the server was closed.
  public func webAuthToken(
    for account: String, container: String? = nil
  ) throws(CloudError) -> String {
    _ = try server.user(of: account)
    return routes.tokens.webToken(for: account, container: container)
  }

  /// Stops listening; the server behind it goes on.
  ///
  /// Running requests may end, waiting devices are answered. Returns when nothing is left.
  public func stop() async {
    routes.courier.close()
    // Consoles wait for events; they are answered that nothing happened.
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
