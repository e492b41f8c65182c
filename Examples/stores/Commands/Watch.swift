import ClipboardStore
import CloudSync
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
/// device meanwhile. A server by HTTP is asked when it sent a push, there is something to send, or
/// the last time went wrong.
struct Watch: Sendable {
  let home: Home
  let device: String
  let account: String?
  let output: Output

  /// How long to wait between two looks.
  var interval = Duration.seconds(1)

  /// How many looks at most go without asking the server: a push is a hint and may be lost.
  private static let patience = 30

  /// What is kept from one look to the next.
  private struct Progress {
    var line: PushLine?
    var looksWithoutSync = Watch.patience
  }

  /// Watches until the task is cancelled.
  func run() async throws {
    let bell = Bell(every: interval)
    var progress = Progress()
    var known: [UUID: ScratchTab]?
    var lastProblem: String?
    bell.ring()
    for await _ in bell.rings {
      let (tabs, problem) = try await look(&progress, bell)
      if let problem, problem != lastProblem { output.note(problem) }
      lastProblem = problem
      let now = Dictionary(tabs.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
      if let known {
        try show(from: known, to: tabs, now)
      } else {
        output.note("watching \(count(tabs.count, "tab")) of \(device); interrupt to end")
      }
      known = now
    }
  }

  private func look(
    _ progress: inout Progress, _ bell: Bell
  ) async throws -> (tabs: [ScratchTab], problem: String?) {
    let session = try await Session(home, device: device, account: account)
    do {
      if try await isTimeToSync(session, &progress, bell) {
        progress.looksWithoutSync = Watch.patience
        _ = try await session.syncItsypad(session.connect(), store: "tabs")
        progress.looksWithoutSync = 0
      }
      return (session.tabs.tabs, nil)
    } catch {
      // Being offline or signed out is a reason to look again, not to end.
      return (session.tabs.tabs, words(error))
    }
  }

  private func isTimeToSync(
    _ session: Session, _ progress: inout Progress, _ bell: Bell
  ) async throws -> Bool {
    guard case .web(let address) = home.server else { return true }
    if progress.line?.account != session.account {
      progress.line = nil
      progress.looksWithoutSync = Watch.patience
      if let account = session.account {
        do {
          progress.line = try await PushLine(address, device: device, account: account) {
            [weak bell] in bell?.ring()
          }
        } catch let error as CKError { throw address.refusal(error) }
      }
    }
    progress.looksWithoutSync += 1
    return bell.takeNews() || session.tabs.unsentCount + session.clipboard.unsentCount > 0
      || progress.looksWithoutSync > Watch.patience
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
