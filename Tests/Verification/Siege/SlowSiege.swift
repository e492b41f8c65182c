import Foundation
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Slow clients, and one that must not notice them.
///
/// The quick client asks two servers in turn, one besieged and one left in peace: what else the
/// machine does falls on both alike.
final class SlowSiege: Sendable {
  /// What became of the slow clients of one manner.
  struct Fate {
    var opened = 0
    var closed = 0
    /// The earliest and the latest end after the server's patience began, in seconds.
    var earliest = Double.infinity
    var latest = 0.0
    var statuses: [String: Int] = [:]
  }

  private let options: Options
  private let violations = Violations()
  private let isOver = Atomic<Bool>(false)
  private let fates = Mutex<[SlowClient.Manner: Fate]>([:])
  private let most = Atomic<Int>(0)

  init(_ options: Options) { self.options = options }

  /// Whether every promise held.
  func run() throws -> Bool {
    let besieged = try ServerProcess(options.storage)
    let peaceful = try ServerProcess(options.storage)
    var land = Land(besieged.keys)
    try land.settle(fileBytes: SlowClient.fileBytes)
    var quiet = Land(peaceful.keys)
    try quiet.settle(fileBytes: SlowClient.fileBytes)
    let places = [land.lookup, quiet.lookup]
    let clients = [try Client(port: besieged.keys.port), try Client(port: peaceful.keys.port)]
    print(
      "slow: \(options.connections) connections for \(options.seconds) s, storage "
        + options.storage.rawValue)
    _ = measure(clients, places, seconds: 2)
    let before = measure(clients, places, seconds: 10)
    print("  before, to be besieged: \(before[0].line)")
    print("  before, in peace:       \(before[1].line)")
    let descriptors = besieged.descriptorCount
    let memory = besieged.residentKilobytes
    let goal = land
    let measured = Mutex<[Latencies]>([])
    let seconds = Double(options.seconds)
    let box = Clients(clients: clients)
    Crew.run([
      { self.besiege(goal) },
      {
        // The crowd first has to be there.
        Crew.pause(seconds: 1)
        let figures = self.measure(box.clients, places, seconds: seconds)
        measured.withLock { $0 = figures }
        self.isOver.store(true, ordering: .relaxed)
      },
    ])
    let siege = measured.withLock { $0 }
    print("  under siege:            \(siege[0].line)")
    print("  meanwhile in peace:     \(siege[1].line)")
    judge(siege, before)
    report()
    let isBack = besieged.returns(to: descriptors, within: 5)
    let memoryAfter = besieged.residentKilobytes
    print(
      "  descriptors \(descriptors) before, \(besieged.descriptorCount) after; memory "
        + "\(Figure.mebibytes(memory)) before, \(Figure.mebibytes(memoryAfter)) after")
    if !isBack { violations.add("descriptors of the server are not given back") }
    if !besieged.isRunning { violations.add("the server is gone") }
    if besieged.stop() != 0 { violations.add("the besieged server did not end well") }
    if peaceful.stop() != 0 { violations.add("the peaceful server did not end well") }
    return violations.report()
  }

  /// The two clients, handed to the one thread that uses them from then on; that hand-over guards
  /// them.
  private struct Clients: @unchecked Sendable {
    let clients: [Client]
  }

  // MARK: The quick client

  /// Asks the servers in turn for so long.
  private func measure(
    _ clients: [Client], _ requests: [[UInt8]], seconds: Double
  ) -> [Latencies] {
    var latencies = [Latencies](repeating: Latencies(), count: clients.count)
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(seconds))
    var turn = 0
    while clock.now < end {
      for place in 0..<clients.count {
        // Who is first changes: the second finds the caches warm.
        let index = (place + turn) % clients.count
        let start = clock.now
        do throws(SiegeFault) {
          let answer = try clients[index].ask(requests[index])
          latencies[index].add(start.duration(to: clock.now))
          if answer.status != 200 || !answer.text.contains("\(Land.secret) is the title") {
            violations.add("a quick answer is wrong: \(answer.text.prefix(300))")
          }
        } catch {
          violations.add("the quick client: \(error)")
          return latencies
        }
      }
      turn += 1
      Crew.pause(seconds: 0.001)
    }
    return latencies
  }

  private func judge(_ siege: [Latencies], _ before: [Latencies]) {
    let ratio = siege[0].percentile(0.99) / max(siege[1].percentile(0.99), 0.001)
    let middle = siege[0].percentile(0.5) / max(siege[1].percentile(0.5), 0.001)
    let earlier = siege[0].percentile(0.99) / max(before[0].percentile(0.99), 0.001)
    print(
      "  besieged to peaceful: p50 \(Figure.text(middle)), p99 \(Figure.text(ratio)) (at most 2); "
        + "p99 to before: \(Figure.text(earlier))")
    if !(ratio <= 2) { violations.add("the besieged server's p99 is more than twice the other's") }
    if siege[0].count < 1000 { violations.add("too few quick questions to judge") }
  }

  // MARK: The slow ones

  /// Keeps the crowd full until it is over, then watches until the last one is closed.
  private func besiege(_ land: Land) {
    var crowd: [SlowClient] = []
    var next = 0
    // Few are deaf: each costs the system megabytes.
    let manners: [SlowClient.Manner] = [
      .header, .body, .silent, .header, .idle, .body, .header, .silent, .deaf, .body,
    ]
    while true {
      let now = Date.timeIntervalSinceReferenceDate
      let isOver = isOver.load(ordering: .relaxed)
      if isOver, crowd.isEmpty { return }
      // As many at once as a crowd at the door would be.
      for _ in 0..<200 where !isOver && crowd.count < options.connections {
        let manner = manners[next % manners.count]
        next += 1
        do throws(SiegeFault) {
          crowd.append(try SlowClient(manner, land, now: now))
          fates.withLock { $0[manner, default: Fate()].opened += 1 }
        } catch {
          violations.add("a slow client: \(error)")
          self.isOver.store(true, ordering: .relaxed)
          return
        }
      }
      most.store(max(most.load(ordering: .relaxed), crowd.count), ordering: .relaxed)
      for client in crowd { client.dribble(now: now) }
      crowd = remaining(crowd)
    }
  }

  private func remaining(_ crowd: [SlowClient]) -> [SlowClient] {
    var entries = crowd.map { client in
      pollfd(
        fd: client.wire.descriptor, events: client.manner == .deaf ? 0 : Int16(POLLIN), revents: 0)
    }
    _ = poll(&entries, nfds_t(entries.count), 20)
    let now = Date.timeIntervalSinceReferenceDate
    // Finding out about a deaf one takes a while, in which the others wait.
    var heard = 0
    return zip(crowd, entries).compactMap { client, entry in
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
    client.wire.close()
    guard isClosed else {
      violations.add("a client of the manner '\(client.manner.rawValue)' was not sent away")
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
    print("  at most \(most.load(ordering: .relaxed)) slow clients at once")
    let fates = fates.withLock { $0 }
    for manner in SlowClient.Manner.allCases {
      let fate = fates[manner] ?? Fate()
      let statuses = fate.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      print(
        "  \(manner.rawValue): \(fate.opened) came, \(fate.closed) sent away after "
          + "\(Figure.text(fate.earliest)) to \(Figure.text(fate.latest)) s (at most "
          + "\(manner.limit)); answers \(statuses.joined(separator: ", "))")
      if fate.opened != fate.closed { violations.add("not all '\(manner.rawValue)' were closed") }
    }
  }
}

extension ServerProcess {
  /// Whether it holds no more than `count` descriptors within so many seconds.
  func returns(to count: Int, within seconds: Double) -> Bool {
    for _ in 0..<Int(seconds * 10) {
      if descriptorCount <= count { return true }
      Crew.pause(seconds: 0.1)
    }
    return descriptorCount <= count
  }
}
