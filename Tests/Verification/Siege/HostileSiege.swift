import Foundation
import Synchronization
import VerificationSupport

/// Hostile requests on several connections, and one client that must be served correctly meanwhile.
final class HostileSiege: Sendable {
  private static let clients = 6
  /// The number of requests between two requests of the well-behaved client.
  private static let healthyEvery = 1000
  /// The bytes that the server may hold at the end in addition to those after the warm-up.
  private static let growth = 32 << 20

  private let options: Options
  private let server: TestedServer
  private let violations = Violations()
  /// The number of hostile requests sent.
  private let sent = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)
  private let tally = Mutex(HostileClient.Tally())
  private let healthy = Mutex<[Double]>([])
  /// The server's memory: the peak, and that at each tenth of the run.
  private let memory = Mutex<(peak: Int, tenths: [Int])>((0, []))

  init(_ options: Options) throws {
    self.options = options
    server = try TestedServer(options.storage, fileBytes: 100_000)
  }

  /// Whether no violation was found.
  func run() async throws -> Bool {
    let expected = try LocalClient(port: server.access.port).expect(server.access.lookup, "lookup")
    say("hostile: \(options.requests) requests, seed \(options.seed), storage \(options.storage)")
    try await Task.sleep(for: .milliseconds(500))
    let (descriptors, fresh) = (server.descriptors, server.memory)
    let start = ContinuousClock.now
    let works: [@Sendable () -> Void] = (0..<Self.clients).map { number in
      { self.attack(number) }
    }
    withThreads(works + [{ self.stayHealthy(Array(expected.body)) }]) { watch() }
    let seconds = start.duration(to: .now) / .seconds(1)
    if !server.returns(to: descriptors, within: 15) {
      violations.add("\(server.descriptors) descriptors at the end, \(descriptors) before")
    }
    let after = server.memory
    let (peak, tenths) = memory.withLock { $0 }
    // The caches are filled when a tenth is done.
    let warm = tenths.first ?? 0
    report(seconds)
    conclude(
      "memory: \(Figure.mebibytes(fresh)) fresh, \(Figure.mebibytes(warm)) after the warm-up, "
        + "peak \(Figure.mebibytes(peak)), \(Figure.mebibytes(after)) after; grown by "
        + "\(Figure.mebibytes(after - warm)) (at most \(Figure.mebibytes(Self.growth)))")
    say("  memory at each tenth, in MiB: \(tenths.map { "\($0 >> 20)" }.joined(separator: " "))")
    say(
      "  descriptors: \(descriptors) before, \(server.descriptors) after; process \(server.id) "
        + (server.isRunning ? "is alive" : "is gone") + "; processor time "
        + "\(Figure.text(server.figures.processorSeconds ?? 0)) s")
    if after - warm > Self.growth { violations.add("the server's memory grew too much") }
    if !server.isRunning { violations.add("the server has ended") }
    if await server.stop() != 0 { violations.add("the server ended with an error") }
    return violations.report()
  }

  // MARK: Threads

  private func attack(_ number: Int) {
    do {
      var client = try HostileClient(
        server.access, seed: options.seed &* 1_000_003 &+ UInt64(number), level: options.level,
        violations: violations)
      defer { tally.withLock { $0.add(client.tally) } }
      while sent.load(ordering: .relaxed) < options.requests, !isOver.load(ordering: .relaxed) {
        sent.add(try client.sendGroup(), ordering: .relaxed)
      }
    } catch {
      violations.add("seed \(options.seed), client \(number): \(error)")
    }
  }

  /// The well-behaved client; it also deletes what the hostile ones saved.
  private func stayHealthy(_ expected: [UInt8]) {
    defer { isOver.store(true, ordering: .relaxed) }
    var next = 0
    var cleared = 0
    do {
      let client = try LocalClient(port: server.access.port)
      while sent.load(ordering: .relaxed) < options.requests {
        let count = sent.load(ordering: .relaxed)
        guard count >= next else {
          Thread.sleep(forTimeInterval: 0.001)
          if violations.count > 20 { return }
          continue
        }
        next = count + Self.healthyEvery
        let start = ContinuousClock.now
        let found = try client.ask(server.access.lookup)
        let time = start.duration(to: .now) / .milliseconds(1)
        healthy.withLock { $0.append(time) }
        if found.status != 200 || !found.body.elementsEqual(expected) {
          violations.add("the healthy client was told: \(found.text.prefix(500))")
        }
        if count >= cleared + 10_000 {
          cleared = count
          try server.access.deleteHostileData(client)
        }
      }
    } catch {
      violations.add("the healthy client: \(error)")
    }
  }

  private func watch() {
    while !isOver.load(ordering: .relaxed) {
      let now = server.memory
      let tenths = sent.load(ordering: .relaxed) * 10 / options.requests
      memory.withLock { memory in
        memory.peak = max(memory.peak, now)
        while memory.tenths.count < tenths { memory.tenths.append(now) }
      }
      if !server.isRunning {
        violations.add("the server's process ended")
        isOver.store(true, ordering: .relaxed)
      }
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  private func report(_ seconds: Double) {
    let tally = tally.withLock { $0 }
    let count = sent.load(ordering: .relaxed)
    conclude(
      "\(count) requests in \(Figure.text(seconds)) s: \(Int(Double(count) / seconds)) a second; "
        + "\(tally.connections) connections, \(tally.cuts) of them cut, \(tally.answers) answers")
    say("  by level: \(Figure.counts(tally.levels))")
    say("  by status: \(Figure.counts(tally.statuses))")
    say("  the healthy client: \(Figure.latencies(healthy.withLock { $0 }))")
  }
}
