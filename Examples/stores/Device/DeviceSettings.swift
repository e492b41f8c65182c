import CommandLineKit
import Foundation
import SyncSupport

/// What the tool remembers of a device beside what its stores do.
struct DeviceSettings: Codable, Hashable, Sendable {
  /// The account that is signed in; `nil` when none is.
  var account: String?

  /// Whether the device is on its way out of an account: its data must go before anything else.
  var isLeaving = false

  /// Whom a server by HTTP knows the account as; `nil` until it said so.
  var user: String?

  /// Checks that an account can be called `name`.
  static func check(account name: String) throws(ToolError) {
    let isPlain = name.unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control
    }
    guard (1...255).contains(name.utf8.count), isPlain else {
      throw ToolError("\(quoted(name)) is no name for an account: use 1 to 255 plain characters")
    }
  }
}

/// The settings in the device's folder.
struct DeviceSettingsFile: Sendable {
  private let file: DocumentFile<DeviceSettings>

  init(folder: URL) {
    file = DocumentFile(folder.appendingPathComponent("device.json"), format: "device")
  }

  /// The settings; `nil` when the device is new.
  func read() throws -> DeviceSettings? { try file.read() }

  /// Writes the settings; durable when it returns.
  func write(_ settings: DeviceSettings) throws { try file.write(settings) }
}
