import ClipboardStore
import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport
import TabStore

/// One device for the time of one command: its folder is locked, its stores are open.
///
/// The apps' data is in `data/` of the device's folder, so that leaving an account can remove all
/// of it at once, whatever a store keeps there.
final class Session: Sendable {
  /// The app's container, the same on every device.
  static let container = "iCloud.com.example.stores"

  let home: Home
  let deviceName: String
  let account: String?
  let tabs: TabStore
  let clipboard: ClipboardStore
  let folder: URL
  private let locks: [FileLock]

  /// Opens the device named in `options`, making it when it is new.
  ///
  /// - Parameter log: told when there is something to wait for.
  /// - Throws: `ToolError` or `FileError`; nothing is changed then.
  init(
    _ home: Home, device: String, account: String?, waiting: @Sendable (String) -> Void = { _ in }
  ) async throws {
    let locked = try await LockedDevice(home, device: device, waiting: waiting)
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
    deviceName = device
    self.account = settings?.account
    locks = locked.locks
    self.folder = folder
    let apps = Self.appFolders(folder)
    tabs = try TabStore(directory: apps.itsypad)
    clipboard = try ClipboardStore(directory: apps.itsypad)
  }

  /// Whose folders are whose: tabs and clipboard are one app, the results another.
  private static func appFolders(_ folder: URL) -> (itsypad: URL, results: URL) {
    let data = folder.appendingPathComponent("data", isDirectory: true)
    return (
      data.appendingPathComponent("itsypad", isDirectory: true),
      data.appendingPathComponent("results", isDirectory: true)
    )
  }

  /// The file of this device's switch; until it exists nobody has decided about sync.
  var hasDecidedAboutSync: Bool {
    let file = Self.appFolders(folder).itsypad
      .appendingPathComponent("cloud-sync-settings.json")
    return FileManager.default.fileExists(atPath: file.path)
  }

  /// The way to the server, as this device and its account; nothing is asked of it yet.
  func link() throws -> LinkedDevice {
    switch home.server {
    case .home: LinkedDevice(try HomeCloud(home), device: deviceName, account: account)
    case .web(let address):
      LinkedDevice(WebCloud(address: address), device: deviceName, account: account)
    }
  }

  /// The way to the server, which is there and takes this device for its account's.
  ///
  /// - Throws: `ToolError` when a server by HTTP can't be reached, lets nobody in, or knows who
  ///   asks as somebody else than the last time: then nothing of one account reaches the other.
  func connect() async throws -> LinkedDevice {
    let link = try link()
    guard case .web(let address) = home.server, account != nil else { return link }
    let user: String
    do { user = try await link.container.userRecordID().recordName } catch let error as CKError {
      throw address.refusal(error)
    }
    let file = DeviceSettingsFile(folder: folder)
    guard var settings = try file.read(), settings.user != user else { return link }
    guard settings.user == nil else {
      throw ToolError(
        "the web token stands for another account than the device \(quoted(deviceName)) is signed "
          + "in as; name another device, or run: stores --device \(deviceName) account switch NAME")
    }
    settings.user = user
    try file.write(settings)
    return link
  }

  /// The engine of tabs and clipboard; nothing is sent before it is started.
  func itsypad(_ link: LinkedDevice) throws -> CloudSyncEngine {
    try CloudSyncEngine(
      database: link.container.privateCloudDatabase,
      directory: Self.appFolders(folder).itsypad, stores: [tabs, clipboard],
      automaticallySync: false)
  }

  /// The store of results.
  func results(_ link: LinkedDevice) throws -> GameResultStore {
    try GameResultStore(
      directory: Self.appFolders(folder).results, container: link.container)
  }

  /// Leaves the account: removes all data of the device, then notes who is signed in now.
  ///
  /// A crash in between is finished by the next command, before it does anything else.
  func leave(for account: String?) throws {
    let folder = try home.folder(ofDevice: deviceName)
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

/// A device's folder, held so that no other command acts as the same device meanwhile.
struct LockedDevice: Sendable {
  let folder: URL
  let locks: [FileLock]

  init(_ home: Home, device: String, waiting: @Sendable (String) -> Void) async throws {
    folder = try home.folder(ofDevice: device)
    let homeLock = try await home.use()
    try makeFolder(folder)
    let what = "the device \(quoted(device))"
    let deviceLock = try await FileLock(
      folder.appendingPathComponent("lock").path, .exclusive, what: what
    ) { waiting("waiting for another stores command on \(what)") }
    locks = [homeLock, deviceLock]
  }
}
