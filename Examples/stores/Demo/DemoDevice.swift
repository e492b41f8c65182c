import CloudSync
import CommandLineKit
import Foundation

/// One device of the demo: a session that stays open, and its started apps.
struct DemoDevice: Sendable {
  let name: String
  let account: String
  let session: Session
  let link: LinkedDevice
  let apps: [any StoreApp]

  /// Starts the device called `name`, signed in as `account`, with the apps of some stores.
  init(
    _ home: Home, _ cloud: some Cloud, _ name: String, account: String, stores: [Store]
  ) async throws {
    self.name = name
    self.account = account
    session = try await Session(home, device: name, account: account, cloud: cloud)
    link = try session.device.link()
    apps = try session.apps(of: stores)
    for app in apps { try await app.start() }
  }

  /// One of its apps.
  ///
  /// - Throws: `ToolError` if the demo runs without it.
  func app<App: StoreApp>(_ type: App.Type) throws -> App {
    guard let app = apps.lazy.compactMap({ $0 as? App }).first else {
      throw ToolError("this demo has no \(App.name)")
    }
    return app
  }

  /// Connects the device to the network, or disconnects it.
  func setOnline(_ isOnline: Bool) { link.device.setOnline(isOnline) }

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
    Dictionary(uniqueKeysWithValues: apps.map { (type(of: $0).name, $0.seen()) })
  }

  /// What identifies the user's data, of all apps.
  var traces: Traces {
    apps.reduce(into: Traces(names: [], texts: [])) { all, app in
      let traces = app.traces
      all.names += traces.names
      all.texts += traces.texts
    }
  }
}
