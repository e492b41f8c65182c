import CloudProtocol
import Foundation
import LoopbackHTTP
import Records
import Synchronization
import Testing
import VerificationSupport

@testable import CloudSync

/// The session of the transport over HTTP against a server that answers as each test says.
@Suite("The session of the transport over HTTP", .timeLimit(.minutes(20)))
struct WebServicesSessionTests {
  typealias Server = ScriptedServer

  private static let webToken = "x-apple-cloudkit-web-auth-token"

  private func transport(
    _ server: Server, token: String? = "first", isExact: Bool = true,
    signIn: (@Sendable () async throws(CloudError) -> String)? = nil
  ) -> WebServicesTransport {
    WebServicesTransport(
      WebServicesSession.Settings(
        url: URL(string: server.url), apiToken: "api", device: "phone",
        understandsExtras: isExact),
      webAuthToken: token, signIn: signIn, clock: LeapingClock())
  }

  private func call(_ request: CloudRequest = .fetchCurrentUser, by user: String? = nil)
    -> CloudCall
  {
    CloudCall(
      container: "iCloud.session", database: .private, expectedUser: user.map { UserID($0) },
      requestID: "request-1", request: request)
  }

  /// The error of a call; `nil` if it succeeds.
  private func failure(
    _ transport: WebServicesTransport, _ call: CloudCall
  ) async -> CloudError? {
    do throws(CloudError) { _ = try await transport.send(call) } catch { return error }
    return nil
  }

  private static func user(_ name: String = "alice", next token: String? = nil) -> Server.Answer {
    .text("{\"userRecordName\":\"\(name)\"}", 200, token.map { (webToken, $0) })
  }

  /// Adds 1 to a count and returns it.
  private static func counted(_ count: borrowing Mutex<Int>) -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }

  // MARK: Tokens

  @Test("The token of a late response does not replace the token of a later sign-in")
  func lateResponseKeepsLaterSignIn() async throws {
    let (arrived, release) = (Signal(), Signal())
    let server = try Server { request in
      if request.index == 0 {
        arrived.fire()
        await release.wait()
        return Self.user("alice", next: "alice-2")
      }
      return Self.user("bob", next: "bob-2")
    }
    let transport = transport(server, token: "alice-1")
    let late = Task { try await transport.send(self.call()) }
    await arrived.wait()
    transport.signIn(webAuthToken: "bob-1")
    release.fire()
    _ = try await late.value
    #expect(transport.webAuthToken == "bob-1")
    for _ in 0..<2 { #expect(await failure(transport, call()) == nil) }
    // The token of a response to the current account is the next request's.
    #expect(transport.webAuthToken == "bob-2")
    let tokens = server.log.received.map { $0.query.split(separator: "=").last ?? "" }
    #expect(tokens == ["alice%2D1", "bob%2D1", "bob%2D2"])
    withExtendedLifetime(transport) {}
    #expect(await server.end())
  }

  @Test("A late response to an earlier account does not tell who is signed in now")
  func lateResponseKeepsLaterUser() async throws {
    let (arrived, release) = (Signal(), Signal())
    let server = try Server { request in
      guard request.index == 0 else { return Self.user("bob") }
      arrived.fire()
      await release.wait()
      return Self.user("alice")
    }
    let transport = transport(server, token: "alice-1")
    let late = Task { try await transport.send(self.call()) }
    await arrived.wait()
    transport.signIn(webAuthToken: "bob-1")
    #expect(await failure(transport, call()) == nil)
    release.fire()
    _ = try await late.value
    #expect(await failure(transport, call(by: "bob")) == nil)
    #expect(await failure(transport, call(by: "alice"))?.code == .notAuthenticated)
    withExtendedLifetime(transport) {}
    #expect(await server.end())
  }

  /// A change of the account while the transport's own sign-in is under way.
  struct SignInCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The calls of `signIn(webAuthToken:)` meanwhile.
    var meanwhile: [String?]
    /// The token of the request.
    var used: String?
  }

  @Test(
    "A sign-in by the app takes precedence over the transport's own one",
    arguments: [
      SignInCase(testDescription: "no change", meanwhile: [], used: "fresh"),
      SignInCase(testDescription: "sign-in by the app", meanwhile: ["own"], used: "own"),
      SignInCase(testDescription: "sign-out", meanwhile: ["own", nil], used: nil),
    ])
  func signInByTheAppTakesPrecedence(_ row: SignInCase) async throws {
    let (begun, release) = (Signal(), Signal())
    let count = Mutex(0)
    let server = try Server { _ in Self.user() }
    let transport = transport(server, token: nil) { () throws(CloudError) in
      count.withLock { $0 += 1 }
      begun.fire()
      await release.wait()
      return "fresh"
    }
    #expect(transport.session.canSignIn)
    let request = Task { try await transport.send(self.call()) }
    await begun.wait()
    for token in row.meanwhile { transport.signIn(webAuthToken: token) }
    release.fire()
    _ = try await request.value
    #expect(transport.webAuthToken == row.used)
    let token = row.used.map { "&ckWebAuthToken=" + $0 } ?? ""
    #expect(server.log.received.map(\.query) == ["ckAPIToken=api" + token])
    if row.used != nil {
      #expect(await failure(transport, call()) == nil)
      #expect(count.withLock { $0 } == 1, "a token that is there is used")
    }
    #expect(await server.end())
  }

  @Test("A token that a response brought meanwhile is not replaced by a later sign-in's")
  func tokenOfAResponseIsKept() async throws {
    let server = try Server { _ in Self.user(next: "next") }
    let (begun, release) = (Signal(), Signal())
    let count = Mutex(0)
    let transport = transport(server, token: nil) { () throws(CloudError) in
      guard Self.counted(count) == 1 else { return "second" }
      begun.fire()
      await release.wait()
      return "first"
    }
    let first = Task { try await transport.send(self.call()) }
    await begun.wait()
    #expect(await failure(transport, call()) == nil)
    release.fire()
    _ = try await first.value
    let tokens = server.log.received.map { $0.query.split(separator: "=").last ?? "" }
    #expect(tokens == ["second", "next"])
    #expect(await server.end())
  }

  /// Proves CE-174.
  @Test("A token that the server refuses is replaced once by the transport's own sign-in")
  func refusedTokenIsReplacedOnce() async throws {
    let refusal = #"{"serverErrorCode":"AUTHENTICATION_REQUIRED"}"#
    let server = try Server { request in
      request.query.hasSuffix("good") ? Self.user() : .text(refusal, 421)
    }
    let fresh = Mutex(["good", "bad"])
    let transport = transport(server) { () throws(CloudError) in
      fresh.withLock { $0.removeFirst() }
    }
    #expect(await failure(transport, call()) == nil)
    #expect(transport.webAuthToken == "good")
    transport.signIn(webAuthToken: "expired")
    #expect(await failure(transport, call())?.code == .accountTemporarilyUnavailable)
    let tokens = server.log.received.map { $0.query.split(separator: "=").last ?? "" }
    #expect(tokens == ["first", "good", "expired", "bad"])
    let signedOut = self.transport(server, token: nil)
    #expect(await failure(signedOut, call())?.code == .notAuthenticated, "there was no token")
    #expect(await server.end())
  }

  @Test("A request for another account than the one signed in is refused before it is sent")
  func requestForAnotherAccountIsNotSent() async throws {
    let server = try Server { request in
      Self.user(request.query.hasSuffix("first") ? "alice" : "bob")
    }
    let transport = transport(server)
    #expect(await failure(transport, call(by: "bob")) == nil, "nobody is known yet")
    #expect(await failure(transport, call(by: "alice")) == nil)
    #expect(await failure(transport, call(by: "bob"))?.code == .notAuthenticated)
    #expect(server.log.received.count == 2)
    transport.signIn(webAuthToken: "second")
    #expect(await failure(transport, call(by: "bob")) == nil, "the former account is forgotten")
    #expect(await server.end())
  }

  @Test("A session can sign in with a token or a sign-in function")
  func sessionKnowsWhetherItCanSignIn() {
    let settings = WebServicesSession.Settings(
      url: nil, apiToken: "", device: nil, understandsExtras: nil)
    #expect(!WebServicesSession(settings, webAuthToken: nil, signIn: nil).canSignIn)
    #expect(WebServicesSession(settings, webAuthToken: "a", signIn: nil).canSignIn)
    let session = WebServicesSession(settings, webAuthToken: nil) { () throws(CloudError) in "a" }
    #expect(session.canSignIn)
  }

  // MARK: Requests

  @Test("A request names its account, device and ID, to a server that understands them only")
  func requestNamesAccountDeviceAndID() async throws {
    let server = try Server { _ in Self.user() }
    for isExact in [true, false] {
      let transport = WebServicesTransport(
        WebServicesSession.Settings(
          url: URL(string: server.url), apiToken: "a+b&c", device: "phone",
          understandsExtras: isExact),
        webAuthToken: "d=e f/g", signIn: nil, clock: LeapingClock())
      #expect(await failure(transport, call(by: "alice")) == nil)
      _ = try await transport.session.load(server.url + "/file", uploading: [1])
      let sent = try #require(server.log.received.dropLast().last)
      #expect(sent.query == "ckAPIToken=a%2Bb%26c&ckWebAuthToken=d%3De%20f%2Fg")
      #expect(sent.fields["cloudsync"] == (isExact ? "1" : nil))
      #expect(sent.fields["cloudsync-request"] == (isExact ? "request-1" : nil))
      #expect(sent.fields["cloudsync-user"] == (isExact ? "alice" : nil))
      #expect(sent.fields["cloudsync-device"] == (isExact ? "phone" : nil))
      let file = try #require(server.log.received.last)
      #expect(file.path == "/file" && file.query == "", "without a token")
      #expect(file.fields["content-type"] == "application/octet-stream")
      #expect(file.fields["cloudsync"] == (isExact ? "1" : nil))
      _ = await failure(transport, call(.fetchZones([])))
      #expect(
        server.log.received.last?.fields["content-type"] == "application/json; charset=utf-8")
    }
    #expect(await server.end())
  }

  @Test("The URL of a server decides whether it understands the extension members")
  func urlDecidesAboutExtensionMembers() throws {
    let rows: [(url: String?, known: Bool?, text: String, isExact: Bool)] = [
      (nil, nil, "https://api.apple-cloudkit.com", false),
      (nil, true, "https://api.apple-cloudkit.com", true),
      ("http://127.0.0.1:80//", nil, "http://127.0.0.1:80", true),
      ("http://localhost/", nil, "http://localhost", true),
      ("http://[::1]:8080", nil, "http://[::1]:8080", true),
      ("http://localhost", false, "http://localhost", false),
      ("http://192.168.1.20:8400", nil, "http://192.168.1.20:8400", true),
      ("https://example.com/path/", nil, "https://example.com/path", true),
      ("https://api.apple-cloudkit.com/", nil, "https://api.apple-cloudkit.com", false),
    ]
    for row in rows {
      let settings = WebServicesSession.Settings(
        url: row.url.flatMap { URL(string: $0) }, apiToken: "", device: nil,
        understandsExtras: row.known)
      #expect(settings.url == row.text)
      #expect(settings.isExact == row.isExact, "\(row.text)")
    }
  }

  @Test("An address that is no URL is an error of the container, without a request")
  func invalidAddressIsAnErrorOfTheContainer() async {
    var settings = WebServicesSession.Settings(
      url: nil, apiToken: "", device: nil, understandsExtras: nil)
    settings.url = "https://[example"
    let transport = WebServicesTransport(settings, webAuthToken: "a", signIn: nil)
    #expect(await failure(transport, call())?.code == .badContainer)
  }

  // MARK: Failures

  /// A kind of request that finds its connection broken.
  struct RetryCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var isExact: Bool
    var isMutation: Bool
    var requests: Int
  }

  @Test(
    "A request is repeated once when its connection breaks, unless it could be carried out twice",
    arguments: [
      RetryCase(testDescription: "a read", isExact: true, isMutation: false, requests: 2),
      RetryCase(testDescription: "a write", isExact: true, isMutation: true, requests: 2),
      RetryCase(testDescription: "Apple's read", isExact: false, isMutation: false, requests: 2),
      RetryCase(testDescription: "Apple's write", isExact: false, isMutation: true, requests: 1),
    ])
  func brokenConnectionRepeatsSafeRequests(_ row: RetryCase) async throws {
    let server = try Server { _ in .none }
    let transport = transport(server, isExact: row.isExact)
    let zones = ModifyZones(save: [ZoneID(name: "Z")], delete: [])
    let request = row.isMutation ? CloudRequest.modifyZones(zones) : .fetchCurrentUser
    #expect(await failure(transport, call(request))?.code == .networkFailure)
    #expect(server.log.received.count == row.requests)
    #expect(await server.end())
  }

  @Test("A file's request is repeated once as well, and a malformed response is not")
  func onlyBrokenConnectionsAreRetried() async throws {
    let server = try Server { request in
      if request.isFor("file") { return request.index == 0 ? .none : .text("content") }
      // The client knows no such coding, so that it can't read the response.
      return .text("", 200, ("transfer-encoding", "gzip"))
    }
    let transport = transport(server)
    #expect(try await transport.session.load(server.url + "/file").body == Array("content".utf8))
    #expect(await failure(transport, call())?.code == .networkFailure)
    #expect(server.log.count("file") == 2 && server.log.received.count == 3)
    #expect(await server.end())
  }

  @Test("A response to a request from before a failure does not tell that the network is back")
  func earlierRequestDoesNotReportReturn() async throws {
    let release = Signal()
    let server = try Server { request in
      if request.isFor("held") { await release.wait() }
      return request.isFor("lost") ? .none : .text("")
    }
    let session = transport(server).session
    let returns = Mutex(0)
    session.whenNetworkReturns { returns.withLock { $0 += 1 } }
    let earlier = Task { try await session.load(server.url + "/held") }
    await server.wait { $0.count("held") == 1 }
    _ = try? await session.load(server.url + "/lost")
    release.fire()
    _ = try await earlier.value
    #expect(returns.withLock { $0 } == 0)
    _ = try await session.load(server.url + "/fine")
    #expect(returns.withLock { $0 } == 1)
    #expect(await server.end())
  }

  @Test("Listeners learn that the network is back at the first response after a failure, once")
  func networkReturnIsReportedOnce() async throws {
    let server = try Server { request in
      request.isFor("wait") ? .held : request.isFor("lost") ? .none : .text("")
    }
    let transport = transport(server)
    let returns = Mutex(0)
    let observation = transport.observeSignals { signal in
      if signal == .networkReturned { returns.withLock { $0 += 1 } }
    }
    let session = transport.session
    func load(_ path: String, _ returned: Int) async {
      _ = try? await session.load(server.url + path)
      #expect(returns.withLock { $0 } == returned, "\(path)")
    }
    await load("/fine", 0)
    await load("/lost", 0)
    await load("/lost", 0)
    await load("/fine", 1)
    await load("/fine", 1)
    let waiting = Task { try await session.load(server.url + "/wait") }
    await server.wait { $0.count("wait") == 1 }
    waiting.cancel()
    let error = await #expect(throws: CloudError.self) { try await waiting.value }
    #expect(error?.code == .operationCancelled)
    await load("/fine", 1)
    observation.stop()
    #expect(await server.end())
  }

  @Test("A closed session closes its connections, and refuses requests to other machines")
  func closedSessionRefusesRequests() async throws {
    let server = try Server { _ in .text("") }
    let transport = transport(server)
    // A client closes an idle connection after a while, which a slow test may exceed.
    repeat { _ = try await transport.session.load(server.url) } while server.connectionCount != 1
    let returns = Mutex(0)
    transport.session.whenNetworkReturns { returns.withLock { $0 += 1 } }
    transport.session.close()
    while server.connectionCount > 0 { await Task.yield() }
    let error = await #expect(throws: CloudError.self) {
      try await transport.session.load("https://127.0.0.1:1/")
    }
    #expect(error?.code == .operationCancelled, "it was not tried")
    _ = try await transport.session.load(server.url)
    #expect(returns.withLock { $0 } == 0, "a refused request says nothing about the network")
    #expect(await server.end())
  }

  /// A response and the error that it is.
  struct ErrorCase: Sendable, CustomTestStringConvertible {
    var status: Int
    var body = "the page of a proxy"
    var retryAfter: String?
    var date: String?
    var code: CloudError.Code
    var delay: Double?

    var testDescription: String { "\(status) \(body) \(retryAfter ?? "")" }
  }

  static let errors: [ErrorCase] = [
    ErrorCase(status: 401, code: .serviceUnavailable),
    ErrorCase(status: 421, code: .serviceUnavailable),
    ErrorCase(status: 403, code: .serviceUnavailable),
    ErrorCase(status: 413, code: .limitExceeded),
    ErrorCase(status: 429, retryAfter: "7", code: .requestRateLimited, delay: 7),
    ErrorCase(status: 500, code: .serviceUnavailable),
    ErrorCase(status: 503, retryAfter: "120", code: .serviceUnavailable, delay: 120),
    ErrorCase(status: 599, retryAfter: "0", code: .serviceUnavailable, delay: 0),
    ErrorCase(status: 503, retryAfter: "-1", code: .serviceUnavailable),
    ErrorCase(status: 503, retryAfter: "inf", code: .serviceUnavailable),
    ErrorCase(status: 503, retryAfter: "soon", code: .serviceUnavailable),
    ErrorCase(
      status: 503, retryAfter: "Fri, 07 Nov 2025 23:59:59 GMT",
      date: "Fri, 07 Nov 2025 23:59:29 GMT", code: .serviceUnavailable, delay: 30),
    ErrorCase(
      status: 503, retryAfter: "Fri, 07 Nov 2025 23:59:59 GMT",
      date: "Sat, 08 Nov 2025 00:00:00 GMT", code: .serviceUnavailable, delay: 0),
    ErrorCase(
      status: 503, retryAfter: "Fri, 07 Nov 2025 23:59:59 GMT", code: .serviceUnavailable),
    ErrorCase(status: 404, code: .serviceUnavailable),
    ErrorCase(
      status: 408, body: #"{"serverErrorCode":"BAD_REQUEST","reason":"late"}"#,
      code: .serviceUnavailable),
    ErrorCase(status: 408, retryAfter: "2", code: .serviceUnavailable, delay: 2),
    ErrorCase(status: 302, code: .serviceUnavailable),
    ErrorCase(status: 200, code: .serviceUnavailable),
    ErrorCase(status: 421, body: "{}", code: .serviceUnavailable),
    ErrorCase(
      status: 403, body: #"{"serverErrorCode":"ACCESS_DENIED"}"#, code: .permissionFailure),
    ErrorCase(
      status: 421, body: #"{"serverErrorCode":"AUTHENTICATION_REQUIRED"}"#,
      code: .accountTemporarilyUnavailable),
    ErrorCase(
      status: 401, body: #"{"serverErrorCode":"AUTHENTICATION_FAILED"}"#, retryAfter: "9",
      code: .accountTemporarilyUnavailable, delay: 9),
    ErrorCase(
      status: 421,
      body: #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","cloudsync":{"code":9}}"#,
      code: .notAuthenticated),
    ErrorCase(
      status: 503, body: #"{"serverErrorCode":"TRY_AGAIN_LATER"}"#, retryAfter: "120",
      code: .serviceUnavailable, delay: 120),
    ErrorCase(
      status: 429, body: #"{"serverErrorCode":"THROTTLED","retryAfter":5}"#, retryAfter: "120",
      code: .requestRateLimited, delay: 5),
    ErrorCase(
      status: 413, body: #"{"serverErrorCode":"BAD_REQUEST"}"#, code: .limitExceeded),
    ErrorCase(
      status: 400, body: #"{"serverErrorCode":"BAD_REQUEST"}"#, code: .invalidArguments),
    ErrorCase(
      status: 413, body: #"{"serverErrorCode":"QUOTA_EXCEEDED"}"#, code: .quotaExceeded),
    ErrorCase(status: 500, body: "{}", retryAfter: "3", code: .serviceUnavailable, delay: 3),
  ]

  /// Proves CE-174, CE-175.
  @Test("A failed response has the code of its body or status, and the delay of body or header")
  func failedResponseHasCodeAndDelay() async throws {
    let server = try Server { request in
      let row = Self.errors[request.index]
      return .text(
        row.body, row.status, row.retryAfter.map { ("retry-after", $0) },
        row.date.map { ("date", $0) })
    }
    let transport = transport(server)
    for row in Self.errors {
      let error = await failure(transport, call())
      #expect(error?.code == row.code, "\(row.testDescription)")
      #expect(error?.retryAfter == row.delay, "\(row.testDescription)")
    }
    #expect(await server.end())
  }
}
