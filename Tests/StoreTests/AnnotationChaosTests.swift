import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

@Suite("Annotations under faults", .timeLimit(.minutes(20)))
struct AnnotationChaosTests {
  struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(max(1, bound)))
    }
  }

  static let strategies: [ConflictStrategy] = [
    .lastWriteWins, .remoteWins, .localWins, .manual,
    .perField(["title": .manual, "position": .remoteWins]).orElse(.lastWriteWins),
  ]

  /// Two accounts with three devices each, and a layer that both write.
  final class World {
    let server = LoopbackServer()
    let time = Moment()
    var devices: [AnnotationDevice] = []
    var random: Random
    var runs = 0
    let strategy: ConflictStrategy
    var shared = UUID()

    init(_ seed: Int) async throws {
      random = Random(state: UInt64(seed))
      strategy = AnnotationChaosTests.strategies[seed % AnnotationChaosTests.strategies.count]
      var limits = ServerLimits()
      limits.zoneChangesPage = 3
      server.controls.setLimits(limits)
      for number in 0..<6 { devices.append(try start(number, nil)) }
      let ada = devices[0].store
      shared = try ada.addLayer(named: "shared").id
      try ada.addLayer(named: "own")
      try await ada.sync()
      try await devices[3].store.sync()
      let url = try await ada.share(shared, with: [.email("ben")])
      try await devices[3].store.accept(url)
    }

    func start(_ number: Int, _ folder: TemporaryFolder?) throws -> AnnotationDevice {
      runs += 1
      let device = try AnnotationDevice(
        server, "device \(number), run \(runs)", account: number < 3 ? "ada" : "ben",
        folder: folder, time: time, batchSize: 1 + random.next(5))
      try device.store.setStrategy(strategy)
      return device
    }

    /// Ends a device; only what is on the disk goes to its next run.
    func restart(_ number: Int) throws {
      let old = devices[number]
      old.link.isOnline = false
      let copy = try TemporaryFolder()
      // Under the lock nobody writes, so this is what a disk may hold.
      try old.store.state.withLock { _ in
        let place = old.folder.url.appendingPathComponent("annotations")
        guard FileManager.default.fileExists(atPath: place.path) else { return }
        try FileManager.default.copyItem(
          at: place, to: copy.url.appendingPathComponent("annotations"))
      }
      devices[number] = try start(number, copy)
    }

    func pick<Element>(_ elements: [Element]) -> Element? {
      elements.isEmpty ? nil : elements[random.next(elements.count)]
    }

    /// One thing that a person does.
    func act(_ store: AnnotationStore, _ step: Int) throws {
      let layer = pick(store.layers)?.id
      let note = pick(store.annotations())?.id
      switch random.next(9) {
      case 0, 1:
        guard let layer else { return }
        try store.add(.init(title: "\(step)", position: [Float(step), 0, 0]), to: layer)
      case 2: if let note { try store.edit(note) { $0.title = "t\(step)" } }
      case 3: if let note { try store.edit(note) { $0.position = [0, Float(step), 1] } }
      case 4: if let note { try store.edit(note) { $0.content.text += "\n\(step)" } }
      case 5: if let note { try store.deleteAnnotation(note) }
      case 6: if let note, let layer { try store.move(note, to: layer) }
      case 7: if let note { try store.comment(on: note, text: "c\(step)") }
      default:
        if let conflict = pick(store.conflicts) {
          let ends = ConflictResolution.allCases
          try store.resolve(conflict.id, use: ends[random.next(ends.count)])
        } else if let orphan = pick(store.orphans), let layer {
          try store.move(orphan.id, to: layer)
        }
      }
    }

    func disturb(_ number: Int) throws {
      switch random.next(4) {
      case 0: devices[number].link.isOnline.toggle()
      case 1:
        let codes: [CloudError.Code] = [.zoneBusy, .serviceUnavailable, .networkFailure]
        let kinds: [RequestKind] = [
          .fetchDatabaseChanges, .fetchZoneChanges, .modifyRecords, .fetchCurrentUser,
        ]
        server.controls.fail(
          next: 1 + random.next(4), with: codes[random.next(3)],
          in: RequestScope(kind: kinds[random.next(4)]))
      case 2: server.controls.dropAnswers(next: 1, in: RequestScope(kind: .modifyRecords))
      default: try restart(number)
      }
    }

    /// Ends all faults, lets people decide, and syncs until nothing can be left.
    func settle() async throws {
      server.controls.clear()
      for device in devices { device.link.isOnline = true }
      for _ in 0..<6 {
        for device in devices {
          for conflict in device.store.conflicts {
            try device.store.resolve(conflict.id, use: .theirs)
          }
          try await device.store.sync(askedByPerson: true)
        }
      }
    }

    /// What a device shows of the shared layer.
    func sharedLines(_ store: AnnotationStore) -> [String] {
      let notes = store.annotations(on: shared).map(\.id)
      let names = Set(
        ([shared] + notes + notes.flatMap { store.comments(on: $0).map(\.id) }).map(\.uuidString))
      return store.canonicalLines.filter { names.contains(String($0.split(separator: " ")[1])) }
    }
  }

  /// Proves I1.
  @Test(
    "R: Two accounts with three devices each converge despite offline edits, faults and crashes",
    arguments: Array(1...10) + [36, 54, 182])
  func accountsConvergeDespiteFaults(_ seed: Int) async throws {
    let world = try await World(seed)
    for step in 0..<90 {
      let number = world.random.next(6)
      world.time.advance()
      switch world.random.next(10) {
      case 0...4: try world.act(world.devices[number].store, step)
      case 5...7: try? await world.devices[number].store.sync()
      default: try world.disturb(number)
      }
    }
    try await world.settle()
    // Whatever happened, the shared layer is still one.
    try world.devices[5].store.add(.init(title: "last"), to: world.shared)
    try await world.settle()
    for device in world.devices {
      let store = device.store
      let same = world.devices[device.link.account == "ada" ? 0 : 3].store
      #expect(store.canonicalLines == same.canonicalLines, "\(device.link.name)")
      #expect(store.waitingCount == 0 && store.conflicts.isEmpty && store.refusals.isEmpty)
      #expect(world.sharedLines(store) == world.sharedLines(world.devices[0].store))
      #expect(store.heldCount == 0)
    }
    #expect(world.sharedLines(world.devices[0].store).count > 1, "there was something to share")
  }
}
