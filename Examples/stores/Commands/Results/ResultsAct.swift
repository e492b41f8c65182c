import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport

extension DemoAct {
  /// Texts people share, streaks, and the same result on two devices.
  static let results = DemoAct { stage in
    try await stage.collect()
  } addItem: { _, device in
    let text = "Wordle 1,111 4/6\n\n⬛⬛🟨⬛⬛\n🟨⬛⬛🟩⬛\n⬛🟩🟩🟩⬛\n🟩🟩🟩🟩🟩"
    try device.app(ResultsApp.self).store.add(sharedText: text)
  }
}

extension DemoStage {
  fileprivate mutating func collect() async throws {
    begin("results: texts people share, and the same one on two devices")
    let (phone, desk) = try await both(ResultsApp.self)
    let report = try phone.app.store.importResults(from: input.shareTexts)
    let games = Set(report.added.map(\.gameName)).count
    tell(
      "\(count(report.added.count, "result")) of \(games) games, from texts people share; "
        + "\(report.problems.count) unreadable")
    check(games >= 6, "results of at least six games were read")
    try await exchange(phone, desk) { count($0.store.results.count, "result") }
    compare(phone, desk)
    if let streak = desk.app.store.streaks().max(by: { $0.maxStreak < $1.maxStreak }) {
      tell("streaks are computed on each device: \(streak.gameName), longest \(streak.maxStreak)")
    }
    try await offline(phone, desk) {
      for device in [phone, desk] {
        try device.app.store.add(
          sharedText: "Wordle 1,112 3/6\n\n⬛⬛🟨⬛⬛\n⬛🟩🟩🟩⬛\n🟩🟩🟩🟩🟩")
      }
    }
    try await settle(phone, desk)
    let (here, there) = (phone.app.store.results.count, desk.app.store.results.count)
    let once = here == report.added.count + 1
    check(once && there == here, "it is there once")
    tell("the same text, pasted on both without a network, is one result: \(yesOrNo(once))")
  }
}
