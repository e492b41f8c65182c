import CloudSync
import Disk
import Foundation
import SQLite
import SimulationSupport
import Testing

/// The crash programmes, small; `cloudsync-verify crash` runs them at length.
@Suite("Crashes of a simulated disk")
struct CrashTests {
  @Test("Every crash image of the state store and the server holds all acknowledged writes")
  func crashImagesHoldAcknowledgedWrites() async {
    var tally = CrashTally()
    for seed: UInt64 in 0..<4 { tally.add(await CrashRun<StateStoreSubject>(seed: seed).images()) }
    for seed: UInt64 in 0..<4 { tally.add(await CrashRun<ItemStoreSubject>(seed: seed).images()) }
    var run = CrashRun<ServerSubject>(seed: 1)
    run.imagesPerMoment = 1
    run.steps = 5
    tally.add(await run.images())
    #expect(tally.images > 1_000 && tally.byDepth[2] > 100 && tally.violations == [])
  }

  @Test("After any failing call the store can be opened with all acknowledged writes")
  func failingCallsKeepAcknowledgedWrites() async {
    var tally = await CrashRun<StateStoreSubject>(seed: 3).failures()
    tally.add(await CrashRun<ItemStoreSubject>(seed: 3).failures(stride: 3))
    // Its sixth call makes the first file durable under its name.
    tally.add(await CrashRun<ItemStoreSubject>(seed: 0).failures(stride: 5))
    var run = CrashRun<ServerSubject>(seed: 2)
    run.steps = 3
    tally.add(await run.failures(stride: 23))
    #expect(tally.failures > 300 && tally.violations == [])
  }

  @Test("A file that could not be given a write-ahead log is reported to have none")
  func missingWriteAheadLogIsReported() throws {
    func open(on disk: SimulatedDisk) throws -> Connection {
      let connection = try Connection(
        path: "/folder/file", fileSystem: SQLiteFileSystem(disk: disk))
      try connection.execute("CREATE TABLE things (name TEXT)")
      try connection.useWriteAheadLog()
      return connection
    }
    let whole = SimulatedDisk()
    try open(on: whole).close()
    var refusals = 0
    for number in 1...whole.operationCount {
      let disk = SimulatedDisk()
      disk.faults.failures = [.init(at: number)]
      do {
        let connection = try open(on: disk)
        #expect(try connection.first("PRAGMA journal_mode") { try $0.text(0) } == "wal")
        try connection.close()
      } catch is SQLiteError {
        refusals += 1
      }
    }
    #expect(refusals > 10)
  }

  @Test("A store that does not wait for the disk is detected", arguments: [0, 1, 2] as [UInt64])
  func unsynchronizedStoreIsDetected(seed: UInt64) async {
    var store = CrashRun<StateStoreSubject>(seed: seed)
    store.losesSynchronizations = true
    #expect(await store.images().violationCount > 0)
    var items = CrashRun<ItemStoreSubject>(seed: seed)
    items.losesSynchronizations = true
    #expect(await items.images().violationCount > 0)
    var server = CrashRun<ServerSubject>(seed: seed)
    server.losesSynchronizations = true
    server.imagesPerMoment = 1
    server.steps = 4
    #expect(await server.images().violationCount > 0)
  }

  @Test("After a crash, a later write to a sector is present only with the earlier ones")
  func laterSectorWriteKeepsEarlierWrite() throws {
    let disk = SimulatedDisk()
    let file = try disk.open("/folder/file", .create)
    try disk.synchronizeFolder(of: "/folder/file")
    try file.append(all: [1, 1])
    try file.append(all: [2, 2])
    var found: Set<[UInt8]> = []
    for seed: UInt64 in 0..<200 {
      found.insert(disk.image.afterCrash(seed: seed)["/folder/file"] ?? [])
    }
    let whole: Set<[UInt8]> = [[], [1, 1], [1, 1, 2, 2]]
    #expect(found.isSuperset(of: whole) && !found.contains([0, 0, 2, 2]))
  }

  @Test("A careful store passes, and a store that omits any one safeguard is detected")
  func storeWithoutOneSafeguardIsDetected() async {
    #expect(await violations(CarefulHabits.self) == 0)
    #expect(await violations(NoSynchronization.self) > 0)
    #expect(await violations(NoFolderSynchronization.self) > 0)
    #expect(await violations(NoChecksums.self) > 0)
    #expect(await violations(NoCutting.self) > 0)
  }

  private func violations<Habits: StoreHabits>(_ habits: Habits.Type) async -> Int {
    var tally = CrashTally()
    for seed: UInt64 in 0..<4 {
      var run = CrashRun<PlainStore<Habits>>(seed: seed)
      run.imagesPerMoment = 8
      tally.add(await run.images())
    }
    return tally.violationCount
  }

  @Test("A state file that cannot be accessed is an error and not an empty store")
  func unreadableStateFileIsError() throws {
    let disk = SimulatedDisk()
    let store = try FileStateStore(url: StateStoreSubject.url, disk: disk)
    try store.replace(with: [1, 2, 3])
    disk.faults.rates[.look] = 1
    #expect(throws: FileStateStoreError.self) { try store.load() }
    disk.faults = DiskFaults()
    #expect(try store.load()?.snapshot == [1, 2, 3])
  }

  @Test("Two stores cannot share a file, and a second can open it when the first is released")
  func stateFileAllowsOneStore() throws {
    let disk = SimulatedDisk()
    var first: FileStateStore? = try FileStateStore(url: StateStoreSubject.url, disk: disk)
    #expect(first != nil)
    let error = #expect(throws: FileStateStoreError.self) {
      try FileStateStore(url: StateStoreSubject.url, disk: disk)
    }
    #expect(error?.code == .inUse)
    first = nil
    _ = try FileStateStore(url: StateStoreSubject.url, disk: disk)
  }

  @Test("A changed bit in the last acknowledged entry counts as damage, not as a torn append")
  func changedLastEntryIsDamage() throws {
    let disk = SimulatedDisk()
    let path = StateStoreSubject.url.path
    do {
      let store = try FileStateStore(url: StateStoreSubject.url, disk: disk)
      try store.replace(with: [1])
      try store.append([UInt8](repeating: 7, count: 600))
    }
    var image = disk.image
    var bytes = try #require(image[path])
    bytes[bytes.count - 1] ^= 1
    image[path] = bytes
    let damaged = SimulatedDisk(image: image)
    let store = try FileStateStore(url: StateStoreSubject.url, disk: damaged)
    #expect(throws: FileStateStoreError.self) { try store.load() }
    #expect(damaged.image[path] == bytes)
  }
}
