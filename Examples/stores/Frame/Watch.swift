import CloudSync
import CommandLineKit
import Foundation

/// Syncs repeatedly and prints changes by any device or command.
///
/// The device is opened and closed each time, so that other commands can use it in between. With an
/// HTTP server it syncs after a push, if there are pending changes, or if the last sync failed.
struct Watch<App: StoreApp>: Sendable {
  private let watching: Watching<App>
  private let invocation: Invocation

  /// The maximum number of looks without a sync, since a push may be lost.
  private static var patience: Int { 30 }

  init(_ watching: Watching<App>, _ invocation: Invocation) {
    self.watching = watching
    self.invocation = invocation
  }

  /// The state between two looks.
  private struct Progress {
    let wakeups = WatchWakeups()
    var line: PushLine?
    var looksWithoutSync = Watch.patience
    var hasSynced = false
  }

  /// Watches until the user interrupts the program.
  ///
  /// - Parameter list: called after the first look, such as to print all items.
  /// - Returns: the exit code 0.
  func runUntilInterrupted(
    first list: @escaping @Sendable () async throws -> Void = {}
  ) async throws -> CInt {
    let task = Task { try await run(first: list) }
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { task.cancel() }
      source.resume()
      return source
    }
    defer { for source in sources { source.cancel() } }
    do { try await task.value } catch is CancellationError {}
    return 0
  }

  private func run(first list: () async throws -> Void) async throws {
    let output = invocation.output
    var progress = Progress()
    var known: [Watching<App>.Item]?
    var lastProblem: String?
    repeat {
      let (items, problem) = try await look(&progress)
      if let problem, problem != lastProblem { output.note(problem) }
      lastProblem = problem
      if let known {
        try show(from: known, to: items)
      } else {
        // A change in the meantime is shown twice: here, and at the next look.
        try await list()
        output.note(
          "watching \(count(items.count, watching.noun)) of \(invocation.device); "
            + "interrupt to end")
      }
      known = items
    } while await progress.wakeups.wait()
  }

  private func look(
    _ progress: inout Progress
  ) async throws -> (items: [Watching<App>.Item], problem: String?) {
    let session = try await Session(
      invocation.home, device: invocation.device, account: invocation.account)
    // The device is locked during the look only.
    defer { withExtendedLifetime(session) {} }
    let app = try session.app(App.self)
    do {
      if try await isTimeToSync(session, app, &progress) {
        progress.looksWithoutSync = Watch.patience
        _ = try await session.sync(
          App.self, showingOn: progress.hasSynced ? nil : invocation.output)
        progress.hasSynced = true
        progress.looksWithoutSync = 0
      }
      return (try watching.items(app), nil)
    } catch {
      // A device that is offline or signed out is watched on.
      return (try watching.items(app), words(error))
    }
  }

  private func isTimeToSync(
    _ session: Session, _ app: App, _ progress: inout Progress
  ) async throws -> Bool {
    guard let address = invocation.home.server else { return true }
    if progress.line?.account != session.account {
      progress.line = nil
      progress.looksWithoutSync = Watch.patience
      if let account = session.account {
        do {
          progress.line = try await PushLine(
            address, device: invocation.device, account: account,
            subscriptions: watching.subscriptions, wakeups: progress.wakeups)
        } catch let error as CKError { throw address.refusal(error) }
      }
    }
    progress.looksWithoutSync += 1
    return progress.wakeups.takePush() || app.unsent > 0
      || progress.looksWithoutSync > Watch.patience
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

  /// A change as text: shortened on a terminal, else complete.
  private func line(_ time: String, _ change: String, _ item: Watching<App>.Item) -> String {
    let terminal = invocation.output.terminal
    guard let width = terminal.width else { return "\(time)  \(change) \(item.row.words)" }
    let clock = time.dropFirst(11).prefix(8)
    // IDs are shortened as in lists.
    let words = item.row.words
    let isNamed = UUID(uuidString: item.id) != nil && words.hasPrefix(item.id)
    let shown = isNamed ? item.id.prefix(8) + words.dropFirst(item.id.count) : words[...]
    let head = "\(clock)  \(change) "
    let cut = shown.cut(to: max(0, width - head.displayWidth))
    return terminal.styled(String(clock), .dim) + "  " + terminal.styled(change, .bold) + " " + cut
  }
}
