import CloudSync
import CommandLineKit
import Foundation
import Synchronization

/// A device and its way to the server, which is taken when somebody wants it.
final class ConnectedDevice: Sendable {
  /// What the tool keeps of the device.
  let home: Home

  /// What the device is called.
  let name: String

  /// Who was signed in when it was opened; `nil` when nobody was.
  let account: String?

  /// Its folder.
  let folder: URL

  private let cloud: (any Cloud)?
  private let taken = Mutex<LinkedDevice?>(nil)

  /// A device of `home`.
  ///
  /// - Parameter cloud: the server when it is open already, else the home's.
  init(_ home: Home, name: String, account: String?, folder: URL, cloud: (any Cloud)?) {
    self.home = home
    self.name = name
    self.account = account
    self.folder = folder
    self.cloud = cloud
  }

  /// The way to the server, as this device and its account; nothing is asked of it yet.
  func link() throws -> LinkedDevice {
    try taken.withLock { taken throws -> LinkedDevice in
      if let taken { return taken }
      let new: LinkedDevice
      if let cloud {
        new = LinkedDevice(cloud, device: name, account: account)
      } else {
        switch home.server {
        case .home: new = LinkedDevice(try HomeCloud(home), device: name, account: account)
        case .web(let address):
          new = LinkedDevice(WebCloud(address: address), device: name, account: account)
        }
      }
      taken = new
      return new
    }
  }

  /// Sees to it that the server is there and takes this device for its account's.
  ///
  /// - Throws: `ToolError` when a server by HTTP can't be reached, lets nobody in, or knows who
  ///   asks as somebody else than the last time: then nothing of one account reaches the other.
  func connect() async throws {
    let link = try link()
    guard cloud == nil, case .web(let address) = home.server, account != nil else { return }
    let user: String
    do { user = try await link.container.userRecordID().recordName } catch let error as CKError {
      throw address.refusal(error)
    }
    let file = DeviceSettingsFile(folder: folder)
    guard var settings = try file.read(), settings.user != user else { return }
    guard settings.user == nil else {
      throw ToolError(
        "the web token stands for another account than the device \(quoted(name)) is signed "
          + "in as; name another device, or run: stores --device \(name) account switch NAME")
    }
    settings.user = user
    try file.write(settings)
  }
}
