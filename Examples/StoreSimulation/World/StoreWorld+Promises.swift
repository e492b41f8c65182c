import CloudSyncTesting
import Foundation
import LoopbackServer

/// How a world ends: the faults stop, everybody syncs, and every promise is looked at.
extension StoreWorld {
  private static let mostRounds = 10

  /// Ends all faults and lets everybody sync until nothing moves any more.
  func heal() async throws {
    journal.say("all faults end")
    server.controls.clear()
    server.controls.setLimits(ServerLimits())
    for device in devices { device.link.isOnline = true }
    await lane.pass(.seconds(1_200))
    for round in 1...Self.mostRounds {
      for device in devices {
        journal.say("\(device.name) syncs, round \(round)")
        await device.store.sync()
        await lane.settle()
        tellRequests()
      }
      await lane.pass(.seconds(400))
      if round > 1, isQuiet { return }
    }
  }

  private var isQuiet: Bool {
    devices.allSatisfy { device in
      device.store.waitingCount == 0
        && devices.allSatisfy {
          $0.account != device.account
            || Self.difference(device.store, $0.store.lines, $0.store.privateKeys) == nil
        }
    }
  }

  /// Looks at every promise.
  func check() async throws {
    for device in devices where device.store.waitingCount > 0 {
      throw BrokenPromise(
        "\(device.name) still has \(device.store.waitingCount) changes to send")
    }
    for account in Self.accounts {
      let cloud = try await cloudLines(of: account)
      for line in cloud.sorted(by: { $0.key < $1.key }) {
        journal.note("\(line.key): \(line.value)")
      }
      for device in devices where device.account == account {
        if let difference = Self.difference(device.store, cloud) {
          throw BrokenPromise("\(device.name) and the cloud differ: \(difference)")
        }
      }
      if let fault = (ledgers[account] ?? EditLedger()).fault(in: cloud, kind.rule) {
        throw BrokenPromise("\(account)'s \(fault)")
      }
      try searchForOthers(account)
    }
  }

  /// What a device of `account` sees that was never there before: all that the cloud holds.
  private func cloudLines(of account: String) async throws -> [String: String] {
    let link = server.device("\(account)'s auditor", signedInAs: account)
    let device = SimulatedDevice(
      account: account, number: 9, offset: 0, rate: 1,
      folder: home.appendingPathComponent("\(account)-auditor"), link: link,
      store: try kind.open(
        setting(
          account, 9, folder: home.appendingPathComponent("\(account)-auditor"), link: link,
          offset: 0, rate: 1)))
    for _ in 0..<2 {
      await device.store.sync()
      await lane.settle()
    }
    defer { forget(device) }
    let lines = device.store.lines
    await device.store.quit()
    return lines
  }

  private static func difference(
    _ store: any SimulatedStore, _ cloud: [String: String], _ others: Set<String> = []
  ) -> String? {
    let lines = store.lines
    let own = store.privateKeys.union(others)
    for key in Set(lines.keys).union(cloud.keys).sorted()
    where lines[key] != cloud[key] && !own.contains(key) {
      return "\(key) is \(lines[key] ?? "absent") here and \(cloud[key] ?? "absent") there"
    }
    return nil
  }

  /// Searches the files of an account's devices for the words of the others.
  private func searchForOthers(_ account: String) throws {
    let words = Self.accounts.filter { $0 != account }.flatMap { other in
      Self.spellings(of: DeviceSetting.mark(of: other))
    }
    for device in devices where device.account == account {
      if device.store.lines.values.contains(where: { line in words.contains(where: line.contains) })
      {
        throw BrokenPromise("\(device.name) shows what belongs to somebody else")
      }
      for name in try names(in: device.folder) {
        if name.hasSuffix(".new") { throw BrokenPromise("\(device.name) left the draft \(name)") }
        let file = device.folder.appendingPathComponent(name)
        guard let data = FileManager.default.contents(atPath: file.path) else { continue }
        if words.contains(where: { data.range(of: Data($0.utf8)) != nil }) {
          throw BrokenPromise("\(device.name) keeps what belongs to somebody else in \(name)")
        }
      }
    }
  }

  private func names(in folder: URL) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
  }

  /// The word as it is, and inside of Base64, where it may begin at each of three places.
  private static func spellings(of word: String) -> [String] {
    [word]
      + (0..<3).map { shift in
        let padded = Data(repeating: 0, count: shift) + Data(word.utf8)
        return String(padded.base64EncodedString().dropFirst(shift == 0 ? 0 : 4).dropLast(4))
      }
  }

  /// Ends all apps; nothing of them may be left.
  func end() async {
    for device in devices {
      await device.store.quit()
      forget(device)
    }
    devices = []
    await lane.settle()
    for store in gone where store.store != nil {
      journal.fail("the app of \(store.name) is still there after its end")
    }
    if server.controls.openRequestCount > 0 { journal.fail("a request is open after the end") }
    if server.knownDevices().contains(where: { $0.observerCount > 0 }) {
      journal.fail("somebody listens for pushes after the end")
    }
    server.close()
  }
}
