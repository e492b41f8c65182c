import CommandLineKit
import Foundation

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
  func seen() -> RecordTable

  /// What identifies the user's data.
  var traces: Traces { get }
}

extension StoreApp {
  static var recordTypes: [String] { [] }

  func start() {}

  /// The number of items of all kinds.
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
      guard let output, output.showsProgress else { return try await sync() }
      let progress = SyncProgress(self)
      return try await output.following {
        progress.line
      } while: {
        try await sync()
      }
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

/// The place where an app is opened: its folder and its device.
struct AppPlace: Sendable {
  /// The app's folder; it does not exist yet when the app is new on the device.
  let directory: URL

  /// The device, with its connection to the server.
  let device: ConnectedDevice

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
