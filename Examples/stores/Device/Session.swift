import CommandLineKit
import Foundation
import Synchronization

/// One device for the time of one command: its folder is locked, its apps are opened when wanted.
///
/// The apps' data is in `data/` of the device's folder, so that leaving an account can remove all
/// of it at once, whatever a store keeps there.
final class Session: Sendable {
  /// The apps' container, the same on every device.
  static let container = "iCloud.com.example.stores"

  let home: Home
  let device: ConnectedDevice
  private let locks: [FileLock]
  private let opened = Mutex<[String: any StoreApp]>([:])

  /// Opens the device called `name`, making it when it is new.
  ///
  /// - Parameters:
  ///   - cloud: the server when it is open already, else the home's.
  ///   - seconds: how long to wait at most for other commands.
  ///   - waiting: told when there is something to wait for.
  /// - Throws: `ToolError` or `FileError`; nothing is changed then.
  init(
    _ home: Home, device: String, account: String?, cloud: (any Cloud)? = nil,
    waitAtMost seconds: Double = 30, waiting: @Sendable (String) -> Void = { _ in }
  ) async throws {
    let locked = try await LockedDevice(
      home, device: device, waitAtMost: seconds, waiting: waiting)
    let folder = locked.folder
    let file = DeviceSettingsFile(folder: folder)
    var settings = try file.read()
    if let account { try DeviceSettings.check(account: account) }
    if let settings, let account, let own = settings.account, own != account {
      throw ToolError(
        "the device \(quoted(device)) is signed in as \(quoted(own)); to change that, run: "
          + "stores --device \(device) account switch \(account)")
    }
    if let settings, settings.account == nil, let account {
      throw ToolError(
        "the device \(quoted(device)) is signed out; to sign in, run: "
          + "stores --device \(device) account switch \(account)")
    }
    if settings == nil {
      let new = DeviceSettings(account: account ?? home.server.defaultAccount)
      if let name = new.account { try DeviceSettings.check(account: name) }
      try file.write(new)
      settings = new
    }
    if settings?.isLeaving == true {
      try Self.removeData(folder)
      settings?.isLeaving = false
      if let settings { try file.write(settings) }
    }
    self.home = home
    locks = locked.locks
    self.device = ConnectedDevice(
      home, name: device, account: settings?.account, folder: folder, cloud: cloud)
  }

  /// Who is signed in; `nil` when nobody is.
  var account: String? { device.account }

  /// One of the apps, which is opened when nobody asked for it before.
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
  /// - Parameter output: where somebody sees how far it is.
  func sync(
    _ type: any StoreApp.Type, showingOn output: Output? = nil
  ) async throws -> any SyncReport {
    let app = try app(type)
    try await device.connect()
    return try await app.syncOnce(showingOn: output)
  }

  /// Leaves the account: removes all data of the device, then notes who is signed in now.
  ///
  /// A crash in between is finished by the next command, before it does anything else.
  func leave(for account: String?) throws {
    let folder = try home.folder(ofDevice: device.name)
    let file = DeviceSettingsFile(folder: folder)
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
