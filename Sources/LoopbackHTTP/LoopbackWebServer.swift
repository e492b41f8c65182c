public import CloudProtocol
import Foundation
public import LoopbackServer
import Records
import WebServices

/// A loopback server that speaks CloudKit Web Services over HTTP.
///
/// ```swift
/// let server = LoopbackServer()
/// let web = try LoopbackWebServer(server)
/// print(web.url, web.apiToken(), try web.webAuthToken(for: "alice"))
/// ```
///
/// It listens on 127.0.0.1, unless ``Options/host`` names another address. It accepts requests from
/// programs and from its own console page, not from pages of other sites. The underlying server can
/// be used in this process at the same time. Call from any task.
public final class LoopbackWebServer: Sendable {
  /// The settings of a web server.
  public struct Options: Sendable {
    /// The address to listen on: `127.0.0.1`, or `0.0.0.0` or `::` for other machines too.
    public var host = "127.0.0.1"
    /// The port, 0 to 65535; 0 takes any free one.
    public var port: Int
    /// The origin under which clients reach the server, such as `https://sync.example.com` of a
    /// proxy in front of it; `nil` for the address that each request names.
    ///
    /// The URLs in responses begin with it: those of files, of pushes and of the sign-in.
    public var publicURL: String?
    /// Further hosts that requests may name: `name` for any port, or `name:port`.
    ///
    /// Other names are refused, because a page of another site could have its name resolved to this
    /// machine.
    public var allowedHosts: [String] = []
    /// The addresses of proxies whose `X-Forwarded-Host` and `X-Forwarded-Proto` are used, such as
    /// `127.0.0.1` or `10.0.0.0/8`; those of others are ignored.
    public var trustedProxies: [String] = []
    /// Whether faults can be injected over HTTP.
    public var allowsFaultControl: Bool
    /// Origins of web pages that may use the service, such as `http://localhost:3000`; none by
    /// default, since any page a browser shows could reach this machine.
    public var allowedOrigins: [String]
    /// The lifetime of a web token in seconds.
    public var webTokenSeconds: Double
    /// The control token; `nil` generates a random one.
    public var controlToken: String?
    /// The maximum number of connections, at least 1; further ones get 503.
    package var connections = HTTPServerOptions().connections
    /// Called for each answered request, on any thread, for a log; it must return at once.
    public var requestLog: (@Sendable (LoggedRequest) -> Void)?
    /// Called when a holder of the control token asks the program to stop; `nil` refuses that, and
    /// so does an error, whose description is in the response.
    public var stopRequested: (@Sendable () throws -> Void)?

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

  /// An answered request, without its tokens, names and content.
  public struct LoggedRequest: Hashable, Sendable {
    /// The method, such as `POST`.
    public let method: String
    /// The name of the endpoint, such as `records/modify`, or `other` for an unknown path.
    public let operation: String
    /// The status of the response; 0 if it was dropped.
    public let status: Int
    /// The time from the complete request to its response; zero if it was refused by its head.
    public let duration: Duration
    /// The number of bytes of the request's body.
    public let received: Int
    /// The number of bytes of the response's body.
    public let sent: Int
  }

  /// The underlying server.
  public let server: LoopbackServer
  /// The base URL on this machine: `http://`, the address that it listens on, and the port.
  public let url: String
  /// The token for the control interface and the console.
  public let controlToken: String

  let router: RequestRouter
  private let http: HTTPServer
  private let routes: ServiceRoutes
  private let control: ControlRoutes

  /// The port that the server listens on.
  public var port: Int { http.port }

  /// The URL of the console page.
  ///
  /// It contains the control token in the fragment, which browsers do not send to the server.
  public var consoleURL: String {
    let unescaped = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    let token = controlToken.addingPercentEncoding(withAllowedCharacters: unescaped)
    return "\(publicURL ?? url)/console#token=\(token ?? controlToken)"
  }

  private let publicURL: String?

  /// Starts listening and answering requests.
  ///
  /// - Parameters:
  ///   - server: The server that answers the requests.
  ///   - options: The settings.
  ///   - clock: The clock for long polls and for the time limits of slow clients.
  /// - Throws: `invalidArguments` if the host is not an address of this machine,
  ///   `serverRejectedRequest` if the port cannot be used, `networkFailure` if `server` is closed.
  public convenience init(
    _ server: LoopbackServer, options: Options = Options(),
    clock: any Clock<Duration> = ContinuousClock()
  ) throws(CloudError) {
    try self.init(
      server, options: options,
      http: HTTPServerOptions(host: options.listeningHost, port: options.port, clock: clock) {
        $0.connections = options.connections
      })
  }

  /// Starts listening with custom socket settings.
  package init(
    _ server: LoopbackServer, options: Options, http httpOptions: HTTPServerOptions
  ) throws(CloudError) {
    self.server = server
    var httpOptions = httpOptions
    httpOptions.wallClock = httpOptions.wallClock ?? server.clock
    httpOptions.trustedProxies = try options.proxies()
    publicURL = try options.publicOrigin()
    controlToken = options.controlToken ?? LoopbackWebServer.randomToken()
    let tokens = try AccessTokens(server, lifetime: options.webTokenSeconds)
    let courier = WebCourier(
      clock: httpOptions.clock, wallClock: server.clock, taskExecutor: server.taskExecutor)
    let metrics = ServerMetrics()
    let router = RequestRouter(options, metrics, httpOptions.clock)
    self.router = router
    do throws(HTTPServerError) {
      http = try HTTPServer(
        httpOptions, admission: { router.admission($0) }, handler: { await router.answer($0) },
        refused: { router.noteRefusal($0, $1) })
    } catch {
      throw CloudError(
        error.isOfHost ? .invalidArguments : .serverRejectedRequest, error.description)
    }
    url = "http://\(options.ownHost):\(http.port)"
    routes = ServiceRoutes(server: server, tokens: tokens, courier: courier, baseURL: url)
    let control = ControlRoutes(
      server: server, token: controlToken, allowsFaults: options.allowsFaultControl,
      signIn: { tokens.webToken(for: $0) }, apiToken: { tokens.apiToken() },
      clock: httpOptions.clock,
      metrics: metrics, stop: options.stopRequested)
    self.control = control
    let http = http
    metrics.add(server.gauges)
    metrics.add([
      .init(name: "connections", help: "Open connections.") { [weak http] in
        http?.connectionCount ?? 0
      },
      .init(name: "push_queues", help: "Devices whose pushes are queued.") { courier.queueCount },
      .init(name: "pushes_waiting", help: "Pushes that no device has read.") {
        courier.waitingCount
      },
    ])
    router.open(routes, control, controlToken: controlToken, port: http.port)
  }

  /// The API token of an app, for one container or for all, until an import with a secret or a
  /// reset.
  public func apiToken(for container: String? = nil) -> String {
    routes.tokens.apiToken(for: container)
  }

  /// A token for the account called `account`, which is made when there is none.
  ///
  /// - Parameters:
  ///   - account: 1 to 255 bytes without control characters.
  ///   - container: The container that the token is valid for; `nil` for all.
  /// - Throws: `invalidArguments` for an invalid name and for the account of a server-to-server
  ///   key, `networkFailure` after the server was closed.
  public func webAuthToken(
    for account: String, container: String? = nil
  ) throws(CloudError) -> String {
    try ServerKeys.checkSignIn(account)
    _ = try server.user(of: account)
    return routes.tokens.webToken(for: account, container: container)
  }

  /// Injects faults, as the control interface does.
  ///
  /// - Parameter body: The body of a request to `faults`.
  /// - Throws: The response of the control interface to a body that it refuses.
  package func injectFaults(_ body: [UInt8]) throws(HTTPRefusal) { try control.carryOut(body) }

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
    (0..<4).map { _ in String(format: "%016llx", UInt64.random(in: 0...(.max))) }.joined()
  }
}

extension LoopbackServer {
  /// The requests and the storage, for the metrics.
  fileprivate var gauges: [ServerMetrics.Gauge] {
    let server = self
    func use(
      _ name: String, _ help: String, _ type: String = "gauge",
      _ value: @escaping @Sendable (StorageUse) -> any Numeric & Sendable
    ) -> ServerMetrics.Gauge {
      .init(name: "storage_" + name, help: help, type: type) { value(server.storageUse) }
    }
    return [
      .init(name: "open_requests", help: "Requests held, delayed or being answered.") {
        server.controls.openRequestCount
      },
      .init(
        name: "refused_items_total", help: "Items of answered requests that were refused, by code.",
        by: "code"
      ) { server.controls.refusedItemsByName },
      use("transactions_total", "Transactions of the storage.", "counter") { $0.transactions },
      use("seconds_total", "The time of the storage's transactions.", "counter") {
        $0.time / .seconds(1)
      },
      use("conflicts_total", "Transactions run again after a conflict.", "counter") {
        $0.conflicts
      },
      use("connections", "Connections to the storage.") { $0.connections },
      use("connections_in_use", "Connections that a transaction uses.") { $0.connectionsInUse },
      use("transactions_waiting", "Transactions that wait for a connection.") {
        $0.transactionsWaiting
      },
    ]
  }
}

extension FaultControls {
  /// The number of refused items by the name of their code in CloudKit Web Services.
  fileprivate var refusedItemsByName: [String: Int] {
    refusedItemCounts.reduce(into: [:]) { counts, element in
      counts[Notation.errorCode(for: element.key).name, default: 0] += element.value
    }
  }
}

extension LoopbackWebServer.Options {
  /// Whether only programs of this machine can reach the server.
  public var isLoopback: Bool {
    host.lowercased() == "localhost" || host == "::1" || host.hasPrefix("127.")
  }

  /// The host to listen on; `localhost` is the address that the server's URL has.
  ///
  /// A system may name an IPv6 address first.
  fileprivate var listeningHost: String { host.lowercased() == "localhost" ? ownHost : host }

  /// The host under which programs of this machine reach the server.
  fileprivate var ownHost: String {
    switch host.lowercased() {
    case "0.0.0.0", "::", "localhost": "127.0.0.1"
    default: host.contains(":") ? "[\(host)]" : host
    }
  }

  /// The host that it listens on, if that is a name or an address of its own.
  var ownName: String? { ownHost == "127.0.0.1" ? nil : ownHost }

  fileprivate func proxies() throws(CloudError) -> [AddressRange] {
    var ranges: [AddressRange] = []
    for text in trustedProxies {
      guard let range = AddressRange(text) else {
        throw CloudError(
          .invalidArguments,
          "'\(text)' is not the address of a proxy; write one like 127.0.0.1 or 10.0.0.0/8")
      }
      ranges.append(range)
    }
    return ranges
  }

  fileprivate func publicOrigin() throws(CloudError) -> String? {
    guard let publicURL else { return nil }
    guard let origin = WebOrigin(publicURL) else {
      throw CloudError(
        .invalidArguments,
        "'\(publicURL)' is not a public URL; write one like https://sync.example.com, without a "
          + "path")
    }
    return origin.text
  }
}
