import CommandLineKit
import Synchronization

/// What a person at a terminal sees of a sync while it runs.
///
/// How much there is to send is known when it begins; how much there is to receive, nobody knows
/// before it is here.
final class SyncProgress: Sendable {
  private struct Figures {
    var unsent: Int
    var items: Int
  }

  private let app: any StoreApp
  private let start: Figures
  private let last: Mutex<(figures: Figures, line: ProgressLine)>

  /// The progress of a sync of `app` that begins now.
  init(_ app: any StoreApp) {
    self.app = app
    start = Figures(unsent: app.unsent, items: app.itemCount)
    last = Mutex((start, ProgressLine("syncing \(type(of: app).name)", "item", done: nil)))
  }

  /// How far it is: about whichever of the two changed last.
  var line: ProgressLine {
    let now = Figures(unsent: app.unsent, items: app.itemCount)
    let name = type(of: app).name
    return last.withLock { last in
      if now.unsent < last.figures.unsent {
        last.line = ProgressLine(
          "\(name): sent", "change", done: start.unsent - now.unsent, of: start.unsent)
      } else if now.items > last.figures.items {
        last.line = ProgressLine("\(name): received", "item", done: now.items - start.items)
      }
      last.figures = now
      return last.line
    }
  }
}

extension StoreApp {
  /// Starts, syncs and stops, whatever the sync comes to.
  ///
  /// - Parameter output: where somebody sees how far it is.
  func syncOnce(showingOn output: Output? = nil) async throws -> any SyncReport {
    try await start()
    let report: any SyncReport
    do {
      if let output, output.showsProgress {
        let progress = SyncProgress(self)
        report = try await output.following {
          progress.line
        } while: {
          try await sync()
        }
      } else {
        report = try await sync()
      }
    } catch {
      try await stop()
      throw error
    }
    try await stop()
    return report
  }
}

extension Output {
  /// Shows how far `body` is while it runs.
  ///
  /// - Parameter line: says it, ten times a second and on another thread than `body`.
  func following<Result>(
    _ line: @escaping @Sendable () -> ProgressLine, while body: () async throws -> Result
  ) async throws -> Result {
    guard let bar = progressBar() else { return try await body() }
    let drawing = Task {
      while !Task.isCancelled {
        bar.show(line())
        do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
      }
    }
    defer {
      drawing.cancel()
      bar.end()
    }
    return try await body()
  }
}
