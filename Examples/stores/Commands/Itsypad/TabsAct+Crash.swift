import CommandLineKit
import Foundation
import TabStore

extension DemoStage {
  /// The phone's app dies twice: before a change was sent, and before its answer arrived.
  mutating func crash() async throws {
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
    let (again, desk) = (try await self.phone(), try await desk())
    let unsent = try again.app(ItsypadApp.self).unsent
    tell("the next launch counts \(count(unsent, "unsent change")), and settles it")
    for device in [again, desk] {
      _ = try await device.app(ItsypadApp.self).sync()
      let arrived = try device.app(ItsypadApp.self).tabs.tabs.filter { $0.name == name }
      check(
        arrived.map(\.content) == [second], "the edit is on the \(device.name), exactly once")
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
