public import CloudProtocol
public import Foundation
import Records
import Synchronization
import WebServices

/// The way to a server that speaks CloudKit Web Services: this package's, or Apple's.
///
/// ```swift
/// let transport = WebServicesTransport(
///   url: URL(string: "http://127.0.0.1:8080")!, apiToken: api, webAuthToken: web, device: "phone")
/// let container = CKContainer(identifier: "iCloud.com.example.notes", transport: transport)
/// ```
///
/// Apple's service needs no `url`: the container's name, its environment, an API token and a web
/// token are all. What that service has no words for (see `Docs/Server.md`) is left out there.
/// A server on this machine is asked by plain sockets, any other through `URLSession`. Requests
/// time out after a minute. A read, or a write that the server can tell from a repeated one, is
/// sent again once when the connection broke; everything else is the engine's to decide. Call from
/// any task.
public final class WebServicesTransport: CloudTransport {
  /// Where Apple's service is.
  public static let appleService = "https://api.apple-cloudkit.com"

  let session: WebServicesSession
  let listener: PushListener

  /// A way to the server at `url`.
  ///
  /// - Parameters:
  ///   - url: Where the server is; `nil` for Apple's service.
  ///   - apiToken: What lets the app in.
  ///   - webAuthToken: What stands for the account; `nil` for nobody, who may read what is public.
  ///   - device: This device's name, which a loopback server shows; another name for each device.
  ///   - clock: The clock by which a broken line for pushes is tried again.
  ///   - taskExecutor: Who runs the tasks that wait for pushes; `nil` for the system's threads.
  public convenience init(
    url: URL? = nil, apiToken: String, webAuthToken: String? = nil, device: String? = nil,
    clock: any Clock<Duration> = ContinuousClock(), taskExecutor: (any TaskExecutor)? = nil
  ) {
    self.init(
      WebServicesSession.Settings(
        url: url, apiToken: apiToken, device: device, understandsExtras: nil),
      webAuthToken: webAuthToken, signIn: nil, clock: clock, taskExecutor: taskExecutor)
  }

  /// A way to a loopback server that signs in whoever shows its control token.
  ///
  /// - Parameters:
  ///   - url: Where the server is.
  ///   - apiToken: What lets the app in.
  ///   - account: The account to sign in as, at the first request.
  ///   - controlToken: What lets in to the server's control interface.
  ///   - device: This device's name.
  package convenience init(
    url: URL, apiToken: String, account: String, controlToken: String, device: String
  ) {
    let control = ControlConnection(url: url, token: controlToken)
    self.init(
      WebServicesSession.Settings(
        url: url, apiToken: apiToken, device: device, understandsExtras: true),
      webAuthToken: nil, signIn: { () throws(CloudError) in try await control.signIn(as: account) })
  }

  /// A way to a server, with all there is to settle.
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

  /// The token that stands for the account now; the server hands out a new one with each answer.
  ///
  /// Keep it to be signed in after the app was started again.
  public var webAuthToken: String? { session.webAuthToken }

  /// Signs in as whom `webAuthToken` stands for, leaving another account first; `nil` signs out.
  ///
  /// Listeners hear `accountChanged`.
  public func signIn(webAuthToken: String?) {
    session.signIn(webAuthToken: webAuthToken)
    listener.accountChanged()
  }

  /// Carries `call` to the server.
  public func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    listener.note(call)
    try session.check(call.expectedUser)
    let reply: CloudReply
    switch call.request {
    case .uploadAsset(let upload): reply = try await bring(upload, call)
    case .downloadAsset(let download): reply = try await fetch(download, call)
    case .fetchRecords(let request) where !session.settings.isExact:
      reply = try await fetch(request, call)
    case .modifyRecords(let request) where !session.settings.isExact:
      reply = try await modify(request, call)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .modifyZones,
      .fetchRecords, .modifyRecords, .fetchSubscriptions, .modifySubscriptions, .queryRecords,
      .resolveShares, .acceptShares, .findUsers:
      reply = try await session.run(call)
    }
    if case .currentUser(let user) = reply { session.learn(user) }
    return reply
  }

  /// Calls `listener` for each push and change of account, and when the server can be reached
  /// again: with the first request that gets through after one that did not.
  ///
  /// Pushes are waited for as long as there is a listener, in the containers that requests were
  /// sent to. When the line was broken, listeners hear of each database once it stands again,
  /// since nobody knows what they missed.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    self.listener.add(listener)
  }
}
