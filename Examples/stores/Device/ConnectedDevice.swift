import CloudSync
import CommandLineKit
import Foundation
import SyncSupport
import Synchronization

/// A device and its connection to the server, which is opened at the first use.
final class ConnectedDevice: Sendable {
  let home: Home
  let name: String
  let folder: URL

  /// The account when the device was opened, if one was signed in.
  let account: String?

  private let cloud: (any Cloud)?
  private let opened = Mutex<LinkedDevice?>(nil)

  /// A device of `home`.
  ///
  /// - Parameter cloud: the server if it is already open, else the home's is used.
  init(_ home: Home, name: String, account: String?, folder: URL, cloud: (any Cloud)?) {
    self.home = home
    self.name = name
    self.account = account
    self.folder = folder
    self.cloud = cloud
  }

  /// The connection to the server, as this device and its account; sends no request.
  func link() throws -> LinkedDevice {
    try opened.withLock { opened throws -> LinkedDevice in
      if let opened { return opened }
      let link = LinkedDevice(try cloud ?? home.cloud(), device: name, account: account)
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
    guard cloud == nil, case .web(let address) = home.server, account != nil else { return }
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
