import CommandLineKit
import Foundation
import LoopbackServer
import SimulationSupport
import Synchronization
import VerificationSupport

/// One soak from its beginning to its end.
final class Run: Sendable {
  let options: Options
  let writes = AcknowledgedWrites()
  let children: [ServerChild]
  let folder: TemporaryFolder
  let clock = ContinuousClock()
  /// The interruptions so far.
  let outages = Mutex<[Outage]>([])
  /// When a server was not there.
  let absences = Mutex<[Gaps.Absence]>([])
  /// Whether a promotion is under way, for which nothing else cuts connections.
  let isPromoting = Mutex(false)
  /// The figures of each server when it was killed.
  let lives = Mutex<[ProcessFigures]>([])
  /// What is between the devices, the servers and PostgreSQL; `nil` with a file.
  let relay: Relay?
  /// The URL that devices use.
  let url: String

  init(_ options: Options) throws {
    self.options = options
    folder = try TemporaryFolder("soak")
    // Below the ports that the system gives to those who connect: one of them could connect to
    // itself while no server listens, and take its port.
    let port = Int.random(in: 10_000...30_000)
    var settings = ServerChild.Settings(port: port, path: folder.path("cloud.db"))
    if let database = options.database {
      let sockets = try DatabaseSockets(database)
      let ports = (0..<options.servers).map { port + $0 }
      let relay = try Relay(sockets.paths.map { .database($0) } + [.servers(ports)])
      self.relay = relay
      settings.path = sockets.address(through: relay.ports.dropLast())
      settings.patience = options.patience
      url = "http://127.0.0.1:\(relay.ports[sockets.paths.count])"
      settings.publicURL = url
    } else {
      relay = nil
      url = "http://127.0.0.1:\(port)"
    }
    children = (0..<options.servers).map { number in
      settings.port = port + number
      return ServerChild(settings, skew: options.skew)
    }
  }

  deinit { relay?.orders.end() }

  /// Runs all phases and returns whether no invariant was violated.
  func run() async throws -> Bool {
    say(
      "soak: seed \(options.seed), \(options.devices) devices, \(options.seconds) s, "
        + "a kill every \(options.killEvery) s, servers at "
        + children.map(\.url).joined(separator: ", "))
    if options.database != nil { try await control("empty") }
    let greetings = try children.map { try $0.start() }
    guard Set(greetings.map(\.apiToken)).count == 1 else {
      throw ToolError("the servers' tokens differ")
    }
    guard let url = URL(string: url) else { throw ToolError("there is no URL") }
    let site = try await Site(
      url: url, greeting: greetings[0], writes, options, folder: folder.url)
    // Once everything was used, so that what stays for ever is there before.
    for reader in try await site.read() { reader.close() }
    var report = Report(options)
    report.clientBefore = await settled()
    let audit = try await inspect(site, &report)
    report.lost = audit.lost
    report.doubled = audit.doubled
    report.kills = outages.withLock { $0.count { $0.kind == .server } }
    report.cuts = relay?.orders.cuts ?? [:]
    report.clientCuts = relay?.orders.clientCuts ?? 0
    report.lives = lives.withLock { $0 }
    report.totals = writes.totals
    writes.clear()
    report.clientAfter = options.rounds == nil ? await settled() : report.clientBefore
    if writes.livingEngines > 0 {
      writes.violation("\(writes.livingEngines) engines are still there")
    }
    report.check(writes)
    for line in report.lines { say(line) }
    conclude(report.summary)
    if writes.violations.report() { return true }
    folder.keep()
    say("seed \(options.seed); files kept in \(folder.url.path)")
    return false
  }

  /// The devices' time: writing, then becoming quiet, then the first half of the audit.
  private func soak(_ site: Site, _ report: inout Report) async throws -> Audit {
    let probes = options.database == nil ? [] : self.probes(site)
    for probe in probes { try await probe.prepare() }
    let replicas = try site.devices()
    for replica in replicas { try replica.open() }
    let start = clock.now
    let end = start + .seconds(options.seconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for replica in replicas {
        group.addTask { try await self.use(replica, until: end) }
      }
      for kinds in Interruption.groups {
        group.addTask { try await self.interrupt(kinds, probes, until: end) }
      }
      for probe in probes {
        group.addTask {
          var random = SeededRandom(seed: self.options.seed, name: "probe \(probe.server ?? -1)")
          await probe.run(until: end, &random)
        }
      }
      group.addTask { try await self.tell(replicas, from: start, until: end) }
      try await group.waitForAll()
    }
    relay?.orders.cut(nil)
    report.gaps = Gaps(
      outages.withLock { $0 }, absences: absences.withLock { $0 },
      probes: probes.map { ($0.server, $0.answers) })
    report.quiet = await becomeQuiet(replicas)
    if !probes.isEmpty { try await check(probes, site, &report) }
    let readers = try await site.read()
    var audit = Audit(writes, readers: readers)
    audit.checkAcknowledged()
    for replica in replicas + readers { audit.check(replica) }
    for replica in replicas + readers { replica.close() }
    return audit
  }

  /// The devices' time; then what only shows when no device is there: the server's memory and
  /// descriptors, beside those of a fresh one, and its file.
  private func inspect(_ site: Site, _ report: inout Report) async throws -> Audit {
    var audit = try await soak(site, &report)
    if options.rounds != nil {
      for child in children { _ = await child.stop() }
      let server = try ServerChild.open(.init(port: 0, path: children[0].path))
      try audit.checkLogs(server)
      server.close()
      return audit
    }
    await hungUp()
    report.server = await settled(children[0])
    for child in children {
      let status = await child.stop()
      if status != 0 { writes.violation("the server ended with status \(status)") }
    }
    if options.servers > 1 { try await measurePushes(site, &report) }
    for child in children { _ = try child.start() }
    do {
      let readers = try await site.read()
      for replica in readers { audit.check(replica) }
      for replica in readers { replica.close() }
    }
    await hungUp()
    report.freshServer = await settled(children[0])
    for child in children { _ = await child.stop() }
    let path = children[0].path
    let server = try ServerChild.open(.init(port: 0, path: path))
    try audit.checkLogs(server)
    server.close()
    if options.database == nil {
      try Audit.checkFile(path, writes)
      report.fileBytes =
        (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
    report.notes = audit.truth.count
    return audit
  }
}
