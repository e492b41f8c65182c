public import CloudProtocol
public import Foundation
import Records
import Synchronization
import WebServices

/// A transport to a CloudKit Web Services server: this package's or Apple's.
///
/// ```swift
/// let transport = WebServicesTransport(
///   url: URL(string: "http://127.0.0.1:8080"), apiToken: api, webAuthToken: web, device: "phone")
/// let container = CKContainer(identifier: "iCloud.com.example.notes", transport: transport)
/// ```
///
/// Apple's service needs no `url`: the container's name, its environment, an API token and a web
/// token are sufficient. Features that its protocol lacks (see `Docs/Server.md`) are omitted there.
/// Servers on this machine are reached by plain sockets, others through `URLSession`. Requests time
/// out after a minute. A read, or a write whose repetition the server detects, is retried once when
/// the connection breaks; all other retries are left to the engine. Its methods can be called from
/// any task.
public final class WebServicesTransport: CloudTransport {
  /// The URL of Apple's service.
  public static let appleService = "https://api.apple-cloudkit.com"

  let session: WebServicesSession
  let listener: PushListener

  /// Creates a transport to the server at `url`.
  ///
  /// - Parameters:
  ///   - url: The URL of the server; `nil` for Apple's service.
  ///   - apiToken: The API token of the app.
  ///   - webAuthToken: The web token of the account; `nil` for anonymous access to public data.
  ///   - device: This device's name, shown by a loopback server, which sends no push to the device
  ///     that made a change: unique to each device, and the same in each run of the app; `nil` for
  ///     a new name in each run.
  ///   - clock: The clock that times the reconnection of the push listener.
  ///   - taskExecutor: The executor of the tasks that wait for pushes; `nil` for the default one.
  public convenience init(
    url: URL? = nil, apiToken: String, webAuthToken: String? = nil, device: String? = nil,
    clock: any Clock<Duration> = ContinuousClock(), taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.init(
      WebServicesSession.Settings(
        url: url, apiToken: apiToken, device: device, understandsExtras: nil),
      webAuthToken: webAuthToken, signIn: nil, clock: clock, taskExecutor: taskExecutor)
  }

  /// Creates a transport to a loopback server that signs in with the server's control token.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - apiToken: The API token of the app.
  ///   - account: The account to sign in as, at the first request.
  ///   - controlToken: The token of the server's control interface.
  ///   - device: This device's name; `nil` for a new one.
  package convenience init(
    url: URL, apiToken: String, account: String, controlToken: String, device: String?
  ) {
    let control = ControlConnection(url: url, token: controlToken)
    self.init(
      WebServicesSession.Settings(
        url: url, apiToken: apiToken, device: device, understandsExtras: true),
      webAuthToken: nil, signIn: { () throws(CloudError) in try await control.signIn(as: account) })
  }

  /// Creates a transport with complete settings.
  package init(
    _ settings: WebServicesSession.Settings, webAuthToken: String?,
    signIn: (@Sendable () async throws(CloudError) -> String)?,
    clock: any Clock<Duration> = ContinuousClock(), taskExecutor: (any TaskExecutor)? = nil
  ) {
    session = WebServicesSession(settings, webAuthToken: webAuthToken, signIn: signIn)
    listener = PushListener(session, clock: clock, taskExecutor: taskExecutor)
    session.whenNetworkReturns { [weak listener] in listener?.networkReturned() }
  }

  deinit {
    listener.stop()
    session.close()
  }

  /// The current web token of the account; the server issues a new one with each response.
  ///
  /// Store it to stay signed in across launches of the app.
  public var webAuthToken: String? { session.webAuthToken }

  /// Signs in with the web token of an account, in place of the current account; `nil` signs out.
  ///
  /// Listeners receive `accountChanged`.
  public func signIn(webAuthToken: String?) {
    session.signIn(webAuthToken: webAuthToken)
    listener.accountChanged()
  }

  /// Sends `call` to the server and returns its reply.
  public func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    listener.note(call)
    let epoch = session.epoch
    let reply: CloudReply
    switch call.request {
    case .uploadAsset(let asset): reply = try await upload(asset, call, since: epoch)
    case .downloadAsset(let asset): reply = try await download(asset, call, since: epoch)
    case .fetchRecords(let request) where !session.settings.isExact:
      reply = try await fetch(request, call, since: epoch)
    case .modifyRecords(let request) where !session.settings.isExact:
      reply = try await modify(request, call, since: epoch)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .modifyZones,
      .fetchRecords, .modifyRecords, .fetchSubscriptions, .modifySubscriptions, .queryRecords,
      .resolveShares, .acceptShares, .findUsers:
      reply = try await session.run(call, since: epoch)
    }
    if case .currentUser(let user) = reply { session.learn(user, since: epoch) }
    return reply
  }

  /// Calls `listener` for each push and account change, and when the server can be reached again:
  /// at the first request that succeeds after one that did not reach it.
  ///
  /// Pushes are received while there is a listener, for the containers that requests were sent to.
  /// After the push connection was interrupted, listeners receive a push for each database, since
  /// pushes may have been missed.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    self.listener.add(listener)
  }
}
