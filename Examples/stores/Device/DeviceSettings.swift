import CommandLineKit
import Foundation
import SyncSupport

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
      throw ToolError("\(quoted(name)) is not a valid account name: use 1 to 255 plain characters")
    }
  }
}
