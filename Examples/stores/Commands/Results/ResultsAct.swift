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
    let (phone, desk) = (try await phone(), try await desk())
    let (onPhone, onDesk) = (try phone.app(ResultsApp.self), try desk.app(ResultsApp.self))
    let report = try onPhone.store.importResults(from: input.shareTexts)
    let games = Set(report.added.map(\.gameName)).count
    tell(
      "\(count(report.added.count, "result")) of \(games) games, from texts people share; "
        + "\(report.problems.count) unreadable")
    check(games >= 6, "results of at least six games were read")
    try await sync(ResultsApp.self, on: phone) { "sent \(count($0.store.results.count, "result"))" }
    try await sync(ResultsApp.self, on: desk) {
      "received \(count($0.store.results.count, "result"))"
    }
    try compare(ResultsApp.self, phone, desk)
    if let streak = onDesk.store.streaks().max(by: { $0.maxStreak < $1.maxStreak }) {
      tell("streaks are computed on each device: \(streak.gameName), longest \(streak.maxStreak)")
    }
    try await offline([phone, desk]) {
      for app in [onPhone, onDesk] {
        try app.store.add(sharedText: "Wordle 1,112 3/6\n\n⬛⬛🟨⬛⬛\n⬛🟩🟩🟩⬛\n🟩🟩🟩🟩🟩")
      }
    }
    try await settle(ResultsApp.self, [phone, desk])
    let once = onPhone.store.results.count == report.added.count + 1
    check(once && onDesk.store.results.count == onPhone.store.results.count, "it is there once")
    tell("the same text, pasted on both without a network, is one result: \(once ? "yes" : "no")")
  }
}
