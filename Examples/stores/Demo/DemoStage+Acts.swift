import ClipboardStore
import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport
import TabStore

extension DemoStage {
  /// Anna's phone takes in real files, share texts and copied lines, and sends them.
  mutating func importOnPhone() async throws {
    begin("The phone, signed in as anna, imports and sends")
    let phone = try await phone()
    let report = try phone.tabs.takeOver(input.files, now: Date())
    let bytes = input.files.reduce(0) { $0 + $1.content.utf8.count }
    tell("\(count(report.added, "tab")), \(size(bytes)), from \(input.origin)")
    let start = Date().addingTimeInterval(-Double(input.copied.count))
    try phone.clipboard.add(
      input.copied.enumerated().map {
        ClipboardEntry(
          id: UUID(), text: $1, timestamp: start.addingTimeInterval(Double($0)))
      })
    tell("\(count(input.copied.count, "clipboard entry")), lines of those files")
    let results = try phone.results.importResults(from: input.shareTexts)
    let games = Set(results.added.map(\.gameName)).count
    tell(
      "\(count(results.added.count, "result")) of \(games) games, from texts people share; "
        + "\(results.problems.count) unreadable")
    check(games >= 6, "results of at least six games were read")
    output.progress("sending")
    let cost = try await measure(phone) { try await phone.syncAll() }
    output.endProgress()
    tell("sent \(phone.records().rows.count) records: \(cost)")
  }

  /// Anna's desk is new and gets everything.
  mutating func fillDesk() async throws {
    begin("The desk signs in as anna and has it all")
    let (phone, desk) = (try await phone(), try await desk())
    output.progress("receiving")
    let cost = try await measure(desk) { try await desk.syncAll() }
    output.endProgress()
    let same = desk.records() == phone.records()
    check(same, "the desk has what the phone has")
    tell("received \(desk.records().rows.count) records: \(cost)")
    tell("the same as on the phone, to the byte: \(same ? "yes" : "no")")
    let streak = desk.results.streaks().max { $0.maxStreak < $1.maxStreak }
    if let streak {
      tell("streaks are computed on each device: \(streak.gameName), longest \(streak.maxStreak)")
    }
  }

  /// Both devices edit the same tabs without a network.
  mutating func editOffline() async throws {
    begin("Both lose the network and edit the same tabs")
    let (phone, desk) = (try await phone(), try await desk())
    let names = phone.tabs.tabs.prefix(3).map { ($0.id, $0.name) }
    guard names.count == 3 else { throw ToolError("the demo needs at least three files") }
    let now = Date()
    for device in [phone, desk] { device.link.device.setOnline(false) }
    let edits: [(DemoDevice, Int, Double)] = [
      (phone, 0, 0), (desk, 0, 3), (phone, 1, 7), (desk, 1, 4),
    ]
    for (device, number, seconds) in edits {
      try device.tabs.edit(names[number].0, now: now.addingTimeInterval(seconds)) { tab in
        tab.content = "Edited on the \(device.name).\n" + tab.content
      }
    }
    try phone.tabs.close(names[2].0)
    try desk.tabs.updateContent(names[2].0, "Kept: edited on the desk.\n", now: now)
    for device in [phone, desk] {
      try device.clipboard.add(
        ClipboardEntry(
          id: UUID(), text: "copied on the \(device.name), far from any network",
          timestamp: Date()))
    }
    do {
      try await phone.syncAll()
      check(false, "a sync without a network fails")
    } catch {
      tell("sync on the phone: \(words(error))")
    }
    tell("waiting: \(phone.unsent) changes on the phone, \(desk.unsent) on the desk")
    for device in [phone, desk] { device.link.device.setOnline(true) }
    let before = desk.sync.activity.conflicts.count
    // The desk sends the tab the phone closed before it hears of that.
    for device in [phone, desk, phone, desk] { try await device.syncAll() }
    for conflict in desk.sync.activity.conflicts.dropFirst(before) {
      let name = names.first { $0.0 == conflict.id }?.1 ?? "another tab"
      tell("conflict on \(name): \(Self.ending(conflict.resolution))")
    }
    let winners = ["Edited on the desk.", "Edited on the phone.", "Kept: edited on the desk."]
    for (number, winner) in winners.enumerated() {
      for device in [phone, desk] {
        let content = device.tabs.tab(names[number].0)?.content ?? ""
        check(content.hasPrefix(winner), "\(names[number].1) on the \(device.name): \(winner)")
      }
    }
    tell("both devices show the later edit of each; the closed tab with an unsent edit lives")
  }

  private static func ending(_ resolution: Verdict.Resolution) -> String {
    switch resolution {
    case .cloudWon: "the phone's edit is later and was taken"
    case .localWon: "the desk's edit was kept and sent again, on top of the server's version"
    case .equal: "both had the same"
    }
  }

  /// Somebody else signs in on the desk.
  mutating func switchAccounts() async throws {
    begin("ben signs in on anna's desk")
    let desk = try await desk()
    let annas = TraceSearch(of: desk)
    let before = try annas.search(desk)
    tell(
      "before: \(before.inMemory) of \(annas.count) traces of anna in memory, "
        + "\(before.inFiles) in \(before.files) files")
    check(before.inMemory == annas.count && before.inFiles == annas.count, "the search finds all")
    try await desk.link.device.signIn(as: "ben")
    try await desk.syncAll()
    let after = try annas.search(desk)
    tell(
      "after: \(after.inMemory) in memory, \(after.inFiles) in "
        + "\(after.files) files (\(size(after.bytes)) searched)")
    check(after.inMemory == 0 && after.inFiles == 0, "nothing of anna is left for ben")
    check(desk.records().rows.isEmpty, "ben starts with nothing")
    let tab = ScratchTab(
      id: UUID(), name: "ben.md", content: "ben was here", lastModified: Date())
    try desk.tabs.add(tab)
    try desk.results.add(sharedText: "Wordle 1,111 4/6\n\n⬛⬛🟨⬛⬛\n🟨⬛⬛🟩⬛\n⬛🟩🟩🟩⬛\n🟩🟩🟩🟩🟩")
    try await desk.syncAll()
    let bens = TraceSearch(of: desk)
    let (inCloud, annasInCloud) = (
      try await cloud.records(of: "ben").rows.count,
      try await cloud.records(of: "anna").rows.count
    )
    tell("ben adds a tab and a result; the server holds \(inCloud) records of ben's")
    check(inCloud == 2, "the server holds what ben added and nothing else")
    try await desk.link.device.signIn(as: "anna")
    try await desk.syncAll()
    let left = try bens.search(desk)
    check(left.inMemory == 0 && left.inFiles == 0, "nothing of ben is left for anna")
    check(desk.records().rows.count == annasInCloud, "anna has everything again")
    tell("anna signs in again: \(desk.records().rows.count) records back, nothing of ben's left")
  }
}
