import CloudSync
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
    _ home: Home, device name: String, account: String?, cloud: Cloud? = nil,
    waitAtMost seconds: Double = 30, waiting: @Sendable (String) -> Void = { _ in }
  ) async throws {
    let folder = try home.folder(ofDevice: name)
    let homeLock = try await home.use(waitAtMost: seconds)
    try makeFolder(folder)
    let what = "the device \(quoted(name))"
    let deviceLock = try await Home.lock(
      folder.appendingPathComponent("lock"), .exclusive, what: what, waitAtMost: seconds
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
    var settings = known ?? DeviceSettings(account: account ?? home.server?.account ?? "default")
    if known == nil {
      if let account = settings.account { try DeviceSettings.check(account: account) }
      try file.write(settings)
    }
    if settings.isLeaving {
      try removeFile(Self.data(in: folder))
      settings.isLeaving = false
      try file.write(settings)
    }
    device = ConnectedDevice(
      home, name: name, account: settings.account, folder: folder, cloud: cloud)
  }

  /// The account that is signed in, if any.
  var account: String? { device.account }

  /// The folder of the apps' data in the folder of a device.
  private static func data(in folder: URL) -> URL {
    folder.appendingPathComponent("data", isDirectory: true)
  }

  /// One of the apps, opened at the first use.
  func app<App: StoreApp>(_ type: App.Type) throws -> App {
    let app = try opened.withLock { opened throws -> any StoreApp in
      if let app = opened[App.name] { return app }
      let directory = Self.data(in: device.folder).appendingPathComponent(App.name)
      let app = try App(AppPlace(directory: directory, device: device))
      opened[App.name] = app
      return app
    }
    guard let app = app as? App else {
      throw ToolError("two apps are called \(App.name)")
    }
    return app
  }

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
    try removeFile(Self.data(in: folder))
    try file.write(DeviceSettings(account: account))
  }

  /// Stores the account of a device that is signed out; its data stays, and is sent by a sync.
  func enter(_ account: String) throws {
    try DeviceSettings.file(in: device.folder).write(DeviceSettings(account: account))
  }
}

/// The state of a device, apart from the data of its stores.
struct DeviceSettings: Codable, Hashable, Sendable {
  /// The account that is signed in, if any.
  var account: String?

  /// Whether the device is leaving an account: its data must be removed before anything else.
  var isLeaving = false

  /// The user record name of the account on an HTTP server; `nil` until the server sent it.
  var user: String?

  /// The file of the settings in the folder of a device.
  static func file(in folder: URL) -> DocumentFile<DeviceSettings> {
    DocumentFile(folder.appendingPathComponent("device.json"), format: "device")
  }

  /// Checks that an account can be called `name`.
  static func check(account name: String) throws(ToolError) {
    let isPlain = name.unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control
    }
    guard (1...255).contains(name.utf8.count), isPlain else {
      throw ToolError(
        "\(quoted(name)) is not a valid account name: use 1 to 255 plain characters",
        code: ExitCode.usage)
    }
  }
}

/// A device and its connection to the server, which is opened at the first use.
final class ConnectedDevice: Sendable {
  let home: Home
  let name: String
  let folder: URL

  /// The account when the device was opened, if one was signed in.
  let account: String?

  private let cloud: Cloud?
  private let opened = Mutex<CloudDevice?>(nil)

  /// A device of `home`.
  ///
  /// - Parameter cloud: the server if it is already open, else the home's is used.
  init(_ home: Home, name: String, account: String?, folder: URL, cloud: Cloud?) {
    self.home = home
    self.name = name
    self.account = account
    self.folder = folder
    self.cloud = cloud
  }

  /// The connection to the server, as this device and its account; sends no request.
  func link() throws -> CloudDevice {
    try opened.withLock { opened throws -> CloudDevice in
      if let opened { return opened }
      let link = try (cloud ?? Cloud(home)).device(name, account: account)
      opened = link
      return link
    }
  }

  /// Checks that an HTTP server answers and that its user is the same as before.
  ///
  /// - Throws: `ToolError` if it does not answer, refuses the token, or the token belongs to
  ///   another user: then no data of one account may reach the other.
  func connect() async throws {
    let link = try link()
    guard cloud == nil, let address = home.server, account != nil else { return }
    let user: String
    do { user = try await link.container.userRecordID().recordName } catch let error as CKError {
      throw address.refusal(error)
    }
    let file = DeviceSettings.file(in: folder)
    guard var settings = try file.read(), settings.user != user else { return }
    guard settings.user == nil else {
      throw ToolError(
        "the web token belongs to another account than the device \(quoted(name)) is signed "
          + "in as; name another device, or run: stores --device \(name) account switch NAME")
    }
    settings.user = user
    try file.write(settings)
  }
}
