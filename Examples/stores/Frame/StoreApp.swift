import CommandLineKit
import Foundation

/// What one app keeps and syncs on a device: one folder, and one store in it or several.
///
/// The tool opens it for the time of a command, and the demo for longer. It is told when to sync
/// and never syncs by itself.
protocol StoreApp: Sendable {
  /// Its name in files and in `--json`: the app's data is in `data/<name>` of a device's folder.
  static var name: String { get }

  /// The types of all its records in the user's private zones, for the demo to compare what is on
  /// a device with what the server holds, record by record.
  ///
  /// Empty where that can't be told so easily, such as with records in the default zone: then the
  /// demo compares with a device that was never there before.
  static var recordTypes: [String] { get }

  /// Opens what the device has; nothing is asked of the server, nothing synced.
  init(_ place: AppPlace) throws

  /// What people have here, for each kind of item: how many, and what one is called.
  ///
  /// Includes all that is gone from the device when it leaves the account.
  var inventory: [(count: Int, noun: String)] { get }

  /// How many changes wait to be sent.
  var unsent: Int { get }

  /// Begins syncing when told.
  func start() async throws

  /// Fetches and sends now, between ``start()`` and ``stop()``.
  ///
  /// - Throws: what went wrong; ``words(_:)`` says it to people.
  func sync() async throws -> any SyncReport

  /// Ends syncing in good order; all that is known is written down.
  func stop() async throws

  /// Everything people see here that other devices of the account should have to the byte.
  func seen() -> RecordTable

  /// What would tell somebody else whose data was here.
  var traces: Traces { get }
}

extension StoreApp {
  static var recordTypes: [String] { [] }

  /// How many items there are of all kinds.
  var itemCount: Int { inventory.reduce(0) { $0 + $1.count } }
}

/// What would tell somebody else whose data was on a device.
struct Traces {
  /// Names of records and other words nobody else has.
  var names: [String]
  /// Texts, of which a telling line is looked for.
  var texts: [String]
}

/// What a sync did.
protocol SyncReport: Encodable, Sendable {
  /// One line for people, without a line break.
  var words: String { get }
}

/// Where an app is opened: its folder on a device, and the device's way to the server.
struct AppPlace: Sendable {
  /// The app's own folder; nobody made it yet when the app is new on the device.
  let directory: URL

  /// The device that is at work, with the way to the server.
  let device: ConnectedDevice
}
