import CommandLineKit
import Foundation

/// A store's part of the demo.
///
/// After the acts, the demo changes the account of a device, searches it for remaining data, syncs
/// all devices, and compares them with the server.
struct DemoAct: Sendable {
  /// Runs the act: numbered scenes, each begun with ``DemoStage/begin(_:)``.
  ///
  /// It leaves the devices that it uses online and running.
  var play: @Sendable (inout DemoStage) async throws -> Void

  /// Adds one item called `name` for the account of the device.
  var addItem: @Sendable (_ name: String, DemoDevice) async throws -> Void
}

struct DemoApp<App: StoreApp>: Sendable {
  let device: DemoDevice
  let app: App
}

/// One device of the demo: a session that stays open, and its started apps.
struct DemoDevice: Sendable {
  let name: String
  let account: String
  let session: Session
  let link: CloudDevice
  let apps: [any StoreApp]

  /// Starts the device called `name`, signed in as `account`, with the apps of some stores.
  init(
    _ home: Home, _ cloud: Cloud, _ name: String, account: String, stores: [Store]
  ) async throws {
    self.name = name
    self.account = account
    session = try await Session(home, device: name, account: account, cloud: cloud)
    link = try session.device.link()
    apps = try session.apps(of: stores)
    for app in apps { try await app.start() }
  }

  func app<App: StoreApp>(_ type: App.Type) throws -> App { try session.app(type) }

  func with<App: StoreApp>(_ type: App.Type) throws -> DemoApp<App> {
    DemoApp(device: self, app: try app(type))
  }

  /// The number of changes of all apps that wait to be sent.
  var unsent: Int { apps.reduce(0) { $0 + $1.unsent } }

  /// Syncs all apps.
  ///
  /// - Throws: the error of the first app that fails.
  func sync() async throws {
    for app in apps { _ = try await app.sync() }
  }

  /// Stops the apps.
  func close() async throws {
    for app in apps { try await app.stop() }
  }

  /// The content of each app, by the app's name.
  var seen: [String: RecordTable] {
    Dictionary(uniqueKeysWithValues: apps.map { (type(of: $0).name, $0.seen) })
  }

  /// The names and texts by which the user's data can be recognized, of all apps.
  var traces: Traces {
    let traces = apps.map(\.traces)
    return Traces(names: traces.flatMap(\.names), texts: traces.flatMap(\.texts))
  }
}
