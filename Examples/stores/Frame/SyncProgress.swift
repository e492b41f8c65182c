import CommandLineKit
import Synchronization

/// The progress of a running sync, for a terminal.
///
/// The number of changes to send is known at the start, the number of items to receive is not.
final class SyncProgress: Sendable {
  private struct Figures {
    var unsent: Int
    var items: Int

    init(_ app: any StoreApp) {
      unsent = app.unsent
      items = app.itemCount
    }
  }

  private let app: any StoreApp
  private let start: Figures
  private let last: Mutex<(figures: Figures, line: ProgressLine)>

  /// The progress of a sync of `app` that begins now.
  init(_ app: any StoreApp) {
    self.app = app
    start = Figures(app)
    last = Mutex((start, ProgressLine("syncing \(type(of: app).name)", "item", done: nil)))
  }

  /// The current line: about the changes sent or the items received, whichever changed last.
  var line: ProgressLine {
    let now = Figures(app)
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

extension Output {
  /// Shows a progress line while `body` runs.
  ///
  /// - Parameter line: the line; called ten times a second, on another thread than `body`.
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
