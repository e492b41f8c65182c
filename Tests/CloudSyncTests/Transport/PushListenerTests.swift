import CloudProtocol
import Foundation
import Records
import Synchronization
import Testing
import VerificationSupport

@testable import CloudSync

/// The long polling of the transport over HTTP against a server that answers as each test says.
@Suite("Pushes over HTTP", .timeLimit(.minutes(20)))
struct PushListenerTests {
  typealias Server = ScriptedServer

  private static let container = "iCloud.pushes"

  /// A transport with a clock that shows how long the listener waited in total.
  private struct Client {
    let transport: WebServicesTransport
    let clock = LeapingClock()

    init(_ url: String, token: String? = "token") {
      transport = WebServicesTransport(
        WebServicesSession.Settings(
          url: URL(string: url), apiToken: "api", device: "phone", understandsExtras: true),
        webAuthToken: token, signIn: nil, clock: clock)
    }

    /// Makes the container a source of pushes, by a request to the server.
    func visit(
      _ container: String = PushListenerTests.container,
      _ environment: CloudEnvironment = .development
    ) async throws {
      _ = try await transport.send(
        CloudCall(
          container: container, environment: environment, database: .private, requestID: "1",
          request: .fetchCurrentUser))
    }
  }

  /// The signals that listeners received, in order.
  private final class Signals: Sendable {
    private let all = Mutex<[String]>([])

    var told: [String] { all.withLock { $0 } }

    func add(_ signal: CloudSignal, _ prefix: String = "") {
      let word =
        switch signal {
        case .accountChanged: "account"
        case .networkReturned: "network"
        case .push(let push):
          push.subscription.rawValue.isEmpty
            ? "gap \(push.container) \(push.database)" : "push \(push.subscription.rawValue)"
        }
      all.withLock { $0.append(prefix + word) }
    }
  }

  private static let gap = ["private", "shared", "public"].map { "gap \(container) \($0)" }

  private static func push(_ subscription: String) -> Server.Answer {
    .text(#"{"ck":{"cid":"\#(container)","met":{"sid":"\#(subscription)","dbs":2}}}"#)
  }

  /// A server with an address for pushes for each request for one, at which `wait` answers.
  ///
  /// `create` answers the request for an address; `nil` gives the address.
  private func server(
    create: @escaping @Sendable (Server.Received) -> Server.Answer? = { _ in nil },
    wait: @escaping @Sendable (Server.Received) -> Server.Answer = { _ in .held }
  ) throws -> Server {
    try Server { request in
      if request.isFor("tokens/create") {
        let host = request.fields["host"] ?? ""
        let address = "http://\(host)/courier/\(request.index)"
        return create(request) ?? .text(#"{"webcourierURL":"\#(address)"}"#)
      }
      if request.path.hasPrefix("/courier/") { return wait(request) }
      return .text(#"{"userRecordName":"alice"}"#)
    }
  }

  @Test("A listener may be the last to retain an object that ends its own observation")
  func listenersAreReleasedAfterTheLock() {
    final class Owner: Sendable {
      let observation = Mutex<(any SignalObservation)?>(nil)
    }
    let listeners = SignalListeners()
    weak var released: Owner?
    do {
      let owner = Owner()
      released = owner
      let observation = listeners.add { _ in withExtendedLifetime(owner) {} }
      owner.observation.withLock { $0 = observation }
    }
    #expect(released != nil && !listeners.isEmpty)
    listeners.removeAll()
    #expect(released == nil && listeners.isEmpty)
  }

  @Test("The request for pushes names the environment, the device and the account")
  func requestForPushesNamesItsSource() async throws {
    let server = try server()
    let client = Client(server.url)
    let observation = client.transport.observeSignals { _ in }
    try await client.visit(Self.container, .production)
    await server.wait { $0.count("courier/0") == 1 }
    let request = try #require(server.log.received.first { $0.isFor("tokens/create") })
    #expect(request.path == "/device/1/\(Self.container)/production/tokens/create")
    #expect(request.body == #"{"apnsEnvironment":"production","clientId":"phone"}"#)
    #expect(request.query.hasSuffix("ckWebAuthToken=token"))
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  /// A failure of the connection for pushes.
  struct BrokenLine: Sendable, CustomTestStringConvertible {
    var testDescription: String
    fileprivate var answer: Server.Answer
  }

  @Test(
    "After a broken connection the listener gets a new address, and reports a possible gap",
    arguments: [
      BrokenLine(testDescription: "an address that is not valid any more", answer: .text("", 404)),
      BrokenLine(testDescription: "a closed connection", answer: .none),
      BrokenLine(testDescription: "a push that can't be decoded", answer: .text("{}")),
      BrokenLine(testDescription: "a response that is no JSON", answer: .text("no JSON")),
    ])
  func brokenConnectionGetsNewAddress(_ line: BrokenLine) async throws {
    let server = try server(wait: { request in
      guard request.isFor("courier/0") else {
        return request.index == 0 ? Self.push("second") : .held
      }
      return request.index == 0 ? Self.push("first") : line.answer
    })
    let client = Client(server.url)
    let signals = Signals()
    let observation = client.transport.observeSignals { signals.add($0) }
    try await client.visit()
    await server.wait { $0.count("courier/1") == 2 }
    let told = signals.told.filter { $0 != "network" }
    #expect(told == Self.gap + ["push first"] + Self.gap + ["push second"])
    #expect(client.clock.now.offset == .seconds(1))
    #expect(server.log.count("tokens/create") == 2)
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  @Test(
    "A push has the environment of its container, which the server does not send",
    arguments: [CloudEnvironment.development, .production])
  func pushHasEnvironment(_ environment: CloudEnvironment) async throws {
    let server = try server(wait: { $0.index == 0 ? Self.push("first") : .held })
    let client = Client(server.url)
    let pushes = Mutex<[CloudPush]>([])
    let observation = client.transport.observeSignals { signal in
      if case .push(let push) = signal { pushes.withLock { $0.append(push) } }
    }
    try await client.visit(Self.container, environment)
    await server.wait { $0.count("courier/0") == 2 }
    let received = pushes.withLock { $0 }
    #expect(received.map(\.subscription.rawValue) == ["", "", "", "first"])
    #expect(received.allSatisfy { $0.environment == environment })
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  @Test("The pauses double up to half a minute, begin again after a success, and follow the server")
  func pausesDoubleAndFollowTheServer() async throws {
    let clock = Mutex<LeapingClock?>(nil)
    let times = Mutex<[Duration]>([])
    let server = try server { request in
      let now = clock.withLock { $0?.now.offset ?? .zero }
      times.withLock { $0.append(now) }
      return switch request.index {
      case 0..<7: .text("", 503)
      case 8: .text("", 503, ("retry-after", "100"))
      default: nil
      }
    } wait: { request in
      // An empty response is the end of one wait, and no failure.
      request.isFor("courier/7")
        ? request.index < 2 ? .text() : .text("", 503)
        : request.isFor("courier/9")
          ? .text("", 429, ("retry-after", "50")) : .held
    }
    let client = Client(server.url)
    clock.withLock { $0 = client.clock }
    let observation = client.transport.observeSignals { _ in }
    try await client.visit()
    await server.wait { $0.count("courier/10") == 1 }
    let seconds = [0, 1, 3, 7, 15, 31, 61, 91, 92, 192, 242]
    #expect(times.withLock { $0 } == seconds.map { .seconds($0) })
    #expect(server.log.count("courier/7") == 3)
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  @Test("Waiting for the pushes of many containers keeps no request of the app from the server")
  func manyContainersKeepNoRequestBack() async throws {
    let server = try server()
    let client = Client(server.url)
    let observation = client.transport.observeSignals { _ in }
    let count = 40
    for number in 0..<count { try await client.visit("iCloud.\(number)") }
    await server.wait { $0.received.count { $0.path.hasPrefix("/courier/") } >= count }
    try await client.visit()
    observation.stop()
    await server.wait { $0.abandoned.count >= count }
    #expect(await server.end())
  }

  @Test("A pause that the server asks for is at most seven days")
  func pauseHasBound() async throws {
    let times = Mutex<[Duration]>([])
    let clock = Mutex<LeapingClock?>(nil)
    let server = try server { request in
      times.withLock { $0.append(clock.withLock { $0?.now.offset ?? .zero }) }
      return request.index == 0 ? .text("", 503, ("retry-after", "1e30")) : nil
    }
    let client = Client(server.url)
    clock.withLock { $0 = client.clock }
    let observation = client.transport.observeSignals { _ in }
    try await client.visit()
    await server.wait { $0.count("courier/1") == 1 }
    #expect(times.withLock { $0 } == [.zero, .seconds(7 * 86_400)])
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  @Test("A token that the server refuses does not end the pushes")
  func refusedTokenDoesNotEndPushes() async throws {
    let server = try server { request in
      request.index < 2 ? .text(#"{"serverErrorCode":"AUTHENTICATION_REQUIRED"}"#, 421) : nil
    }
    let client = Client(server.url)
    let signals = Signals()
    let observation = client.transport.observeSignals { signals.add($0) }
    try await client.visit()
    await server.wait { $0.count("courier/2") == 1 }
    #expect(signals.told == Self.gap)
    #expect(client.clock.now.offset == .seconds(3))
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  @Test("Without an account the listener reports it once, and waits for the next sign-in")
  func missingAccountWaitsForSignIn() async throws {
    let missing = #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","cloudsync":{"code":9}}"#
    let server = try server { request in
      request.query.hasSuffix("=token") ? .text(missing, 421) : nil
    }
    let client = Client(server.url)
    let (signals, reported) = (Signals(), Signal())
    let observation = client.transport.observeSignals { signal in
      signals.add(signal)
      if signal == .accountChanged { reported.fire() }
    }
    try await client.visit()
    await reported.wait()
    // Time in which a listener that goes on would ask again.
    for _ in 0..<20 { try await client.visit() }
    #expect(signals.told == ["account"])
    client.transport.signIn(webAuthToken: "other")
    await server.wait { $0.count("courier/1") == 1 }
    #expect(server.log.count("tokens/create") == 2)
    #expect(signals.told == ["account", "account"] + Self.gap)
    observation.stop()
    await server.wait { !$0.abandoned.isEmpty }
    #expect(await server.end())
  }

  @Test("Another account's pushes take the place of the former one's, and a sign-out ends them")
  func accountChangeRestartsPolling() async throws {
    let server = try server()
    let client = Client(server.url)
    let signals = Signals()
    let observation = client.transport.observeSignals { signals.add($0) }
    try await client.visit()
    await server.wait { $0.count("courier/0") == 1 }
    client.transport.signIn(webAuthToken: "other")
    await server.wait { $0.count("courier/1") == 1 && $0.abandoned == ["/courier/0"] }
    let creations = server.log.received.filter { $0.isFor("tokens/create") }
    #expect(creations.map { $0.query.split(separator: "=").last } == ["token", "other"])
    #expect(creations.allSatisfy { $0.path.contains("/development/") })
    #expect(signals.told == Self.gap + ["account"] + Self.gap)
    client.transport.signIn(webAuthToken: nil)
    await server.wait { $0.abandoned == ["/courier/0", "/courier/1"] }
    observation.stop()
    #expect(await server.end())
  }

  @Test("Each listener ends alone, by its end or its deallocation, and the last one ends polling")
  func lastListenerEndsPolling() async throws {
    let server = try server()
    let client = Client(server.url)
    let signals = Signals()
    var first: (any SignalObservation)? = client.transport.observeSignals { signals.add($0, "1 ") }
    let second = client.transport.observeSignals { signals.add($0, "2 ") }
    #expect(first != nil)
    client.transport.listener.networkReturned()
    first = nil
    client.transport.listener.networkReturned()
    second.stop()
    client.transport.listener.networkReturned()
    #expect(signals.told == ["1 network", "2 network", "2 network"])
    try await client.visit()
    var third: (any SignalObservation)?
    for number in 0..<2 {
      third = client.transport.observeSignals { _ in }
      await server.wait { $0.count("courier/\(number)") == 1 }
      #expect(third != nil)
      third = nil
      await server.wait { $0.abandoned.count == number + 1 }
    }
    #expect(await server.end())
  }

  @Test("A transport that is deallocated ends its request for pushes")
  func deallocatedTransportEndsPolling() async throws {
    let server = try server()
    var client: Client? = Client(server.url)
    let observation = client?.transport.observeSignals { _ in }
    try await client?.visit()
    await server.wait { $0.count("courier/0") == 1 }
    client = nil
    await server.wait { !$0.abandoned.isEmpty }
    observation?.stop()
    #expect(await server.end())
  }

  /// An executor that counts the jobs that it was given.
  private final class CountingExecutor: TaskExecutor {
    private let jobs = Mutex(0)

    var count: Int { jobs.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
      jobs.withLock { $0 += 1 }
      let job = UnownedJob(job)
      Task.detached { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test("One task polls for each container while a listener and an account are there, and no other")
  func oneTaskPollsForEachContainer() async throws {
    let server = try server()
    let executor = CountingExecutor()
    let settings = WebServicesSession.Settings(
      url: URL(string: server.url), apiToken: "api", device: nil, understandsExtras: true)
    let session = WebServicesSession(settings, webAuthToken: nil, signIn: nil)
    let listener = PushListener(session, clock: LeapingClock(), taskExecutor: executor)
    func note(_ container: String) {
      listener.note(
        CloudCall(
          container: container, database: .private, requestID: "1", request: .fetchCurrentUser))
    }
    note("A")
    let signals = Signals()
    let first = listener.add { signals.add($0) }
    #expect(executor.count == 0, "nobody is signed in")
    first.stop()
    session.signIn(webAuthToken: "token")
    note("B")
    listener.accountChanged()
    #expect(executor.count == 0, "nobody listens")
    let second = listener.add { signals.add($0) }
    await server.wait { $0.received.count { $0.path.hasPrefix("/courier/") } == 2 }
    let before = executor.count
    note("A")
    let third = listener.add { signals.add($0) }
    #expect(executor.count == before, "both containers are polled for already")
    note("C")
    #expect(executor.count == before + 1)
    await server.wait { $0.received.count { $0.path.hasPrefix("/courier/") } == 3 }
    listener.stop()
    await server.wait { $0.abandoned.count == 3 }
    let told = signals.told
    let ended = executor.count
    listener.networkReturned()
    let late = listener.add { _ in }
    #expect(signals.told == told && executor.count == ended, "it has ended")
    for observation in [second, third, late] { observation.stop() }
    #expect(await server.end())
  }
}
