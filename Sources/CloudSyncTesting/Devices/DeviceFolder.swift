import Foundation

/// A temporary directory that is removed when it is deallocated.
final class DeviceFolder: Sendable {
  let url: URL

  /// Creates a directory that is empty or has a copy of the content of `other`.
  init(copying other: URL? = nil) throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-device-\(UUID().uuidString)")
    guard let other else {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      return
    }
    do {
      try FileManager.default.copyItem(at: other, to: url)
    } catch {
      // The app may have replaced a file meanwhile.
      try? FileManager.default.removeItem(at: url)
      do { try FileManager.default.copyItem(at: other, to: url) } catch {
        throw DeviceError("The folder of the app can't be copied: \(error)")
      }
    }
  }

  // A directory that can't be removed can't be reported from here.
  deinit { try? FileManager.default.removeItem(at: url) }
}
