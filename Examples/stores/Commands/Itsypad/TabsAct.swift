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
    let (phone, desk) = (try await phone(), try await desk())
    let app = try phone.app(ItsypadApp.self)
    let report = try app.tabs.takeOver(input.files, now: Date())
    let bytes = input.files.reduce(0) { $0 + $1.content.utf8.count }
    tell("\(count(report.added, "tab")), \(size(bytes)), from \(input.origin)")
    try await sync(ItsypadApp.self, on: phone) { "sent \(count($0.tabs.tabs.count, "tab"))" }
    try await sync(ItsypadApp.self, on: desk) { "received \(count($0.tabs.tabs.count, "tab"))" }
    try compare(ItsypadApp.self, phone, desk)
  }

  /// Both devices edit the same tabs without a network.
  fileprivate mutating func editTabsOffline() async throws {
    begin("tabs: both devices lose the network and edit the same ones")
    let (phone, desk) = (try await phone(), try await desk())
    let (onPhone, onDesk) = (try phone.app(ItsypadApp.self), try desk.app(ItsypadApp.self))
    let names = onPhone.tabs.tabs.prefix(3).map { ($0.id, $0.name) }
    guard names.count == 3 else { throw ToolError("the demo needs at least three files") }
    let now = Date()
    let failure = try await offline([phone, desk]) { () -> String? in
      let edits: [(ItsypadApp, String, Int, Double)] = [
        (onPhone, "phone", 0, 0), (onDesk, "desk", 0, 3),
        (onPhone, "phone", 1, 7), (onDesk, "desk", 1, 4),
      ]
      for (app, name, number, seconds) in edits {
        try app.tabs.edit(names[number].0, now: now.addingTimeInterval(seconds)) { tab in
          tab.content = "Edited on the \(name).\n" + tab.content
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
    let before = onDesk.activity.conflicts.count
    // The desk sends the tab the phone closed before it hears of that.
    try await settle(ItsypadApp.self, [phone, desk])
    for conflict in onDesk.activity.conflicts.dropFirst(before) {
      let name = names.first { $0.0.uuidString == conflict.name }?.1 ?? "another tab"
      tell("conflict on \(name): \(Self.ending(conflict.resolution))")
    }
    let winners = ["Edited on the desk.", "Edited on the phone.", "Kept: edited on the desk."]
    for (number, winner) in winners.enumerated() {
      for (app, name) in [(onPhone, "phone"), (onDesk, "desk")] {
        let content = app.tabs.tab(names[number].0)?.content ?? ""
        check(content.hasPrefix(winner), "\(names[number].1) on the \(name): \(winner)")
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
