import CommandLineKit
import Foundation
import LoopbackServer
import Synchronization
import VerificationSupport

/// One soak from its beginning to its end.
final class Run: Sendable {
  let options: Options
  let ledger = Ledger()
  let children: [ServerChild]
  let folder: TemporaryFolder
  let clock = ContinuousClock()
  let kills = Mutex(0)
  /// The figures of each server when it was killed.
  let lives = Mutex<[ProcessFigures]>([])

  init(_ options: Options) throws {
    self.options = options
    folder = try TemporaryFolder("soak")
    // Below the ports that the system gives to those who connect: one of them could connect to
    // itself while no server listens, and take its port.
    let port = Int.random(in: 10_000...30_000)
    let path = options.database ?? folder.path("cloud.db")
    children = (0..<options.servers).map { ServerChild(port: port + $0, path: path) }
  }

  /// Runs all phases and returns whether no invariant was violated.
  func run() async throws -> Bool {
    say(
      "soak: seed \(options.seed), \(options.devices) devices, \(options.seconds) s, "
        + "a kill every \(options.killEvery) s, servers at "
        + children.map(\.url).joined(separator: ", "))
    let greetings = try children.map { try $0.start() }
    guard Set(greetings).count == 1 else { throw ToolError("the servers' tokens differ") }
    let site = try await Site(
      urls: children.compactMap { URL(string: $0.url) }, greeting: greetings[0], ledger, options,
      folder: folder.url)
    // Once everything was used, so that what stays for ever is there before.
    for reader in try await site.read() { reader.close() }
    var report = Report(options)
    report.clientBefore = await settled()
    let audit = try await inspect(site, &report)
    report.lost = audit.lost
    report.doubled = audit.doubled
    report.kills = kills.withLock { $0 }
    report.lives = lives.withLock { $0 }
    report.totals = ledger.totals
    ledger.clear()
    report.clientAfter = await settled()
    if ledger.livingEngines > 0 {
      ledger.violation("\(ledger.livingEngines) engines are still there")
    }
    report.check(ledger)
    for line in report.lines { say(line) }
    conclude(report.summary)
    if ledger.violations.report() { return true }
    folder.keep()
    say("seed \(options.seed); files kept in \(folder.url.path)")
    return false
  }

  /// The devices' time: writing, then becoming quiet, then the first half of the audit.
  private func soak(_ site: Site, _ report: inout Report) async throws -> Audit {
    let replicas = try site.devices()
    for replica in replicas { try replica.open() }
    let start = clock.now
    let end = start + .seconds(options.seconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for replica in replicas {
        group.addTask { try await self.use(replica, until: end) }
      }
      group.addTask { try await self.killServers(until: end) }
      group.addTask { try await self.tell(replicas, from: start, until: end) }
      try await group.waitForAll()
    }
    report.quiet = await becomeQuiet(replicas)
    let readers = try await site.read()
    var audit = Audit(ledger, readers: readers)
    audit.checkAcknowledged()
    for replica in replicas + readers { audit.check(replica) }
    for replica in replicas + readers { replica.close() }
    return audit
  }

  /// The devices' time; then what only shows when no device is there: the server's memory and
  /// descriptors, beside those of a fresh one, and its file.
  private func inspect(_ site: Site, _ report: inout Report) async throws -> Audit {
    var audit = try await soak(site, &report)
    await hungUp()
    report.server = await settled(children[0])
    for child in children {
      let status = await child.stop()
      if status != 0 { ledger.violation("the server ended with status \(status)") }
    }
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
    let server = try ServerChild.open(path)
    try audit.checkLogs(server)
    server.close()
    if options.database == nil {
      try Audit.checkFile(path, ledger)
      report.fileBytes =
        (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
    report.notes = audit.truth.count
    return audit
  }
}
