import CommandLineKit
import Foundation
import SyncSupport
import Synchronization

/// One device during one command: its folder is locked, its apps are opened when they are needed.
///
/// The apps' data is in `data/` of the device's folder, so that leaving an account can remove all
/// of it at once.
final class Session: Sendable {
  /// The apps' container, the same on every device.
  static let container = "iCloud.com.example.stores"

  let device: ConnectedDevice
  private let locks: [FileLock]
  private let opened = Mutex<[String: any StoreApp]>([:])

  /// Opens the device called `name`, and creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - cloud: the server if it is already open, else the home's is used.
  ///   - seconds: the maximum time to wait for other commands.
  ///   - waiting: receives a message if there is something to wait for.
  /// - Throws: `ToolError` or `FileError`; nothing is changed then.
  init(
    _ home: Home, device name: String, account: String?, cloud: (any Cloud)? = nil,
    waitAtMost seconds: Double = 30, waiting: @Sendable (String) -> Void = { _ in }
  ) async throws {
    let folder = try home.folder(ofDevice: name)
    let homeLock = try await home.use(waitAtMost: seconds)
    try makeFolder(folder)
    let what = "the device \(quoted(name))"
    let deviceLock = try await FileLock(
      folder.appendingPathComponent("lock").path, .exclusive, what: what, waitAtMost: seconds
    ) { waiting("waiting for another stores command on \(what)") }
    locks = [homeLock, deviceLock]
    let file = DeviceSettings.file(in: folder)
    let known = try file.read()
    if let account {
      try DeviceSettings.check(account: account)
      if let known, known.account != account {
        let now = known.account.map { "signed in as \(quoted($0)); to change that" }
        throw ToolError(
          "\(what) is \(now ?? "signed out; to sign in"), run: "
            + "stores --device \(name) account switch \(account)")
      }
    }
    var settings = known ?? DeviceSettings(account: account ?? home.server.defaultAccount)
    if known == nil {
      if let account = settings.account { try DeviceSettings.check(account: account) }
      try file.write(settings)
    }
    if settings.isLeaving {
      try Self.removeData(folder)
      settings.isLeaving = false
      try file.write(settings)
    }
    device = ConnectedDevice(
      home, name: name, account: settings.account, folder: folder, cloud: cloud)
  }

  /// The account that is signed in, if any.
  var account: String? { device.account }

  /// One of the apps, opened at the first use.
  func app<App: StoreApp>(_ type: App.Type) throws -> App {
    let app = try opened.withLock { opened throws -> any StoreApp in
      if let app = opened[App.name] { return app }
      let directory = device.folder.appendingPathComponent("data/\(App.name)", isDirectory: true)
      let app = try App(AppPlace(directory: directory, device: device))
      opened[App.name] = app
      return app
    }
    guard let app = app as? App else {
      throw ToolError("two apps are called \(App.name)")
    }
    return app
  }

  /// The apps of some stores.
  func apps(of stores: [Store] = Store.all) throws -> [any StoreApp] {
    try Store.apps(of: stores).map { try app($0) }
  }

  /// Syncs an app now.
  ///
  /// - Parameter output: where progress is shown.
  func sync(
    _ type: any StoreApp.Type, showingOn output: Output? = nil
  ) async throws -> SyncReport {
    let app = try app(type)
    try await device.connect()
    return try await app.syncOnce(showingOn: output)
  }

  /// Leaves the account: removes all data of the device, then stores the next account.
  ///
  /// After a crash in between, the next command completes it first.
  func leave(for account: String?) throws {
    let folder = device.folder
    let file = DeviceSettings.file(in: folder)
    try file.write(DeviceSettings(account: account, isLeaving: true))
    try Self.removeData(folder)
    try file.write(DeviceSettings(account: account))
  }

  private static func removeData(_ folder: URL) throws {
    let data = folder.appendingPathComponent("data", isDirectory: true)
    guard FileManager.default.fileExists(atPath: data.path) else { return }
    do {
      try FileManager.default.removeItem(at: data)
    } catch {
      throw ToolError("cannot remove \(data.path): \(error.localizedDescription)")
    }
  }
}
