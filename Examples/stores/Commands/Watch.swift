import CommandLineKit
import Foundation
import SyncSupport
import TabStore

/// One change that `watch` shows.
struct WatchDocument: Encodable {
  var time: Date
  var change: String
  var tab: TabDocument
}

/// Syncs again and again and shows what changed, by whichever device or command.
///
/// Each look opens the device anew and lets go of it, so that other commands can act as the same
/// device meanwhile.
struct Watch: Sendable {
  let home: Home
  let device: String
  let account: String?
  let output: Output

  /// How long to wait between two looks.
  var interval = Duration.seconds(1)

  /// Watches until the task is cancelled.
  func run() async throws {
    var known: [UUID: ScratchTab]?
    var lastProblem: String?
    while !Task.isCancelled {
      let (tabs, problem) = try await look()
      if let problem, problem != lastProblem { output.note(problem) }
      lastProblem = problem
      let now = Dictionary(tabs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      if let known {
        try show(from: known, to: tabs, now)
      } else {
        output.note("watching \(count(tabs.count, "tab")) of \(device); interrupt to end")
      }
      known = now
      do { try await Task.sleep(for: interval) } catch { return }
    }
  }

  private func look() async throws -> (tabs: [ScratchTab], problem: String?) {
    let session = try await Session(home, device: device, account: account)
    do {
      _ = try await session.syncItsypad(session.link(), store: "tabs")
      return (session.tabs.tabs, nil)
    } catch {
      // Being offline or signed out is a reason to look again, not to end.
      return (session.tabs.tabs, words(error))
    }
  }

  private func show(
    from known: [UUID: ScratchTab], to tabs: [ScratchTab], _ now: [UUID: ScratchTab]
  ) throws {
    for tab in tabs where known[tab.id] != tab {
      try show(known[tab.id] == nil ? "opened" : "changed", tab)
    }
    let gone = known.values.filter { now[$0.id] == nil }
    for tab in gone.sorted(by: { $0.name < $1.name }) { try show("closed", tab) }
  }

  private func show(_ change: String, _ tab: ScratchTab) throws {
    let document = WatchDocument(
      time: Date(), change: change, tab: TabDocument(tab, unsent: false))
    if output.isJSON {
      Output.write(try Output.json(document, isPretty: false) + "\n")
    } else {
      Output.write("\(timestamp(document.time))  \(change) \(document.tab.words)\n")
    }
  }
}
