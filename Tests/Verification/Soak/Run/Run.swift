import CloudSync
import CommandLineKit
import Foundation
import LoopbackServer
import Synchronization
import VerificationSupport

/// One soak from its beginning to its end.
final class Run: Sendable {
  let options: Options
  let ledger = Ledger()
  let child: ServerChild
  let folder: URL
  let clock = ContinuousClock()
  let kills = Mutex(0)
  /// What each server held when it was killed.
  let lives = Mutex<[ProcessFigures]>([])

  init(_ options: Options) throws {
    self.options = options
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-soak-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Below the ports that the system gives to those who connect: one of them could connect to
    // itself while no server listens, and take its port.
    child = try ServerChild(
      port: Int.random(in: 10_000...30_000),
      path: folder.appendingPathComponent("cloud.db").path)
  }

  /// Runs it all; answers whether every promise held.
  func run() async throws -> Bool {
    say(
      "soak: seed \(options.seed), \(options.devices) devices, \(options.seconds) s, "
        + "a kill every \(options.killEvery) s, server at \(child.url)")
    var site = Site(
      url: try url(), greeting: try await child.start())
    try await site.prepare()
    // Once everything was used, so that what stays for ever is there before.
    _ = try await site.read(Ledger(), deviceCount: options.devices, folder: folder)
    let before = await settled()
    var report = Report(options)
    report.clientBefore = before
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
    if ledger.violationCount == 0 {
      try FileManager.default.removeItem(at: folder)
      return true
    }
    for violation in ledger.violations { say("violation: \(violation)") }
    say("\(ledger.violationCount) violations; seed \(options.seed); files kept in \(folder.path)")
    return false
  }

  func url() throws -> URL {
    guard let url = URL(string: child.url) else { throw ToolError("\(child.url) is no URL") }
    return url
  }

  /// Prints a line that is seen at once, also in a file.
  func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

  /// The devices' time: writing, then becoming quiet, then the first half of the audit.
  private func soak(_ site: Site, _ report: inout Report) async throws -> Audit {
    let devices = try (0..<options.devices).map {
      try Device($0, of: options.devices, site, ledger, folder: folder)
    }
    for device in devices { try device.open() }
    let start = clock.now
    let end = start + .seconds(options.seconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for replica in devices.flatMap(\.replicas) {
        group.addTask { try await self.use(replica, until: end) }
      }
      group.addTask { try await self.killServers(until: end) }
      group.addTask { try await self.tell(devices, from: start, until: end) }
      try await group.waitForAll()
    }
    report.quiet = await becomeQuiet(devices)
    let readers = try await site.read(
      ledger, deviceCount: options.devices, folder: folder)
    var audit = Audit(ledger, readers: readers)
    audit.checkAcknowledged()
    for replica in devices.flatMap(\.replicas) + readers { audit.check(replica) }
    for replica in devices.flatMap(\.replicas) + readers { replica.close() }
    return audit
  }

  /// The devices' time; then what only shows when no device is there: the server's memory and
  /// descriptors, beside those of a fresh one, and its file.
  private func inspect(_ site: Site, _ report: inout Report) async throws -> Audit {
    var audit = try await soak(site, &report)
    await hungUp()
    report.server = await settled(child)
    let status = await child.stop()
    if status != 0 { ledger.violation("the server ended with status \(status)") }
    _ = try await child.start()
    do {
      let readers = try await site.read(
        ledger, deviceCount: options.devices, folder: folder)
      for replica in readers { audit.check(replica) }
      for replica in readers { replica.close() }
    }
    await hungUp()
    report.freshServer = await settled(child)
    _ = await child.stop()
    try Audit.checkFile(child.path, ledger)
    let server = try LoopbackServer(path: child.path)
    try audit.checkLogs(server)
    server.close()
    report.fileBytes =
      (try FileManager.default.attributesOfItem(atPath: child.path)[.size] as? Int) ?? 0
    report.notes = audit.truth.count
    return audit
  }
}
