import CloudProtocol
import Foundation
import Records
import Synchronization

/// Where the files of records that were read lie on this device.
///
/// Each reading gives a fresh file, so an app may move it away. The folder belongs to the process:
/// what is left in it stays until the process ended, and the next one that stages a file removes
/// what ended ones left.
final class AssetStaging: Sendable {
  /// The one of the process.
  static let shared = AssetStaging(
    root: FileManager.default.temporaryDirectory.appendingPathComponent("cloudsync-assets"))

  private let root: URL
  private let state = Mutex(State())

  private struct State {
    var folder: URL?
    /// Where content was seen last, by its checksum.
    var places: [String: URL] = [:]
  }

  /// Stages files below `root`.
  init(root: URL) { self.root = root }

  /// Writes `content` into a fresh file.
  /// - Throws: `assetNotAvailable` when the disk refuses.
  func stage(_ content: [UInt8], of asset: Asset) throws(CloudError) -> URL {
    do {
      let file = try folder().appendingPathComponent(UUID().uuidString)
      try Data(content).write(to: file, options: .withoutOverwriting)
      remember(file, as: asset.checksum)
      return file
    } catch {
      throw CloudError(
        .assetNotAvailable, "a downloaded file could not be written: \(error.localizedDescription)")
    }
  }

  /// Notes that `file` holds the content with this checksum.
  func remember(_ file: URL, as checksum: String) {
    state.withLock { state in
      if state.places.count >= 10_000 { state.places.removeAll() }
      state.places[checksum] = file
    }
  }

  /// A file with this content, if one was seen and is still there.
  func place(of asset: Asset) -> URL? {
    guard let file = state.withLock({ $0.places[asset.checksum] }),
      let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int,
      size == asset.size
    else { return nil }
    return file
  }

  private func folder() throws -> URL {
    if let folder = state.withLock({ $0.folder }) { return folder }
    removeLeftovers()
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = root.appendingPathComponent("\(process)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return state.withLock { state in
      if let earlier = state.folder { return earlier }
      state.folder = folder
      return folder
    }
  }

  /// Removes the folders of processes that are gone.
  private func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    for name in names {
      guard let process = name.split(separator: "-").first.flatMap({ pid_t($0) }), process > 0,
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      try? FileManager.default.removeItem(at: root.appendingPathComponent(name))
    }
  }
}
