import CloudProtocol
import Disk
import Foundation
import Records
import Synchronization

/// The directory of downloaded asset files on this device.
///
/// Each download creates a new file, so an app may move it. The directory belongs to the process
/// and keeps its files until the process ends; the next process that stages a file removes the
/// directories of ended processes.
final class AssetStaging: Sendable {
  /// The staging directory of the process.
  static let shared = AssetStaging(root: root(ofUser: getuid()))

  /// A directory for each user: the temporary directory may belong to all users of the machine, and
  /// only the user who made a directory in it can write there.
  static func root(ofUser user: uid_t) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("cloudsync-assets-\(user)")
  }

  private let root: URL
  private let state = Mutex(State())

  private struct State {
    var folder: URL?
    /// The last known file of each content, by checksum.
    var files: [String: KnownFile] = [:]
  }

  /// A file, and its version when it had the content.
  private struct KnownFile {
    var url: URL
    var version: FileVersion
  }

  /// Stages files below `root`.
  init(root: URL) { self.root = root }

  /// Writes `content`, which must be that of `asset`, to a new file.
  ///
  /// - Throws: `internalError` when it can't be written, or is another content, and the error of
  ///   reading it. Not `assetNotAvailable`, which says that the server does not have the file.
  func stage(_ content: AssetContent, of asset: Asset) throws(CloudError) -> URL {
    do {
      let url = try folder().appendingPathComponent(UUID().uuidString)
      var isWhole = false
      defer { if !isWhole { try? FileManager.default.removeItem(at: url) } }
      let file = try SystemDisk().open(url.path, .replace)
      var hash = SHA256()
      try content.forEachPart { part in
        hash.update(part)
        try file.append(all: part)
      }
      guard !asset.isHashed || hash.hexadecimalDigest == asset.checksum else {
        throw CloudError(.internalError, "a downloaded file does not match its record")
      }
      isWhole = true
      if let version = FileVersion(of: url) { remember(url, version, as: asset.checksum) }
      return url
    } catch let error as CloudError {
      throw error
    } catch {
      throw CloudError(.internalError, "a downloaded file could not be written: \(error)")
    }
  }

  /// Removes staged files that nothing refers to.
  func remove(_ files: [URL]) {
    for file in files { try? FileManager.default.removeItem(at: file) }
  }

  /// Records that this version of `file` has the content with this checksum.
  func remember(_ file: URL, _ version: FileVersion, as checksum: String) {
    state.withLock { state in
      if state.files.count >= 10_000 { state.files.removeAll() }
      state.files[checksum] = KnownFile(url: file, version: version)
    }
  }

  /// An existing file with this content, if one is known.
  ///
  /// A file that the app has written again since is not one.
  func file(of asset: Asset) -> URL? {
    guard let file = state.withLock({ $0.files[asset.checksum] }),
      file.version.size == asset.size, FileVersion(of: file.url) == file.version
    else { return nil }
    return file.url
  }

  /// The directory of the process, which is made again if something removed it, as cleaners of
  /// temporary files do.
  private func folder() throws -> URL {
    if let folder = state.withLock({ $0.folder }), AssetStaging.isDirectory(folder) {
      return folder
    }
    let root = try ownRoot()
    removeLeftovers(in: root)
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = root.appendingPathComponent("\(process)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return state.withLock { state in
      if let earlier = state.folder, AssetStaging.isDirectory(earlier) { return earlier }
      state.folder = folder
      return folder
    }
  }

  /// The root, which no other user can change.
  ///
  /// Another user may have made a directory of its name, since the temporary directory can belong
  /// to all users. Then it is a new directory with a name that cannot be guessed.
  private func ownRoot() throws -> URL {
    try FileManager.default.createDirectory(
      at: root.deletingLastPathComponent(), withIntermediateDirectories: true)
    if mkdir(root.path, 0o700) == 0 || AssetStaging.isOwn(root) { return root }
    // Nothing can be made below a file of that name either; the caller gets that error.
    guard AssetStaging.isDirectory(root) else { return root }
    var template = Array("\(root.path)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CloudError(.internalError, "no directory for downloaded files could be made")
    }
    return URL(
      fileURLWithPath: String(
        decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self),
      isDirectory: true)
  }

  private static func isDirectory(_ url: URL) -> Bool {
    var isFolder = ObjCBool(false)
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// Whether `url` is a directory of this user, and not a link to one, in which no other user
  /// can write.
  private static func isOwn(_ url: URL) -> Bool {
    var status = stat()
    return lstat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_uid == getuid() && status.st_mode & (S_IWGRP | S_IWOTH) == 0
  }

  /// Removes the directories of processes that have ended.
  private func removeLeftovers(in root: URL) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    for name in names {
      guard let process = name.split(separator: "-").first.flatMap({ pid_t($0) }), process > 0,
        kill(process, 0) != 0, errno == ESRCH
      else { continue }
      try? FileManager.default.removeItem(at: root.appendingPathComponent(name))
    }
  }
}

extension Asset {
  /// Whether the checksum is the SHA-256 of the content; other services sign files in ways of their
  /// own.
  fileprivate var isHashed: Bool {
    checksum.utf8.count == 64
      && checksum.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
