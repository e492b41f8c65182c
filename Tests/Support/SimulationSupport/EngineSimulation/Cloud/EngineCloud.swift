import CloudProtocol
import Foundation
import LoopbackServer
import Records
import SQLite
import Synchronization

/// The server of a world, a real `LoopbackServer` behind injected refusals, with an oracle that
/// checks every answer.
final class EngineCloud: Sendable {
  struct Contents {
    var server: LoopbackServer
    /// The disk under the server's file; `nil` for a server that keeps everything in memory.
    var disk: SimulatedDisk?
    /// The probability of a power cut during a request.
    var cutRate = 0.0
    var powerCuts = 0
    var kills = 0
    var oracle: CloudOracle
    var refusals: RequestRefusals
    var random: SeededRandom
    var observations: [any SignalObservation] = []
    /// Whether the accounts on the devices can be used, where they can't always.
    var availability: [Int: AccountAvailability] = [:]
    /// The queue for pushes, and the number of devices.
    var networkQueue: NetworkQueue?
    var deviceCount = 0
  }

  let layout: WorldLayout
  let contents: Mutex<Contents>
  let findings: Findings
  let journal: WorldJournal
  let seed: UInt64
  private let clock: VirtualClock
  /// Opens the server of a disk, or an empty one in memory; `identity` tells servers apart.
  let open: @Sendable (_ disk: SimulatedDisk?, _ identity: UInt64) throws -> LoopbackServer
  private let offset: ClockOffset

  /// The wall clock's fault, which the server's own clock reads.
  final class ClockOffset: Sendable {
    private let seconds = Mutex(0.0)
    var value: Double { seconds.withLock { $0 } }
    func add(_ jump: Double) { seconds.withLock { $0 += jump } }
  }

  init(
    seed: UInt64, options: WorldOptions, sharing: SharingOptions?, shape: WorldShape,
    executor: SeededExecutor, findings: Findings, journal: WorldJournal, random: SeededRandom
  ) throws {
    var limits = ServerLimits()
    limits.itemsPerRequest = options.server.itemLimit
    limits.zoneChangesPage = options.server.zonePage
    limits.databaseChangesPage = options.server.databasePage
    let clock = executor.clock
    let offset = ClockOffset()
    let time: @Sendable () -> Timestamp = {
      Timestamp(
        secondsSinceReferenceDate: 800_000_000 + clock.now.offset / .seconds(1) + offset.value)
    }
    let whatItTakes = limits
    open = { disk, identity in
      guard let disk else {
        return LoopbackServer(
          clock: time, delayClock: clock, identity: identity, limits: whatItTakes,
          taskExecutor: executor)
      }
      return try LoopbackServer(
        path: "/server/cloud.sqlite", fileSystem: SQLiteFileSystem(disk: disk),
        identity: identity, clock: time, delayClock: clock, limits: whatItTakes,
        taskExecutor: executor)
    }
    // A generator of its own: the rest of the world is the same on either storage.
    var storage = SeededRandom(seed: seed ^ 0x5157_4c69_7465)
    let isOnDisk = storage.chance(0.4) && !shape.lacks(.serverFile)
    let disk = isOnDisk ? SimulatedDisk(seed: storage.next()) : nil
    let server = try open(disk, seed &+ 1)
    var users: [UserID] = []
    for number in 1...options.accountCount {
      users.append(try server.user(of: Self.account(number)))
    }
    var layout = WorldLayout(
      zoneCount: options.zoneCount, recordsPerZone: options.recordsPerZone, users: users)
    layout.treeSizes = sharing?.treeSizes ?? []
    self.layout = layout
    var oracle = CloudOracle(layout: layout, findings: findings)
    if sharing != nil { oracle.sharing = SharingModel(layout: layout) }
    self.findings = findings
    self.journal = journal
    self.seed = seed
    self.clock = clock
    self.offset = offset
    var refusals = RequestRefusals(rates: options.server)
    refusals.refusesWithAnyCode = true
    contents = Mutex(
      Contents(
        server: server, disk: disk,
        cutRate: disk != nil && storage.chance(0.8) && !shape.lacks(.powerCuts)
          ? storage.fraction() * 0.05 : 0,
        oracle: oracle, refusals: refusals, random: random))
  }

  /// The name of an account, counted from 1.
  static func account(_ number: Int) -> String { "account\(number)" }

  var server: LoopbackServer { contents.withLock { $0.server } }

  private var now: Int { clock.milliseconds }

  // MARK: Requests

  /// Answers a request that was sent by `device` while `account` was signed in there.
  func answer(
    _ call: CloudCall, device: Int, account: Int?
  ) async -> Result<CloudReply, CloudError> {
    let sharesZones = contents.withLock { $0.oracle.sharing != nil }
    guard call.container == WorldLayout.container, call.environment == .development,
      call.database == .private || sharesZones
    else {
      let asker = Asker(number: device, name: "device\(device)", account: account)
      return await send(call, to: server, by: asker)
    }
    let now = now
    let plain = spelling(of: account, call).plain(call.request)
    let (refusal, rate, server) = contents.withLock { contents in
      (
        contents.refusals.error(
          for: call, from: device, at: now,
          isDeniable: contents.oracle.isThere(zoneOf: plain, account: account),
          &contents.random),
        contents.refusals.rates.partial, contents.server
      )
    }
    if let refusal { return .failure(refusal) }
    let split = PartiallyFailingCall(call, rate: rate, seed: seed, hasAnyCode: true)
    let name = "device\(device)"
    let asker = Asker(number: device, name: name, account: account)
    let isCut = plansPowerCut()
    let answer = await send(split.call, to: server, by: asker)
    if isCut {
      return await losePower(during: call, split, by: asker, answer)
    }
    return check(answer, to: call, split, by: asker)
  }

  /// The names of the asker's own zones; one only where the database has none of them.
  private func spelling(of account: Int?, _ call: CloudCall) -> ZoneSpelling {
    guard let account, call.database == .private else { return ZoneSpelling() }
    return ZoneSpelling(user: layout.users[account - 1])
  }

  /// The sender of a request.
  struct Asker {
    var number: Int
    var name: String
    var account: Int?
  }

  func send(
    _ call: CloudCall, to server: LoopbackServer, by asker: Asker
  ) async -> Result<CloudReply, CloudError> {
    let link = server.remoteDevice(asker.name, account: asker.account.map(Self.account))
    if let availability = contents.withLock({ $0.availability[asker.number] }) {
      link.setAvailability(availability)
    }
    do {
      return .success(try await link.send(call))
    } catch {
      return .failure(error)
    }
  }

  /// Has the oracle check an answer, and gives what the device is to hear.
  ///
  /// Nothing comes between the commit and this: the server answers without a pause.
  func check(
    _ answer: Result<CloudReply, CloudError>, to call: CloudCall, _ split: PartiallyFailingCall,
    by asker: Asker
  ) -> Result<CloudReply, CloudError> {
    let (account, name) = (asker.account, asker.name)
    let spelling = spelling(of: account, call)
    var plain = split.call
    plain.request = spelling.plain(plain.request)
    switch answer {
    case .failure(let error):
      contents.withLock { $0.oracle.check(refusal: error, of: plain, account: account) }
      return .failure(error)
    case .success(let reply):
      guard let account else {
        findings.report("I13", "a request without an account is answered")
        return answer
      }
      if let expected = call.expectedUser, expected != layout.users[account - 1] {
        findings.report("I13", "a request made for another account is carried out")
      }
      if let item = reply.misnamed(for: split.call.request) {
        findings.report("I15", "an answer to \(name) has another name than was asked for: \(item)")
      }
      contents.withLock { contents in
        _ = contents.oracle.check(plain, account: account, device: name, spelling.plain(reply))
      }
      return .success(split.join(reply))
    }
  }

  /// Puts the pushes for every device and account into `networkQueue`.
  func connect(deviceCount: Int, networkQueue: NetworkQueue) {
    contents.withLock { ($0.networkQueue, $0.deviceCount) = (networkQueue, deviceCount) }
    observePushes()
  }

  /// Does the same with the pushes of a server that took the place of another.
  func observePushes() {
    let (server, queue, deviceCount) = contents.withLock {
      ($0.server, $0.networkQueue, $0.deviceCount)
    }
    guard let queue else { return }
    var observations: [any SignalObservation] = []
    for device in 0..<deviceCount {
      for account in 1...layout.users.count {
        let link = server.remoteDevice("device\(device)", account: Self.account(account))
        observations.append(
          link.observeSignals { signal in
            guard case .push(let push) = signal else { return }
            queue.put(.push(push, device: device, account: account))
          })
      }
    }
    contents.withLock { $0.observations = observations }
  }

  // MARK: What the world does

  /// Lets everything in from now on, and everybody store anything.
  func heal() throws(CloudError) {
    contents.withLock { contents in
      contents.refusals.end()
      contents.cutRate = 0
    }
    for number in 1...layout.users.count {
      try server.controls.setQuota(nil, of: Self.account(number))
    }
  }

  /// A server in memory ends and begins again without anything of what it held.
  func loseEverything() throws {
    let next = try open(nil, seed ^ 0x6e65_7773)
    for number in 1...layout.users.count { _ = try next.user(of: Self.account(number)) }
    contents.withLock { contents in
      contents.observations = []
      contents.server.close()
      contents.server = next
      contents.oracle.loseEverything()
    }
    observePushes()
  }

  /// Has requests of one kind fail from now on, on each device; `nil` ends it.
  func refuseRepeatedly(_ repeatedRefusal: RequestRefusals.RepeatedRefusal?, deviceCount: Int) {
    contents.withLock { contents in
      for device in 0..<deviceCount { contents.refusals.repeated[device] = repeatedRefusal }
    }
  }

  /// Whether the account on a device can be used from now on.
  func setAvailability(_ availability: AccountAvailability, of device: Int) {
    contents.withLock { $0.availability[device] = availability }
  }

  func setQuota(_ bytes: Int?, of account: Int) throws(CloudError) {
    try server.controls.setQuota(bytes, of: Self.account(account))
  }

  /// The server goes down and comes back after `downtime` milliseconds.
  func restart(downtime: Int, clockJump: Double) {
    offset.add(clockJump)
    let now = now
    contents.withLock { $0.refusals.downUntil = now + downtime }
    endProcess()
  }

  func beginOutage(deviceCount: Int) -> CloudError.Code? {
    let now = now
    return contents.withLock { contents in
      contents.refusals.outage = RequestRefusals.Outage(
        &contents.random, deviceCount: deviceCount, at: now, hasAnyCode: true)
      return contents.refusals.outage?.code
    }
  }

  /// Whether a zone is there.
  private func isLive(_ zone: Int, _ account: Int) -> Bool {
    contents.withLock { $0.oracle.databases[account - 1].zones[zone].isLive }
  }

  /// Another account, or the user in the settings, removes a zone; returns whether it was there.
  func remove(
    _ zone: Int, of account: Int, reason: ZoneDeletionReason
  ) throws(CloudError) -> Bool {
    guard isLive(zone, account) else { return false }
    contents.withLock { $0.oracle.remove(zone, of: account, reason: reason) }
    let id = layout.zones[zone]
    let controls = server.controls
    let (container, name) = (WorldLayout.container, Self.account(account))
    switch reason {
    case .deleted: try controls.deleteZone(id, container: container, account: name)
    case .purged: try controls.purgeZone(id, container: container, account: name)
    case .encryptedDataReset:
      try controls.resetEncryptedData(id, container: container, account: name)
    }
    return true
  }

  /// The server forgets tokens, or deletions with the tokens that have not seen them.
  func forget(_ zone: Int?, of account: Int, trims: Bool) throws(CloudError) {
    if let zone, !isLive(zone, account) { return }
    let id = zone.map { layout.zones[$0] }
    let controls = server.controls
    let (container, name) = (WorldLayout.container, Self.account(account))
    if trims {
      contents.withLock { $0.oracle.trim(zone, of: account) }
      try controls.trimTombstones(of: id, container: container, account: name)
    } else {
      try controls.expireTokens(of: id, container: container, account: name)
    }
  }

  // MARK: What the checkers see

  /// Counts what happened on the server; a larger number is later.
  var time: Int { contents.withLock { $0.oracle.clock } }

  /// What is wrong with telling an app of `account` that these zones are gone.
  ///
  /// - Parameter start: When the fetch began in which it is told.
  func faults(telling deletions: [ZoneDeletion], to account: Int, since start: Int) -> [String] {
    contents.withLock { contents in
      deletions.compactMap { contents.oracle.fault(telling: $0, to: account, since: start) }
    }
  }

  /// The oracle's data of an account.
  func database(of account: Int) -> CloudOracle.Database {
    contents.withLock { $0.oracle.databases[account - 1] }
  }

  /// The server's records of an account's zone, without shares.
  func records(in zone: Int, of account: Int) throws(CloudError) -> [Record] {
    let stored = try server.records(
      in: layout.zones[zone], container: WorldLayout.container, account: Self.account(account))
    return contents.withLock { contents in
      stored.filter { $0.sharing == nil }.map { contents.oracle.plain($0) }
    }
  }

  /// The number of requests that the server is processing.
  var openRequestCount: Int { server.controls.openRequestCount }

  /// Ends the server.
  func close() {
    contents.withLock { $0.observations = [] }
    server.close()
  }
}
