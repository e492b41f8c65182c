import Foundation
import Synchronization
import VerificationSupport

/// Slow clients, and one quick client that must not notice them.
///
/// The quick client asks two servers in turn, one under siege and one idle, since other load of the
/// machine affects both.
final class SlowSiege: Sendable {
  /// The results of the slow clients of one manner.
  struct Fate {
    var opened = 0
    var closed = 0
    /// The least and the most seconds after which the server closed.
    var earliest = Double.infinity
    var latest = 0.0
    var statuses: [String: Int] = [:]
  }

  private let options: Options
  private let violations = Violations()
  private let isOver = Atomic<Bool>(false)
  private let fates = Mutex<[SlowClient.Manner: Fate]>([:])
  private let most = Atomic<Int>(0)

  private let besieged: TestedServer
  private let idle: TestedServer

  init(_ options: Options) throws {
    self.options = options
    besieged = try TestedServer(options.storage, fileBytes: SlowClient.fileBytes)
    idle = try TestedServer(options.storage, fileBytes: SlowClient.fileBytes)
  }

  /// Whether no violation was found.
  func run() async throws -> Bool {
    let (before, siege) = try measure()
    judge(siege, before)
    if !besieged.isRunning { violations.add("the server has ended") }
    for server in [besieged, idle] where await server.stop() != 0 {
      violations.add("a server ended with an error")
    }
    return violations.report()
  }

  /// The latencies of the quick client on both servers, before and during the siege.
  private func measure() throws -> (before: [[Double]], siege: [[Double]]) {
    let servers = [besieged, idle]
    let clients = try servers.map { try LocalClient(port: $0.access.port) }
    say(
      "slow: \(options.connections) connections for \(options.seconds) s, storage "
        + options.storage.rawValue)
    let requests = servers.map(\.access.lookup)
    _ = latencies(clients, requests, seconds: 2)
    let before = latencies(clients, requests, seconds: 10)
    let (descriptors, memory) = (besieged.descriptors, besieged.memory)
    let siege = withThreads([{ self.besiege() }]) {
      // The slow clients first have to connect.
      Thread.sleep(forTimeInterval: 1)
      defer { isOver.store(true, ordering: .relaxed) }
      return latencies(clients, requests, seconds: Double(options.seconds))
    }
    let lines = [
      ("before, to be besieged", before[0]), ("before, idle", before[1]),
      ("under siege", siege[0]), ("meanwhile, idle", siege[1]),
    ]
    for (name, times) in lines { say("  \(name): \(Figure.latencies(times))") }
    report()
    let isBack = besieged.returns(to: descriptors, within: 5)
    say(
      "  descriptors \(descriptors) before, \(besieged.descriptors) after; memory "
        + "\(Figure.mebibytes(memory)) before, \(Figure.mebibytes(besieged.memory)) after")
    if !isBack { violations.add("the server did not close all descriptors") }
    return (before, siege)
  }

  // MARK: The quick client

  /// The times in milliseconds of requests to the servers in turn.
  private func latencies(
    _ clients: [LocalClient], _ requests: [[UInt8]], seconds: Double
  ) -> [[Double]] {
    var latencies = [[Double]](repeating: [], count: clients.count)
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(seconds))
    var turn = 0
    while clock.now < end {
      for place in 0..<clients.count {
        // The order changes, since the second finds the caches warm.
        let index = (place + turn) % clients.count
        let start = clock.now
        do {
          let answer = try clients[index].ask(requests[index])
          latencies[index].append(start.duration(to: clock.now) / .milliseconds(1))
          if answer.status != 200 || !answer.text.contains("\(Access.secret) is the title") {
            violations.add("a quick answer is wrong: \(answer.text.prefix(300))")
          }
        } catch {
          violations.add("the quick client: \(error)")
          return latencies
        }
      }
      turn += 1
      Thread.sleep(forTimeInterval: 0.001)
    }
    return latencies
  }

  private func judge(_ siege: [[Double]], _ before: [[Double]]) {
    func ratio(_ share: Double, to other: [Double]) -> Double {
      quantile(share, of: siege[0]) / max(quantile(share, of: other), 0.001)
    }
    let middle = ratio(0.5, to: siege[1])
    let slow = ratio(0.99, to: siege[1])
    conclude(
      "besieged to idle: p50 \(Figure.text(middle)), p99 \(Figure.text(slow)) (at most 2); "
        + "p99 to before: \(Figure.text(ratio(0.99, to: before[0])))")
    if !(slow <= 2) { violations.add("the besieged server's p99 is more than twice the other's") }
    if siege[0].count < 1000 { violations.add("too few quick requests to judge") }
  }

  // MARK: The slow ones

  /// Connects new clients until the measurement is over, then waits until the last is closed.
  private func besiege() {
    var clients: [SlowClient] = []
    var next = 0
    // Few are deaf: each costs the system megabytes.
    let manners: [SlowClient.Manner] = [
      .header, .body, .silent, .header, .idle, .body, .header, .silent, .deaf, .body,
    ]
    while true {
      let now = Date.timeIntervalSinceReferenceDate
      let isOver = isOver.load(ordering: .relaxed)
      if isOver, clients.isEmpty { return }
      for _ in 0..<200 where !isOver && clients.count < options.connections {
        let manner = manners[next % manners.count]
        next += 1
        do {
          clients.append(try SlowClient(manner, besieged.access, now: now))
          fates.withLock { $0[manner, default: Fate()].opened += 1 }
        } catch {
          violations.add("a slow client: \(error)")
          self.isOver.store(true, ordering: .relaxed)
          return
        }
      }
      most.store(max(most.load(ordering: .relaxed), clients.count), ordering: .relaxed)
      for client in clients { client.dribble(now: now) }
      clients = remaining(clients)
    }
  }

  private func remaining(_ clients: [SlowClient]) -> [SlowClient] {
    var entries = clients.map { client in
      pollfd(
        fd: client.socket.descriptor, events: client.manner == .deaf ? 0 : Int16(POLLIN), revents: 0
      )
    }
    _ = poll(&entries, nfds_t(entries.count), 20)
    let now = Date.timeIntervalSinceReferenceDate
    // Finding out about a deaf one takes a while, in which the others wait.
    var heard = 0
    return zip(clients, entries).compactMap { client, entry in
      let age = client.age(now)
      if client.manner == .deaf {
        guard age > client.manner.limit, heard < 4 else { return client }
        heard += 1
        note(client, age, isClosed: client.wasCut())
        return nil
      }
      if entry.revents != 0, client.hasEnded(now: now) {
        note(client, client.age(now), isClosed: true)
        return nil
      }
      guard age > client.manner.limit else { return client }
      note(client, age, isClosed: false)
      return nil
    }
  }

  private func note(_ client: SlowClient, _ age: Double, isClosed: Bool) {
    client.socket.end()
    guard isClosed else {
      violations.add("a client of the manner '\(client.manner.rawValue)' was not disconnected")
      return
    }
    fates.withLock { fates in
      var fate = fates[client.manner] ?? Fate()
      fate.closed += 1
      fate.earliest = min(fate.earliest, age)
      fate.latest = max(fate.latest, age)
      fate.statuses[client.status, default: 0] += 1
      fates[client.manner] = fate
    }
  }

  private func report() {
    say("  at most \(most.load(ordering: .relaxed)) slow clients at once")
    let fates = fates.withLock { $0 }
    for manner in SlowClient.Manner.allCases {
      let fate = fates[manner] ?? Fate()
      say(
        "  \(manner.rawValue): \(fate.opened) connected, \(fate.closed) disconnected after "
          + "\(Figure.text(fate.earliest)) to \(Figure.text(fate.latest)) s (at most "
          + "\(manner.limit)); answers \(Figure.counts(fate.statuses))")
      if fate.opened != fate.closed { violations.add("not all '\(manner.rawValue)' were closed") }
    }
  }
}
