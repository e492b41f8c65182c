import CloudSync
import CommandLineKit
import Foundation

/// One device of the demo: a session that stays open, with all apps syncing when told.
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
  /// - Throws: `ToolError` when the demo plays without it.
  func app<App: StoreApp>(_ type: App.Type) throws -> App {
    guard let app = apps.lazy.compactMap({ $0 as? App }).first else {
      throw ToolError("this demo has no \(App.name)")
    }
    return app
  }

  /// Lets the device have a network, or none.
  func setOnline(_ isOnline: Bool) { link.device.setOnline(isOnline) }

  /// Changes that wait to be sent, of all apps.
  var unsent: Int { apps.reduce(0) { $0 + $1.unsent } }

  /// Syncs all apps.
  ///
  /// - Throws: what the first of them said that could not.
  func sync() async throws {
    for app in apps { _ = try await app.sync() }
  }

  /// Ends the apps on this device in good order.
  func close() async throws {
    for app in apps { try await app.stop() }
  }

  /// What people see in each app, by the app's name.
  var seen: [String: RecordTable] {
    Dictionary(uniqueKeysWithValues: apps.map { (type(of: $0).name, $0.seen()) })
  }

  /// What would tell somebody else whose data is here.
  var traces: Traces {
    apps.reduce(into: Traces(names: [], texts: [])) { all, app in
      let traces = app.traces
      all.names += traces.names
      all.texts += traces.texts
    }
  }
}
