import Foundation

/// A temporary directory that is removed when it is deallocated.
final class DeviceFolder: Sendable {
  let url: URL

  /// Creates a directory that is empty or has a copy of the content of `other`.
  init(copying other: URL? = nil) throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-device-\(UUID().uuidString)")
    if let other {
      try FileManager.default.copyItem(at: other, to: url)
    } else {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
  }

  // A directory that can't be removed can't be reported from here.
  deinit { try? FileManager.default.removeItem(at: url) }
}
