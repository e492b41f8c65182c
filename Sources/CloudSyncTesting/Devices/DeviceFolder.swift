import Foundation

/// A folder that is gone when nobody holds it any more.
final class DeviceFolder: Sendable {
  let url: URL

  /// A new folder: empty, or with a copy of all that is in `other`.
  init(copying other: URL? = nil) throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-device-\(UUID().uuidString)")
    if let other {
      try FileManager.default.copyItem(at: other, to: url)
    } else {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
  }

  // Nobody is left who could be told of a folder that can't be removed.
  deinit { try? FileManager.default.removeItem(at: url) }
}
