import CloudSync
import Disk
import Foundation
import LoopbackServer
import SimulationSupport
import Testing

/// The file of an engine's state on a simulated disk whose calls fail, and with damaged bytes.
@Suite("State files")
struct StateFileTests {
  private static let path = StateStoreSubject.url.path

  private static func store(on disk: SimulatedDisk) throws -> FileStateStore {
    try FileStateStore(url: StateStoreSubject.url, disk: disk)
  }

  @Test(
    "An entry that the disk refused is not in the file, and the acknowledged ones are",
    arguments: [DiskOperation.write, .synchronize], [true, false])
  func refusedEntryIsNotInTheFile(_ operation: DiskOperation, _ keepsCache: Bool) throws {
    for isReopened in [false, true] {
      let disk = SimulatedDisk()
      do {
        let store = try Self.store(on: disk)
        try store.replace(with: [1])
        try store.append([2])
      }
      let store = try Self.store(on: disk)
      if isReopened { _ = try store.load() }
      // An entry after the opening has its own length.
      try store.append([3])
      let before = disk.image[Self.path]
      disk.faults.keepsCacheAfterFailure = keepsCache
      disk.faults.failures = [.init(at: disk.operationCount + 1, only: [operation])]
      #expect(throws: FileStateStoreError.self) {
        try store.append([UInt8](repeating: 4, count: 600))
      }
      #expect(throws: FileStateStoreError.self, "nothing is accepted") { try store.append([5]) }
      #expect(throws: FileStateStoreError.self, "nothing is accepted") {
        try store.replace(with: [])
      }
      #expect(disk.image[Self.path] == before)
      let expected = StateStoreContents(snapshot: [1], entries: [[2], [3]])
      #expect(try store.load() == expected)
      try store.append([6])
      for seed: UInt64 in 0..<8 {
        let crashed = SimulatedDisk(image: disk.image.afterCrash(seed: seed))
        let next = try Self.store(on: crashed)
        #expect(try next.load()?.entries == expected.entries + [[6]])
      }
    }
  }

  @Test("A snapshot that the disk refused leaves no second file, and the old contents")
  func refusedSnapshotLeavesNoFile() throws {
    for operation in [DiskOperation.write, .synchronize, .rename] {
      let disk = SimulatedDisk()
      let store = try Self.store(on: disk)
      try store.replace(with: [1])
      let paths = disk.image.paths
      disk.faults.failures = [.init(at: disk.operationCount + 1, only: [operation])]
      #expect(throws: FileStateStoreError.self) { try store.replace(with: [2, 2]) }
      #expect(disk.image.paths == paths, "\(operation)")
      #expect(try store.load()?.snapshot == [1], "\(operation)")
    }
  }

  @Test("A state file longer than one read is read completely", arguments: [-1, 0, 1, 300_000])
  func longStateFileIsReadCompletely(excess: Int) throws {
    let disk = SimulatedDisk()
    let store = try Self.store(on: disk)
    // The header has 6 bytes, and the head of the record 13.
    let snapshot = [UInt8](repeating: 9, count: (1 << 18) - 19 + excess)
    try store.replace(with: snapshot)
    #expect(disk.image[Self.path]?.count == (1 << 18) + excess)
    #expect(try store.load()?.snapshot == snapshot)
  }

  @Test("What a load shows is durable, though an earlier process was killed or refused it")
  func shownContentsAreDurable() throws {
    for operation in [DiskOperation.synchronizeFolder, .synchronize] {
      for isRestarted in [true, false] {
        let disk = SimulatedDisk()
        var store: FileStateStore? = try Self.store(on: disk)
        if operation == .synchronize { try store?.replace(with: [1]) }
        disk.faults.failures = [
          .init(at: 1, isForEver: true, only: [operation, .truncate, .remove])
        ]
        let entry = [UInt8](repeating: 2, count: 1_100)
        #expect(throws: FileStateStoreError.self) {
          if operation == .synchronize {
            try store?.append(entry)
          } else {
            try store?.replace(with: entry)
          }
        }
        disk.faults = DiskFaults()
        let next = isRestarted ? disk.restarted() : disk
        if isRestarted { store = try Self.store(on: next) }
        let shown = try store?.load()
        #expect(shown != nil)
        for seed: UInt64 in 0..<16 {
          let crashed = SimulatedDisk(image: next.image.afterCrash(seed: seed))
          #expect(try Self.store(on: crashed).load() == shown, "\(operation) \(isRestarted)")
        }
      }
    }
  }

  @Test("A file that was removed is a new one after the next load")
  func removedFileIsANewOne() throws {
    let disk = SimulatedDisk()
    let store = try Self.store(on: disk)
    try store.replace(with: [1])
    try disk.remove(Self.path)
    #expect(try store.load() == nil)
    try store.append([2])
    #expect(try store.load()?.entries == [[2]])
  }

  /// A part of a file that reads as zeros, or a changed byte, and what is left.
  struct DamageCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var zeros: Range<Int> = 0..<0
    var flipped: Int?
    var length = 2_846
    /// The number of entries; `nil` for an error.
    var entries: Int?
    /// The size of the file afterwards.
    var size: Int
  }

  @Test(
    "A write at the end that a crash tore is removed, and any other damage is an error",
    arguments: [
      DamageCase(testDescription: "whole", entries: 2, size: 2_846),
      DamageCase(
        testDescription: "a sector of the last entry", zeros: 2_048..<2_560, entries: 1,
        size: 1_433),
      DamageCase(
        testDescription: "a sector of an earlier entry", zeros: 512..<1_024, size: 2_846),
      DamageCase(
        testDescription: "the beginning of the last entry", zeros: 1_433..<1_536, entries: 1,
        size: 1_433),
      DamageCase(
        testDescription: "the beginning of an earlier entry", zeros: 20..<512, size: 2_846),
      DamageCase(testDescription: "a byte of the last head", flipped: 1_436, size: 2_846),
      DamageCase(testDescription: "a byte of the last content", flipped: 2_000, size: 2_846),
      DamageCase(testDescription: "a part of a head", length: 1_445, entries: 1, size: 1_433),
      DamageCase(testDescription: "a head alone", length: 1_446, entries: 1, size: 1_433),
      DamageCase(testDescription: "a part of an entry", length: 2_845, entries: 1, size: 1_433),
    ])
  func damagedFileIsMendedOrRefused(_ row: DamageCase) throws {
    let whole = SimulatedDisk()
    do {
      // The header has 6 bytes, a record a head of 13.
      let store = try Self.store(on: whole)
      try store.replace(with: [1])
      for byte: UInt8 in [2, 3] { try store.append([UInt8](repeating: byte, count: 1_400)) }
    }
    var image = whole.image
    var bytes = try #require(image[Self.path])
    #expect(bytes.count == 2_846)
    for index in row.zeros { bytes[index] = 0 }
    if let index = row.flipped { bytes[index] ^= 1 }
    image[Self.path] = Array(bytes.prefix(row.length))
    let disk = SimulatedDisk(image: image)
    let store = try Self.store(on: disk)
    let found = try? store.load()
    #expect(found?.entries.count == row.entries)
    #expect(disk.image[Self.path]?.count == row.size)
    guard let count = row.entries else { return }
    try store.append([4])
    #expect(try store.load()?.entries.count == count + 1)
  }

  /// A delegate that does nothing.
  private final class Deaf: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}
    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
  }

  @Test("An engine whose state file refused a change stores it with the next one")
  func refusedStateIsStoredLater() throws {
    let (disk, server, delegate) = (SimulatedDisk(), LoopbackServer(), Deaf())
    func engine() throws -> CKSyncEngine {
      let container = CKContainer(identifier: "iCloud.state", transport: server.device("phone"))
      var configuration = CKSyncEngine.Configuration(
        database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
      configuration.automaticallySync = false
      configuration.stateStore = try Self.store(on: disk)
      return CKSyncEngine(configuration)
    }
    let ids = ["a", "b", "c"].map { CKRecord.ID(recordName: $0) }
    var first: CKSyncEngine? = try engine()
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(ids[0])])
    disk.faults.rates[.synchronize] = 1
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(ids[1])])
    #expect(first?.stateStoreError is FileStateStoreError)
    disk.faults = DiskFaults()
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(ids[2])])
    #expect(first?.stateStoreError == nil)
    first = nil
    let crashed = SimulatedDisk(image: disk.image.afterCrash(seed: 1))
    let contents = try #require(try Self.store(on: crashed).load())
    #expect(!contents.snapshot.isEmpty && contents.entries.isEmpty, "the whole state")
    #expect(try engine().state.pendingRecordZoneChanges == ids.map { .saveRecord($0) })
    server.close()
  }
}
