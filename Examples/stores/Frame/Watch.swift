import CloudSync
import CommandLineKit
import Foundation

/// Syncs again and again and shows what changed, by whichever device or command.
///
/// Each look opens the device anew and lets go of it, so that other commands can act as the same
/// device meanwhile. A server by HTTP is asked when it sent a push, there is something to send, or
/// the last time went wrong.
struct Watch<App: StoreApp>: Sendable {
  private let watching: Watching<App>
  private let invocation: Invocation

  /// How long to wait between two looks.
  var interval = Duration.seconds(1)

  /// How many looks at most go without asking the server: a push is a hint and may be lost.
  private static var patience: Int { 30 }

  /// Watches a store as the device of a call of the tool.
  init(_ watching: Watching<App>, _ invocation: Invocation) {
    self.watching = watching
    self.invocation = invocation
  }

  /// What is kept from one look to the next.
  private struct Progress {
    var line: PushLine?
    var looksWithoutSync = Watch.patience
    var hasSynced = false
  }

  /// Watches until the task is cancelled.
  ///
  /// - Parameter list: what to do after the first look, such as showing all there is then.
  func run(first list: () async throws -> Void = {}) async throws {
    let output = invocation.output
    let bell = Bell(every: interval)
    var progress = Progress()
    var known: [Watching<App>.Item]?
    var lastProblem: String?
    bell.ring()
    for await _ in bell.rings {
      let (items, problem) = try await look(&progress, bell)
      if let problem, problem != lastProblem { output.note(problem) }
      lastProblem = problem
      if let known {
        try show(from: known, to: items)
      } else {
        // What changes meanwhile is shown twice: here, and at the next look.
        try await list()
        output.note(
          "watching \(count(items.count, watching.noun)) of \(invocation.device); "
            + "interrupt to end")
      }
      known = items
    }
  }

  private func look(
    _ progress: inout Progress, _ bell: Bell
  ) async throws -> (items: [Watching<App>.Item], problem: String?) {
    let session = try await Session(
      invocation.home, device: invocation.device, account: invocation.account)
    // The device stays locked for the look, and is free between two.
    defer { withExtendedLifetime(session) {} }
    let app = try session.app(App.self)
    do {
      if try await isTimeToSync(session, app, &progress, bell) {
        progress.looksWithoutSync = Watch.patience
        _ = try await session.sync(
          App.self, showingOn: progress.hasSynced ? nil : invocation.output)
        progress.hasSynced = true
        progress.looksWithoutSync = 0
      }
      return (try watching.items(app), nil)
    } catch {
      // Being offline or signed out is a reason to look again, not to end.
      return (try watching.items(app), words(error))
    }
  }

  private func isTimeToSync(
    _ session: Session, _ app: App, _ progress: inout Progress, _ bell: Bell
  ) async throws -> Bool {
    guard case .web(let address) = invocation.home.server else { return true }
    if progress.line?.account != session.account {
      progress.line = nil
      progress.looksWithoutSync = Watch.patience
      if let account = session.account {
        do {
          progress.line = try await PushLine(
            address, device: invocation.device, account: account,
            subscriptions: watching.subscriptions
          ) { [weak bell] in bell?.ring() }
        } catch let error as CKError { throw address.refusal(error) }
      }
    }
    progress.looksWithoutSync += 1
    return bell.takeNews() || app.unsent > 0 || progress.looksWithoutSync > Watch.patience
  }

  private func show(
    from known: [Watching<App>.Item], to items: [Watching<App>.Item]
  ) throws {
    let before = Dictionary(
      known.map { ($0.id, $0.state) }, uniquingKeysWith: { first, _ in first })
    for item in items where before[item.id] != item.state {
      try show(before[item.id] == nil ? watching.added : watching.changed, item)
    }
    let now = Set(items.map(\.id))
    for item in known where !now.contains(item.id) { try show(watching.removed, item) }
  }

  private func show(_ change: String, _ item: Watching<App>.Item) throws {
    let time = Date()
    if invocation.output.isJSON {
      let document: Document = [
        "time": time, "change": change, watching.noun: item.row.document,
      ]
      Output.write(try Output.json(document, isPretty: false) + "\n")
    } else {
      Output.write(line(timestamp(time), change, item) + "\n")
    }
  }

  /// A change for people: on a terminal as short as it can be, elsewhere in full.
  private func line(_ time: String, _ change: String, _ item: Watching<App>.Item) -> String {
    let terminal = invocation.output.terminal
    guard let width = terminal.width else { return "\(time)  \(change) \(item.row.words)" }
    let clock = time.dropFirst(11).prefix(8)
    // As lists show an ID; by itself this is enough to name the item.
    let words = item.row.words
    let isNamed = UUID(uuidString: item.id) != nil && words.hasPrefix(item.id)
    let shown = isNamed ? item.id.prefix(8) + words.dropFirst(item.id.count) : words[...]
    let head = "\(clock)  \(change) "
    let cut = shown.cut(to: max(0, width - head.displayWidth))
    return terminal.styled(String(clock), .dim) + "  " + terminal.styled(change, .bold) + " " + cut
  }
}
