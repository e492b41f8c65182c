import CloudSync
import CommandLineKit
import Foundation
import SyncSupport

/// The data of one app on a device: one folder with one or more stores.
///
/// The tool opens it for one command, the demo for longer. It syncs only when it is told to.
protocol StoreApp: Sendable {
  /// The app's name in files and in `--json`; its data is in `data/<name>` of a device's folder.
  static var name: String { get }

  /// The types of all its records in the zones of the user's private database.
  ///
  /// The demo compares them with the server, record by record. If it is empty, such as for records
  /// in the default zone, the demo compares with the content of a new device instead.
  static var recordTypes: [String] { get }

  /// Opens the data of the device; sends no request.
  init(_ place: AppPlace) throws

  /// The number of items of each kind, with the noun for one.
  ///
  /// Includes everything that is removed from the device when it leaves the account.
  var inventory: [(count: Int, noun: String)] { get }

  /// The number of changes that wait to be sent.
  var unsent: Int { get }

  /// Prepares for ``sync()``.
  func start() async throws

  /// Fetches and sends now, between ``start()`` and ``stop()``.
  ///
  /// - Throws: any error; ``words(_:)`` formats it.
  func sync() async throws -> SyncReport

  /// Ends syncing, after everything is written to the disk.
  func stop() async throws

  /// The content of the app, which must be equal to the byte on all devices of the account.
  var seen: RecordTable { get }

  /// The names and texts by which the user's data can be recognized.
  var traces: Traces { get }
}

extension StoreApp {
  static var recordTypes: [String] { [] }

  func start() {}

  var itemCount: Int { inventory.reduce(0) { $0 + $1.count } }

  /// Runs `body`, then stops the app, also if `body` throws.
  func stopping<Result>(_ body: () async throws -> Result) async throws -> Result {
    let result: Result
    do {
      result = try await body()
    } catch {
      try await stop()
      throw error
    }
    try await stop()
    return result
  }

  /// Starts, syncs and stops.
  ///
  /// - Parameter output: where progress is shown.
  func syncOnce(showingOn output: Output? = nil) async throws -> SyncReport {
    try await start()
    return try await stopping {
      guard let output else { return try await sync() }
      return try await output.following(self) { try await sync() }
    }
  }
}

/// Names and texts that show whose data was on a device.
struct Traces {
  /// Names of records and other unique words.
  var names: [String]
  /// Texts, of which one distinctive line is searched for.
  var texts: [String]
}

/// The result of a sync or a measurement: a document for `--json`, and lines of text.
struct SyncReport: Sendable {
  var document: Document
  var words: String

  init(_ document: Document, _ words: String) {
    self.document = document
    self.words = words
  }

  /// A status made of facts: each is a field for `--json`, and a line of text if it has one.
  init(_ facts: [(name: String, value: (any Encodable & Sendable)?, line: String?)]) {
    document = [:]
    for fact in facts { document[fact.name] = fact.value }
    words = facts.compactMap(\.line).joined(separator: "\n")
  }

  /// The report of a sync of a ``SyncedStore``: what changed in `activity` since `before`.
  init(
    _ store: String, _ activity: SyncedStore.Activity, since before: SyncedStore.Activity,
    unsent: Int
  ) {
    let sent = activity.saved - before.saved
    let deletionsSent = activity.deleted - before.deleted
    let received = activity.received - before.received
    let deletionsReceived = activity.removed - before.removed
    let conflicts = activity.conflicts(since: before)
    var parts = ["sent \(sent), received \(received)"]
    if deletionsSent + deletionsReceived > 0 {
      parts.append("deletions sent \(deletionsSent), received \(deletionsReceived)")
    }
    let real = conflicts.filter { $0.resolution != .equal }
    if !real.isEmpty {
      let won = real.count { $0.resolution == .clientWon }
      parts.append(
        "\(count(real.count, "conflict")): \(won) kept this device's version, "
          + "\(real.count - won) the other one")
    }
    if unsent > 0 { parts.append("\(count(unsent, "change")) not sent yet") }
    self.init(
      [
        "store": store, "sent": sent, "deletionsSent": deletionsSent, "received": received,
        "deletionsReceived": deletionsReceived, "conflicts": conflicts, "unsent": unsent,
      ], "\(store): " + parts.joined(separator: " · "))
  }
}

/// The place where an app is opened: its folder and its device.
struct AppPlace: Sendable {
  /// The app's folder; it does not exist yet when the app is new on the device.
  let directory: URL

  let device: ConnectedDevice

  /// The apps' container, on the connection of the device.
  func container() throws -> CKContainer { try device.link().container }

  /// The line of a status that names the account.
  var accountLine: String { "account: \(device.account.map(printable) ?? "none")" }

  /// The error of a sync that failed for `reason`, or because no account is signed in.
  func failure(_ reason: String) -> ToolError {
    device.account == nil ? .noAccount : ToolError(reason, code: ExitCode.unavailable)
  }
}

extension ToolError {
  /// The error of a sync on a device without an account.
  static let noAccount = ToolError(
    "no account is signed in on this device; run: stores account switch NAME",
    code: ExitCode.noPermission)
}

/// The line of a status about the last sync.
func lastSyncLine(_ date: Date?) -> String { "last sync: \(date.map(timestamp) ?? "never")" }

extension Output {
  /// Shows the progress of a sync of `app` while `body` runs: the changes sent or the items
  /// received, whichever changed last.
  ///
  /// The number of changes to send is known at the start, the number of items to receive is not.
  func following<App: StoreApp, Result>(
    _ app: App, while body: () async throws -> Result
  ) async throws -> Result {
    guard let bar = progressBar() else { return try await body() }
    let start = (unsent: app.unsent, items: app.itemCount)
    let drawing = Task {
      var last = start
      var line = ProgressLine("syncing \(App.name)", "item", done: nil)
      while !Task.isCancelled {
        let now = (unsent: app.unsent, items: app.itemCount)
        if now.unsent < last.unsent {
          let sent = start.unsent - now.unsent
          line = ProgressLine("\(App.name): sent", "change", done: sent, of: start.unsent)
        } else if now.items > last.items {
          line = ProgressLine("\(App.name): received", "item", done: now.items - start.items)
        }
        last = now
        bar.show(line)
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
