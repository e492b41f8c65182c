import CloudProtocol
import CloudSync
import Foundation
import IdeaStore
import LoopbackServer
import Records
import SyncSupport
import Testing

@Suite("Ideas whatever happens", .timeLimit(.minutes(20)))
struct IdeaConvergenceTests {
  struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(max(1, bound)))
    }
  }

  /// Random edits with clocks that differ and go back, offline, with lost answers and lost pushes,
  /// faults, restarts and a switch of account.
  ///
  /// Proves I1.
  @Test(
    "I: Two accounts on three devices each end with the same bytes", arguments: Array(1...24))
  func devicesConvergeToSameBytes(_ seed: Int) async throws {
    var random = Random(state: UInt64(seed))
    let server = LoopbackServer()
    var devices: [IdeaDevice] = []
    for index in 0..<6 {
      let device = try IdeaDevice(
        server, "device \(index)", account: index < 3 ? "ada" : "ben",
        wall: SetClock(SetClock.noon + Double(random.next(4_000) - 2_000)))
      try await device.begin()
      devices.append(device)
    }
    for step in 0..<80 {
      let index = random.next(6)
      let device = devices[index]
      let ideas = device.store.ideas
      let idea = ideas.isEmpty ? nil : ideas[random.next(ideas.count)]
      device.wall.move(by: Double(random.next(400) - 100) / 10)
      switch random.next(12) {
      case 0...2: try device.store.create(title: "idea \(step)")
      case 3...5: if let idea { try device.store.update(idea.id, title: "edit \(step)") }
      case 6: if let idea { try device.store.delete(idea.id) }
      case 7: device.device.isOnline.toggle()
      case 8: _ = try await device.store.syncNow()
      case 9: server.controls.dropPushes(next: random.next(5))
      case 10:
        let name = "device \(index)"
        if random.next(2) == 0 {
          server.controls.dropAnswers(in: RequestScope(kind: .modifyRecords, device: name))
        } else {
          server.controls.fail(
            next: random.next(3), with: .serviceUnavailable, in: RequestScope(device: name))
        }
      case 11:
        await device.store.stop()
        let account = device.device.account
        devices[index] = try IdeaDevice(
          server, "device \(index)", account: account, folder: device.folder, wall: device.wall)
        devices[index].store.start()
      default: break
      }
    }
    let lastSwitch = random.next(3)
    devices[lastSwitch].device.signIn(as: "ben")
    devices[lastSwitch].device.signIn(as: "ada")
    server.controls.clear()
    for device in devices { device.device.isOnline = true }
    for _ in 0..<4 { for device in devices { try await device.store.syncNow() } }
    for device in devices { await device.store.stop() }
    for (group, account) in [(0..<3, "ada"), (3..<6, "ben")] {
      let texts = devices[group].map(\.store.canonicalText)
      #expect(Set(texts).count == 1, "seed \(seed), \(account): \(texts)")
      let names = try server.ideas(of: account).map(\.id.name).sorted()
      #expect(devices[group.lowerBound].store.ideas.map(\.id.uuidString).sorted() == names)
      for device in devices[group] { #expect(device.store.status.pending == 0, "seed \(seed)") }
    }
  }
}
