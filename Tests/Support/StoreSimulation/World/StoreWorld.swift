import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SimulationSupport
import Synchronization

/// Two accounts, three devices, one cloud, and everything that can go wrong between them.
final class StoreWorld {
  static let accounts = ["anna", "ben"]
  /// The moment at which every world begins.
  static let beginning = Date(timeIntervalSinceReferenceDate: 800_000_000)

  let kind: StoreKind
  let bug: PlantedStoreBug?
  let executor: SeededExecutor
  let home: URL
  let journal: WorldJournal
  let server: LoopbackServer
  let options: WorldOptions
  let container: String
  var random: SeededRandom
  var devices: [StoreDevice] = []
  var histories: [String: EditHistory] = [:]
  var gone: [GoneStore] = []
  private var lastRequest = 0
  let identities: SeededIDs

  init(
    _ kind: StoreKind, seed: UInt64, isShort: Bool, bug: PlantedStoreBug?, executor: SeededExecutor,
    home: URL,
    journal: WorldJournal
  ) {
    self.kind = kind
    self.bug = bug
    self.executor = executor
    self.home = home
    self.journal = journal
    random = SeededRandom(seed: seed)
    options = WorldOptions(&random, isShareable: kind.isShareable, isShort: isShort)
    identities = SeededIDs(seed: random.next())
    container = "iCloud.simulation.\(kind.name)"
    let clock = executor.clock
    server = LoopbackServer(
      clock: {
        Timestamp(
          secondsSinceReferenceDate: Self.beginning.timeIntervalSinceReferenceDate
            + clock.now.offset / .seconds(1))
      }, delayClock: clock, identity: seed)
  }

  /// Runs the world to its end; what is wrong is in the journal.
  func run() async {
    do {
      journal.say("\(options)")
      if !options.hasPushes { server.controls.dropPushes(next: .max) }
      for (number, account) in [(0, "anna"), (1, "anna"), (0, "ben")] {
        try launchFirst(account, number)
      }
      if options.isShared { try await shareAtFirst() }
      server.controls.setLimits(options.limits)
      for step in 1...options.steps {
        journal.begin(step)
        try await act()
        tellRequests()
      }
      try await heal()
      try await check()
    } catch let broken as BrokenPromise {
      journal.fail(broken.message)
    } catch {
      journal.fail("a store refused: \(error)")
    }
    tellRequests()
    journal.note(requests: server.controls.requestCount())
    await end()
  }

  /// Tells of the requests that arrived since the last call.
  func tellRequests() {
    for entry in server.controls.requests.suffix(1_000) where entry.number > lastRequest {
      lastRequest = entry.number
      journal.note(
        "request \(entry.number) of \(entry.device): \(entry.kind.rawValue), "
          + "\(entry.itemCount) items, "
          + "\(entry.outcome)")
    }
  }

  /// Lets the accounts share something before anything goes wrong.
  private func shareAtFirst() async throws {
    let isOnline = devices.map(\.link.isOnline)
    for device in devices {
      device.link.isOnline = true
      await device.store.sync()
    }
    await executor.settle()
    guard let url = try await devices[0].store.share() else { return }
    for device in devices where device.account != devices[0].account {
      try await device.store.join(url)
    }
    await executor.settle()
    for (device, isOnline) in zip(devices, isOnline) { device.link.isOnline = isOnline }
    journal.say("\(devices[0].name) shares, and the others join")
  }

  private func launchFirst(_ account: String, _ number: Int) throws {
    let offset = Double(random.pick([0, 0, 0, 0, 0, 0, -3_600, 5, 86_400, -90]))
    let rate = random.pick([1, 1, 1, 1, 1, 0.9, 1.2])
    let name = "\(account)-\(number)"
    let folder = home.appendingPathComponent("\(name)-0")
    let link = server.device(name, signedInAs: account)
    link.isOnline = random.below(4) != 0
    devices.append(
      try open(account, number, folder: folder, link: link, offset: offset, rate: rate))
  }

  /// Begins the app of a device again, on the files there are.
  func launch(_ device: StoreDevice, in folder: URL, isOnline: Bool) throws {
    device.launch += 1
    let link = server.device(
      "\(device.account)-\(device.number)-\(device.launch)", signedInAs: device.account)
    link.isOnline = isOnline
    device.setting.folder = folder
    device.setting.link = link
    device.setting.container = CKContainer(identifier: container, transport: link)
    device.store = try kind.open(device.setting)
    // What was confirmed may have been forgotten by a crash, and goes out again.
    for key in histories[device.account]?.removedKeys ?? [] where device.store.isWaiting(key) {
      histories[device.account]?.excuseReturn(of: key)
    }
  }

  /// Opens the app of a device.
  ///
  /// - Parameters:
  ///   - offset: the error of its wall clock, in seconds.
  ///   - rate: the speed of its wall clock.
  func open(
    _ account: String, _ number: Int, folder: URL, link: LoopbackDevice, offset: Double = 0,
    rate: Double = 1
  ) throws -> StoreDevice {
    let clock = executor.clock
    let grain = options.clockGrain
    let setting = DeviceSetting(
      account: account, number: number, folder: folder,
      container: CKContainer(identifier: container, transport: link), link: link, clock: clock,
      now: {
        let passed = clock.now.offset / .seconds(1) * rate
        return Self.beginning.addingTimeInterval(offset + (passed / grain).rounded(.down) * grain)
      },
      random: { [identities] in identities.number() },
      newID: { [identities] in identities.next() }, isAutomatic: options.isAutomatic, bug: bug)
    return StoreDevice(setting, try kind.open(setting))
  }
}

/// IDs that a seed decides, given out one after another.
final class SeededIDs: Sendable {
  private let random: Mutex<SeededRandom>

  init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

  /// The next number.
  func number() -> UInt64 { random.withLock { $0.next() } }

  /// The next ID.
  func next() -> UUID {
    let (high, low) = random.withLock { ($0.next(), $0.next()) }
    let bytes = withUnsafeBytes(of: (high, low)) { Array($0) }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
