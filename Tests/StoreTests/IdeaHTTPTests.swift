import CloudSync
import Foundation
import IdeaStore
import LoopbackHTTP
import LoopbackServer
import Testing

@Suite("Ideas over HTTP", .timeLimit(.minutes(20)))
struct IdeaHTTPTests {
  /// A device that reaches the server by HTTP only.
  final class WebDevice: Sendable {
    let store: IdeaStore
    let folder = ResultFolder()
    private let transport: WebServicesTransport
    private let pushes: any Sendable

    init(_ web: LoopbackWebServer, _ name: String) throws {
      transport = WebServicesTransport(
        url: URL(string: web.url), apiToken: web.apiToken(),
        webAuthToken: try web.webAuthToken(for: "ada"), device: name)
      let store = try IdeaStore(
        directory: folder.url,
        container: CKContainer(
          identifier: IdeaStore.containerIdentifier, transport: transport), deviceID: name,
        // Containers of other tests post changes of account to the default center.
        notificationCenter: NotificationCenter())
      self.store = store
      pushes = transport.observeSignals { [weak store] in store?.hear($0) }
    }

    func begin() async throws {
      store.start()
      try await store.syncNow()
    }
  }

  @Test("I: 200 ideas created on A are visible on B by push, over HTTP; p95 is printed")
  func twoHundredIdeasArriveByPush() async throws {
    let server = LoopbackServer()
    let web = try LoopbackWebServer(server)
    let phone = try WebDevice(web, "phone")
    let tablet = try WebDevice(web, "tablet")
    try await phone.begin()
    try await tablet.begin()
    let clock = ContinuousClock()
    let updates = tablet.store.statusUpdates
    var waiting: [UUID: ContinuousClock.Instant] = [:]
    for number in 0..<200 {
      let start = clock.now
      waiting[try phone.store.create(title: "想法 \(number)").id] = start
      if number.isMultiple(of: 10) { await Task.yield() }
    }
    var latencies: [Duration] = []
    for await _ in updates {
      for (id, start) in waiting where tablet.store.idea(id) != nil {
        latencies.append(start.duration(to: clock.now))
        waiting[id] = nil
      }
      if waiting.isEmpty { break }
    }
    latencies.sort()
    try #require(latencies.count == 200)
    #expect(tablet.store.canonicalText == phone.store.canonicalText)
    print("ideas over HTTP: median \(latencies[100]), p95 \(latencies[190])")
    // And a change and a deletion, the way back.
    let idea = try #require(tablet.store.ideas.first)
    try tablet.store.update(idea.id, isCompleted: true)
    for await _ in phone.store.statusUpdates
    where phone.store.idea(idea.id)?.isCompleted == true { break }
    try tablet.store.delete(idea.id)
    for await _ in phone.store.statusUpdates where phone.store.idea(idea.id) == nil { break }
    try await phone.store.syncNow()
    #expect(tablet.store.canonicalText == phone.store.canonicalText)
    await phone.store.stop()
    await tablet.store.stop()
    await web.stop()
  }
}
