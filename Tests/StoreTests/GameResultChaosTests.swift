import CloudProtocol
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import GameResultStore
@testable import SyncedStore

@Suite("Game results under faults", .timeLimit(.minutes(20)))
struct GameResultChaosTests {
  struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(max(1, bound)))
    }
  }

  /// The first few, and those that once found a result come back.
  ///
  /// One thing can't be helped: a result whose save was never answered for, and which another
  /// device deleted before this one read the zone for the first time, is sent again. Keeping it is
  /// the better mistake.
  static let seeds = Array(1...6) + [33, 80, 95, 152, 155, 201, 234, 377]

  /// Random additions, deletions, faults, restarts and losses of power on three devices; then all
  /// faults stop and everybody must hold the same results, none lost and none come back.
  ///
  /// Proves I1.
  @Test(
    "G: Three devices end with the same results despite faults, restarts and power losses",
    arguments: seeds)
  func threeDevicesConvergeDespiteFaults(_ seed: Int) async throws {
    var random = Random(state: UInt64(seed))
    let server = LoopbackServer()
    var limits = ServerLimits()
    limits.zoneChangesPage = 3
    server.controls.setLimits(limits)
    var folders = (0..<3).map { _ in ResultFolder() }
    var devices: [ResultDevice] = []
    for index in 0..<3 {
      devices.append(
        try ResultDevice(server, "device \(index)", account: "ada", folder: folders[index]))
      try devices[index].store.start()
    }
    var added: Set<UUID> = []
    var deleted: Set<UUID> = []
    var doubtful: Set<String> = []
    for step in 0..<60 {
      let index = random.next(3)
      let store = devices[index].store
      switch random.next(10) {
      case 0...2:
        let first = 1_000 + step * 10
        let report = try store.importResults(from: wordles(first...(first + random.next(8))))
        added.formUnion(report.added.map(\.id))
      case 3:
        let results = store.results
        guard let result = results.isEmpty ? nil : results[random.next(results.count)] else {
          break
        }
        try store.delete(result.id)
        deleted.insert(result.id)
      case 4: devices[index].device.isOnline.toggle()
      case 5:
        let kind = random.next(9)
        server.controls.fail(
          next: 1, with: codes[random.next(4)],
          in: RequestScope(kind: RequestKind.allCases[kind]))
      case 6: server.controls.dropAnswers(next: 1, in: RequestScope(kind: .modifyRecords))
      case 7:
        folders[index] = try await end(
          devices[index], in: folders[index], inOrder: random.next(2) == 0)
        devices[index] = try ResultDevice(
          server, "device \(index), run \(step)", account: "ada", folder: folders[index])
        try devices[index].store.start()
      default: try await store.syncNow()
      }
      for device in devices {
        doubtful.formUnion(device.store.offeredNames)
      }
    }
    server.controls.clear()
    for device in devices { device.device.isOnline = true }
    for _ in 0..<3 {
      for device in devices { try await device.store.syncNow() }
    }
    let expected = added.subtracting(deleted).map(\.uuidString).sorted()
    let present = try server.results(of: "ada")
    let lost = Set(expected).subtracting(present)
    let back = Set(present).subtracting(expected).subtracting(doubtful)
    #expect(lost.isEmpty && back.isEmpty, "lost \(lost), come back \(back)")
    for device in devices {
      #expect(device.store.results.map(\.id.uuidString).sorted() == present)
      #expect(device.store.status.waiting == 0)
      #expect(device.store.streaks() == devices[0].store.streaks())
      await device.store.stop()
    }
  }

  private let codes: [CloudError.Code] = [
    .zoneBusy, .serviceUnavailable, .networkFailure, .serverRejectedRequest,
  ]

  /// Ends a device: in order, or because the power goes, and only what is on the disk stays.
  ///
  /// Answers the folder that the next run finds.
  private func end(
    _ device: ResultDevice, in folder: ResultFolder, inOrder: Bool
  ) async throws -> ResultFolder {
    if inOrder {
      await device.store.stop()
      return folder
    }
    // A program that is gone sends nothing more.
    device.device.isOnline = false
    let copy = ResultFolder()
    // Under the lock nobody writes, so this is what a disk may hold.
    try device.store.store.state.withLock { _ in
      guard FileManager.default.fileExists(atPath: folder.url.path) else { return }
      try FileManager.default.copyItem(at: folder.url, to: copy.url)
    }
    // Gone is gone: nothing is written into the old folder when that is removed.
    await device.store.stop()
    return copy
  }

  @Test("G: A result that the cloud refuses is tried four times, kept, and delays no other")
  func refusedResultBlocksNoOther() async throws {
    let server = LoopbackServer()
    var limits = ServerLimits()
    limits.recordBytes = 3_000
    server.controls.setLimits(limits)
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try await phone.store.syncNow()
    let large = GameResult(
      id: UUID(), gameId: Game.wordle.id, gameName: "Wordle", date: ResultDevice.noon, score: 1,
      maxAttempts: 6, completed: true, sharedText: String(repeating: "x", count: 10_000))
    try phone.store.add([large])
    try phone.store.importResults(from: wordles(1_900...1_908))
    try await phone.store.syncNow()
    #expect(try server.results(of: "ada").count == 9)
    for seconds in [2, 4, 8] where phone.store.status.refused == 0 {
      await phone.clock.waitForSleeper(of: .seconds(seconds))
      let updates = phone.store.statusUpdates
      phone.clock.advance(by: .seconds(seconds))
      var count = 0
      for await _ in updates {
        count += 1
        if count == 3 { break }
      }
    }
    #expect(phone.store.status.refused == 1 && phone.store.status.waiting == 1)
    #expect(phone.store.status.message == "Some data couldn't sync.")
    #expect(phone.store.result(large.id) == large)
    limits.recordBytes = 1_000_000
    server.controls.setLimits(limits)
    try await phone.store.syncNow()
    #expect(phone.store.status.isSynced && phone.store.status.waiting == 0)
    #expect(try server.results(of: "ada").count == 10)
    await phone.store.stop()
  }
}
