import Foundation
import Synchronization

/// Hostile requests over several connections, and one client that must be served rightly meanwhile.
final class HostileSiege: Sendable {
  /// So many connections besiege at once.
  private static let besiegers = 6
  /// After so many requests the well-behaved client asks.
  private static let healthyEvery = 1000
  /// How much more memory the server may hold at the end than after the warm-up, in KiB.
  private static let growth = 32 * 1024

  private let options: Options
  private let violations = Violations()
  /// How many hostile requests were sent.
  private let sent = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)
  private let tally = Mutex(Tally())
  private let healthy = Mutex(Latencies())
  private let peak = Atomic<Int>(0)
  private let warm = Atomic<Int>(0)
  /// The server's memory at each tenth of the way.
  private let curve = Mutex<[Int]>([])

  init(_ options: Options) { self.options = options }

  /// Whether every promise held.
  func run() throws -> Bool {
    let server = try ServerProcess(options.storage)
    var land = Land(server.keys)
    try land.settle(fileBytes: 100_000)
    let (goal, id) = (land, server.id)
    let expected = try Client(port: land.keys.port).expect(land.lookup, "a question").body
    let answer = [UInt8](expected)
    print("hostile: \(options.requests) requests, seed \(options.seed), storage \(options.storage)")
    Crew.pause(seconds: 0.5)
    let descriptors = server.descriptorCount
    let fresh = server.residentKilobytes
    let start = ContinuousClock.now
    var works: [@Sendable () -> Void] = (0..<HostileSiege.besiegers).map { number in
      { self.besiege(goal, number) }
    }
    works.append { self.keepHouse(goal, answer) }
    let watched = Watched(server: server)
    works.append { self.watch(watched.server) }
    Crew.run(works)
    let seconds = start.duration(to: .now) / .seconds(1)
    if !server.returns(to: descriptors, within: 15) {
      violations.add("\(server.descriptorCount) descriptors at the end, \(descriptors) before")
    }
    let after = server.residentKilobytes
    report(seconds)
    let grown = after - warm.load(ordering: .relaxed)
    print(
      "  memory: \(Figure.mebibytes(fresh)) fresh, "
        + "\(Figure.mebibytes(warm.load(ordering: .relaxed))) after the warm-up, peak "
        + "\(Figure.mebibytes(peak.load(ordering: .relaxed))), \(Figure.mebibytes(after)) after; "
        + "grown by \(Figure.mebibytes(grown)) (at most \(Figure.mebibytes(HostileSiege.growth)))")
    print(
      "  memory at each tenth, in MiB: "
        + curve.withLock { $0.map { "\($0 / 1024)" } }.joined(separator: " "))
    print(
      "  descriptors: \(descriptors) before, \(server.descriptorCount) after; process \(id) "
        + (server.isRunning ? "is alive" : "is gone") + "; processor time "
        + "\(Figure.text(server.processorSeconds)) s")
    if grown > HostileSiege.growth { violations.add("the server's memory grew too much") }
    if !server.isRunning { violations.add("the server is gone") }
    if server.stop() != 0 { violations.add("the server did not end well") }
    return violations.report()
  }

  /// The process, which one thread watches while the others leave it alone; that guards it.
  private struct Watched: @unchecked Sendable {
    let server: ServerProcess
  }

  // MARK: Threads

  private func besiege(_ land: Land, _ number: Int) {
    var besieger = Besieger(
      land: land, seed: options.seed &* 1_000_003 &+ UInt64(number), level: options.level,
      violations: violations)
    while sent.load(ordering: .relaxed) < options.requests,
      !isOver.load(ordering: .relaxed)
    {
      do throws(SiegeFault) {
        let count = try besieger.storm()
        sent.add(count, ordering: .relaxed)
      } catch {
        violations.add("seed \(options.seed), besieger \(number): \(error)")
        break
      }
    }
    let own = besieger.tally
    tally.withLock { $0.add(own) }
  }

  /// The well-behaved client; it also clears away what the hostile ones managed to save.
  private func keepHouse(_ land: Land, _ answer: [UInt8]) {
    defer { isOver.store(true, ordering: .relaxed) }
    var next = 0
    var cleared = 0
    do throws(SiegeFault) {
      let client = try Client(port: land.keys.port)
      while sent.load(ordering: .relaxed) < options.requests {
        let count = sent.load(ordering: .relaxed)
        guard count >= next else {
          Crew.pause(seconds: 0.001)
          if violations.count > 20 { return }
          continue
        }
        next = count + HostileSiege.healthyEvery
        let start = ContinuousClock.now
        let found = try client.ask(land.lookup)
        let duration = start.duration(to: .now)
        healthy.withLock { $0.add(duration) }
        if found.status != 200 || !found.body.elementsEqual(answer) {
          violations.add("the healthy client was told: \(found.text.prefix(500))")
        }
        if count >= cleared + 10_000 {
          cleared = count
          try Housekeeping(land: land, client: client).clear()
        }
      }
    } catch {
      violations.add("the healthy client: \(error)")
    }
  }

  private func watch(_ server: ServerProcess) {
    while !isOver.load(ordering: .relaxed) {
      let memory = server.residentKilobytes
      peak.store(max(peak.load(ordering: .relaxed), memory), ordering: .relaxed)
      let tenths = sent.load(ordering: .relaxed) * 10 / options.requests
      curve.withLock { curve in
        while curve.count < tenths { curve.append(memory) }
      }
      // The caches are filled when a tenth is done.
      if warm.load(ordering: .relaxed) == 0, tenths > 0 {
        warm.store(memory, ordering: .relaxed)
      }
      if !server.isRunning {
        violations.add("the server's process ended")
        isOver.store(true, ordering: .relaxed)
      }
      Crew.pause(seconds: 0.1)
    }
  }

  private func report(_ seconds: Double) {
    let tally = tally.withLock { $0 }
    let count = sent.load(ordering: .relaxed)
    print(
      "  \(count) requests in \(Figure.text(seconds)) s: \(Int(Double(count) / seconds)) a second; "
        + "\(tally.connections) connections, \(tally.cuts) of them cut, "
        + "\(tally.answers) answers")
    print("  by level: " + tally.line(tally.levels))
    print("  by status: " + tally.line(tally.statuses))
    print("  the healthy client: " + healthy.withLock { $0.line })
  }
}

/// What was sent and answered.
struct Tally: Sendable {
  var connections = 0
  var cuts = 0
  var answers = 0
  var levels: [String: Int] = [:]
  var statuses: [String: Int] = [:]

  mutating func add(_ other: Tally) {
    connections += other.connections
    cuts += other.cuts
    answers += other.answers
    levels.merge(other.levels, uniquingKeysWith: +)
    statuses.merge(other.statuses, uniquingKeysWith: +)
  }

  func line(_ counts: [String: Int]) -> String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}
