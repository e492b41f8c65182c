import CloudSyncTesting
import Foundation
import LoopbackServer
import SimulationSupport

/// How a world ends: the faults stop, everybody syncs, and every promise is looked at.
extension StoreWorld {
  private static let mostRounds = 12

  /// Ends all faults and lets everybody sync until nothing moves any more.
  func heal() async throws {
    journal.say("all faults end")
    server.controls.clear()
    server.controls.setLimits(ServerLimits())
    for device in devices { device.link.isOnline = true }
    await executor.pass(.seconds(1_200))
    for round in 1...Self.mostRounds {
      for device in devices {
        journal.say("\(device.name) syncs, round \(round)")
        if round > 3 { try device.store.giveUpRefused() }
        await device.store.sync()
        await executor.settle()
        tellRequests()
      }
      await executor.pass(.seconds(400))
      if round > 1, isQuiet { return }
    }
  }

  private var isQuiet: Bool {
    devices.allSatisfy { $0.store.waitingCount() == 0 } && disagreement == nil
  }

  /// The first difference between devices that must agree.
  private var disagreement: String? {
    for device in devices {
      for other in devices where other !== device {
        if let difference = Self.difference(device, other) {
          return "\(device.name) and \(other.name) differ: \(difference)"
        }
      }
    }
    return nil
  }

  /// Looks at every promise.
  func check() async throws {
    try checkContradictions()
    for device in devices where device.store.waitingCount() > 0 {
      throw BrokenPromise(
        "\(device.name) still has \(device.store.waitingCount()) changes to send: "
          + device.store.trouble())
    }
    if let disagreement { throw BrokenPromise(disagreement) }
    for account in Self.accounts {
      let cloud = try await auditor(of: account)
      for line in cloud.store.lines.sorted(by: { $0.key < $1.key }) {
        journal.note("\(line.key): \(line.value)")
      }
      for device in devices where device.account == account {
        if let difference = Self.difference(device, cloud) {
          throw BrokenPromise("\(device.name) and the cloud differ: \(difference)")
        }
      }
      let history = histories[account] ?? EditHistory()
      if !options.isShared || kind.keepsAccountsApart,
        let fault = history.fault(in: cloud.store.lines, kind)
      {
        throw BrokenPromise("\(account)'s \(fault)")
      }
      await cloud.store.quit()
      forget(cloud)
      if !options.isShared { try searchForOthers(account) }
    }
  }

  /// A device of `account` that was never there before, with all that the cloud holds.
  private func auditor(of account: String) async throws -> StoreDevice {
    let link = server.device("\(account)'s auditor", signedInAs: account)
    let folder = home.appendingPathComponent("\(account)-auditor")
    let device = try open(account, 9, folder: folder, link: link)
    for _ in 0..<2 {
      await device.store.sync()
      await executor.settle()
    }
    return device
  }

  /// In what two devices differ that must agree.
  private static func difference(_ first: StoreDevice, _ second: StoreDevice) -> String? {
    guard first.account == second.account else {
      return difference(first.store.sharedLines, second.store.sharedLines, besides: [])
    }
    let own = first.store.privateKeys().union(second.store.privateKeys())
    if let found = difference(first.store.lines, second.store.lines, besides: own) { return found }
    let (text, other) = (first.store.canonicalText(), second.store.canonicalText())
    return text == other ? nil : "\(text) here and \(other) there"
  }

  private static func difference(
    _ lines: [String: String], _ others: [String: String], besides own: Set<String>
  ) -> String? {
    for key in Set(lines.keys).union(others.keys).sorted()
    where lines[key] != others[key] && !own.contains(key) {
      return "\(key) is \(lines[key] ?? "absent") here and \(others[key] ?? "absent") there"
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

  /// Leaves every device with a change that it can't send, so that its engine has a timer.
  private func leaveThingsUndone() async {
    journal.say("everybody is offline and edits")
    for device in devices {
      device.link.isOnline = false
      // Some edits need the cloud; the others are enough.
      try? await edit(device)
    }
    await executor.pass(.seconds(random.pick([0, 3])))
  }

  /// Ends all apps; nothing of them may be left.
  func end() async {
    if options.isAutomatic, random.below(2) == 0 { await leaveThingsUndone() }
    for device in devices {
      await device.store.quit()
      forget(device)
    }
    devices = []
    await executor.settle()
    for store in gone where store.app != nil {
      journal.fail("the app of \(store.name) is still there after its end")
    }
    if server.controls.openRequestCount > 0 { journal.fail("a request is open after the end") }
    if server.knownDevices().contains(where: { $0.observerCount > 0 }) {
      journal.fail("somebody listens for pushes after the end")
    }
    server.close()
  }
}
