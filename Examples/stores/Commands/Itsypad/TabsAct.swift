import CommandLineKit
import Foundation
import SyncSupport
import TabStore

extension DemoAct {
  /// Tabs of real files, edited on both sides of a lost network, and a crash.
  static let tabs = DemoAct { stage in
    try await stage.importTabs()
    try await stage.editTabsOffline()
    try await stage.crash()
  } addItem: { name, device in
    let tab = ScratchTab(id: UUID(), name: "\(name).md", content: name, lastModified: Date())
    try device.app(ItsypadApp.self).tabs.add(tab)
  }
}

extension DemoStage {
  /// Anna's phone takes in real files and sends them; her desk is new and gets everything.
  fileprivate mutating func importTabs() async throws {
    begin("tabs: anna's phone imports files, her desk gets them")
    let (phone, desk) = try await both(ItsypadApp.self)
    let report = try phone.app.tabs.takeOver(input.files, now: Date())
    let bytes = input.files.reduce(0) { $0 + $1.content.utf8.count }
    tell("\(count(report.added, "tab")), \(size(bytes)), from \(input.origin)")
    try await exchange(phone, desk) { count($0.tabs.tabs.count, "tab") }
    compare(phone, desk)
  }

  /// Both devices edit the same tabs without a network.
  fileprivate mutating func editTabsOffline() async throws {
    begin("tabs: both devices lose the network and edit the same ones")
    let (phone, desk) = try await both(ItsypadApp.self)
    let (onPhone, onDesk) = (phone.app, desk.app)
    let names = onPhone.tabs.tabs.prefix(3).map { ($0.id, $0.name) }
    guard names.count == 3 else { throw ToolError("the demo needs at least three files") }
    let now = Date()
    let failure = try await offline(phone, desk) { () -> String? in
      for (each, number, seconds) in [(phone, 0, 0.0), (desk, 0, 3), (phone, 1, 7), (desk, 1, 4)] {
        try each.app.tabs.edit(names[number].0, now: now.addingTimeInterval(seconds)) { tab in
          tab.content = "Edited on the \(each.device.name).\n" + tab.content
        }
      }
      try onPhone.tabs.close(names[2].0)
      try onDesk.tabs.updateContent(names[2].0, "Kept: edited on the desk.\n", now: now)
      do {
        _ = try await onPhone.sync()
        return nil
      } catch {
        return words(error)
      }
    }
    check(failure != nil, "a sync without a network fails")
    tell("sync on the phone: \(failure ?? "went well")")
    tell("waiting: \(onPhone.unsent) changes on the phone, \(onDesk.unsent) on the desk")
    let before = onDesk.activity
    // The desk sends the tab the phone closed before it hears of that.
    try await settle(phone, desk)
    for conflict in onDesk.activity.conflicts(since: before) {
      let name = names.first { $0.0.uuidString == conflict.name }?.1 ?? "another tab"
      tell("conflict on \(name): \(Self.ending(conflict.resolution))")
    }
    let winners = ["Edited on the desk.", "Edited on the phone.", "Kept: edited on the desk."]
    for (number, winner) in winners.enumerated() {
      for each in [phone, desk] {
        let content = each.app.tabs.tab(names[number].0)?.content ?? ""
        check(
          content.hasPrefix(winner), "\(names[number].1) on the \(each.device.name): \(winner)")
      }
    }
    tell("both devices show the later edit of each; the closed tab with an unsent edit lives")
  }

  private static func ending(_ resolution: SyncedStore.Activity.Resolution) -> String {
    switch resolution {
    case .serverWon: "the phone's edit is later and was taken"
    case .clientWon: "the desk's edit was kept and sent again, on top of the server's version"
    case .merged: "both were merged"
    case .equal: "both had the same"
    }
  }
}

extension DemoStage {
  /// The phone's app dies twice: before a change was sent, and before its answer arrived.
  fileprivate mutating func crash() async throws {
    begin("tabs: the phone's app dies, twice")
    try await close("phone")
    let name = "written-before-the-crash.md"
    let signal = try await dieAfterAdding(name, "Nobody sent this yet.")
    check(signal == SIGKILL, "the child was killed")
    tell("a process opened a tab and was killed (signal \(signal)) before anything was sent")
    let second = "Edited; the answer to this was lost."
    if let reason = cloud.whyNoFaults { tell("left out, as \(reason): an answer that is lost") }
    try await loseAnAnswer(name, second)
    // Nothing was said to the old app: whatever it had only in memory is gone.
    drop("phone")
    let (again, desk) = try await both(ItsypadApp.self)
    tell("the next launch counts \(count(again.app.unsent, "unsent change")), and settles it")
    for each in [again, desk] {
      _ = try await each.app.sync()
      let arrived = each.app.tabs.tabs.filter { $0.name == name }
      check(
        arrived.map(\.content) == [second],
        "the edit is on the \(each.device.name), exactly once")
    }
    tell("on both devices the tab is there exactly once, with the edit")
  }

  /// Sends what the dead process left, then an edit whose answer never arrives.
  private mutating func loseAnAnswer(_ name: String, _ content: String) async throws {
    let app = try await phone().app(ItsypadApp.self)
    tell("the next launch finds \(count(app.unsent, "unsent change")) on the disk and sends it")
    check(app.unsent == 1, "the killed process left one unsent change")
    _ = try await app.sync()
    guard let tab = app.tabs.tabs.first(where: { $0.name == name }) else {
      check(false, "the tab of the killed process is there")
      return
    }
    try app.tabs.updateContent(tab.id, content, now: Date())
    guard cloud.whyNoFaults == nil else { return }
    try await cloud.dropAnswer(to: "phone")
    do {
      _ = try await app.sync()
      check(false, "a lost answer fails the sync")
    } catch {
      tell("an edit reaches the server, its answer does not: \(words(error))")
    }
  }

  /// Lets a process of its own add a tab on the phone and die.
  ///
  /// - Returns: the signal it died of, 0 when it did not.
  private func dieAfterAdding(_ name: String, _ text: String) async throws -> CInt {
    guard let program = Bundle.main.executableURL else {
      throw ToolError("cannot find this program's own file")
    }
    let process = Process()
    process.executableURL = program
    process.arguments = [
      "--home", place.url.path, "--device", "phone", "tabs", "add", name, "--text", text,
    ]
    // The device's folder is the demo's, whichever server the demo uses.
    var environment = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("CLOUDSYNC_")
    }
    environment[CrashPoint.afterCommand] = "1"
    process.environment = environment
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    return process.terminationReason == .uncaughtSignal ? process.terminationStatus : 0
  }
}
