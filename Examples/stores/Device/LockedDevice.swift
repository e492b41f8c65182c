import CommandLineKit
import Foundation

/// A device's folder, held so that no other command acts as the same device meanwhile.
struct LockedDevice: Sendable {
  let folder: URL
  let locks: [FileLock]

  init(
    _ home: Home, device: String, waitAtMost seconds: Double,
    waiting: @Sendable (String) -> Void
  ) async throws {
    folder = try home.folder(ofDevice: device)
    let homeLock = try await home.use(waitAtMost: seconds)
    try makeFolder(folder)
    let what = "the device \(quoted(device))"
    let deviceLock = try await FileLock(
      folder.appendingPathComponent("lock").path, .exclusive, what: what,
      waitAtMost: seconds
    ) { waiting("waiting for another stores command on \(what)") }
    locks = [homeLock, deviceLock]
  }
}
