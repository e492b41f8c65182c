import CommandLineKit
import Foundation
import SimulationSupport
import Synchronization
import VerificationSupport

/// The tasks that interrupt.
extension Run {
  /// Interrupts one kind after the other of a group, each time for a little while.
  ///
  /// Every second time a server with a file is killed in the moment in which it writes, so that
  /// what it did is done and nobody is told.
  func interrupt(
    _ group: [Interruption], _ probes: [Probe], until end: ContinuousClock.Instant
  ) async throws {
    let kinds = group.filter(options.interruptions.contains)
    guard options.killEvery > 0, let first = kinds.first else { return }
    var random = SeededRandom(seed: options.seed, name: "interruptions \(first)")
    let interval = Duration.seconds(options.killEvery) / (group.contains(.cut) ? 8 : 1)
    var next = clock.now + interval
    var number = 0
    while next < end {
      try await clock.sleep(until: next)
      if group.contains(.cut), isPromoting.withLock({ $0 }) {
        next += interval
        continue
      }
      let kind = kinds[number % kinds.count]
      number += 1
      var outage = Outage(kind: kind, start: clock.now, end: clock.now)
      if kind == .promotion { try await beginPromotion(probes, &outage) }
      try await interrupt(kind, number, &outage, &random)
      outage.end = clock.now
      outages.withLock { [outage] in $0.append(outage) }
      if kind == .promotion {
        await answered(probes)
        isPromoting.withLock { $0 = false }
      }
      next = max(next + interval, clock.now + interval / 4)
    }
  }

  private func interrupt(
    _ kind: Interruption, _ number: Int, _ outage: inout Outage, _ random: inout SeededRandom
  ) async throws {
    switch kind {
    case .server:
      try await kill(random.number(in: 0...children.count - 1), number, &random)
    case .database: outage.inevitable = .milliseconds(try await control("crash"))
    case .connections: try await control("disconnect")
    case .promotion:
      outage.inevitable = .milliseconds(try await control("promote"))
    case .stall:
      try await control("freeze")
      try await clock.sleep(for: .seconds(options.stall))
      try await control("thaw")
      outage.inevitable = clock.now - outage.start
    case .exhaustion: outage.inevitable = .milliseconds(try await control("exhaust"))
    case .unconfirmed:
      outage.commits = try await control("unconfirmed")
      outage.inevitable = clock.now - outage.start
    case .cut:
      let points = CutPoint.allCases
      relay?.orders.cut(points[number / 2 % points.count])
    case .client: relay?.orders.cutClients(1)
    }
  }

  /// Ends other interruptions of connections, so that the time without an answer is that of the
  /// promotion alone.
  private func beginPromotion(_ probes: [Probe], _ outage: inout Outage) async throws {
    isPromoting.withLock { $0 = true }
    relay?.orders.cut(nil)
    try await clock.sleep(for: .seconds(2 * options.patience))
    await answered(probes)
    outage.start = clock.now
  }

  /// Waits until each probe was answered from now on; for a while at most.
  private func answered(_ probes: [Probe]) async {
    let start = clock.now
    while clock.now - start < .seconds(20), probes.contains(where: { $0.lastAnswer < start }) {
      try? await clock.sleep(for: .milliseconds(10))
    }
  }

  private func kill(_ server: Int, _ number: Int, _ random: inout SeededRandom) async throws {
    let child = children[server]
    if let id = child.processID { lives.withLock { $0.append(ProcessFigures(of: id)) } }
    if number % 2 == 0 { await waitForWrite() }
    let start = clock.now
    await child.kill()
    if options.bug == .rollback { try rollBack(number) }
    try await clock.sleep(for: .milliseconds(random.number(in: 0...500)))
    // A database that stands still lets no server start.
    while true {
      do {
        _ = try child.start()
        break
      } catch  where options.database != nil && clock.now - start < .seconds(60) {
        _ = await child.stop()
        try await clock.sleep(for: .milliseconds(200))
      }
    }
    absences.withLock { $0.append((server, start, clock.now)) }
  }

  /// Has the script that made the PostgreSQL server interrupt it; the number that it prints.
  @discardableResult
  func control(_ verb: String) async throws -> Int {
    guard let script = ProcessInfo.processInfo.environment["CLOUDSYNC_POSTGRESQL_CONTROL"] else {
      throw ToolError("run the soak with .ci/postgresql, which starts a server")
    }
    let process = try ChildProcess([script, verb])
    let status = await process.stop()
    guard status == 0, process.greeting.first == "done", let text = process.greeting.last,
      let number = Int(text)
    else {
      writes.violation("'\(verb)' of PostgreSQL failed")
      return 0
    }
    return number
  }

  /// Returns when the server has just written something; after a second at the latest.
  private func waitForWrite() async {
    guard options.database == nil else { return }
    let path = children[0].path
    func look() -> Date? {
      try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.modificationDate]
        as? Date
    }
    let before = look()
    let end = clock.now + .seconds(1)
    while look() == before, clock.now < end { await Task.yield() }
  }

  /// Makes the server forget what it did since the kill before.
  private func rollBack(_ number: Int) throws {
    let files = FileManager.default
    for suffix in ["", "-wal"] {
      let file = children[0].path + suffix
      let copy = file + "-before"
      if number == 2, files.fileExists(atPath: copy) {
        try files.removeItem(atPath: file)
        try files.moveItem(atPath: copy, toPath: file)
      } else if number == 1 {
        try files.copyItem(atPath: file, toPath: copy)
      }
    }
  }
}
