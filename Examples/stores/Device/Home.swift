import CommandLineKit
import Foundation

/// The folder of all devices, and the server that they sync with.
struct Home: Sendable {
  let url: URL

  /// The HTTP server that the devices sync with; `nil` for the home's own in a file.
  let server: WebAddress?

  /// The files that `reset` removes: the server's, those of SQLite, the devices and the demo.
  ///
  /// The lock file stays, because another command may be waiting for it.
  private static let content = [
    "server.sqlite", "server.sqlite-wal", "server.sqlite-shm", "server.sqlite-journal", "devices",
    servers, "demo", demoLock,
  ]

  /// The lock file of the demo, so that only one runs at a time.
  static let demoLock = "demo.lock"

  /// The folder of the devices of HTTP servers, with a folder for each server.
  private static let servers = "servers"

  /// The folder at `path`, else `CLOUDSYNC_HOME`, else `~/.cloudsync`.
  init(
    _ path: String?, environment: [String: String], server: WebAddress?
  ) throws(ToolError) {
    self.server = server
    if let path = path ?? environment["CLOUDSYNC_HOME"] {
      guard !path.isEmpty else {
        throw ToolError("the home folder's name is empty", code: ExitCode.usage)
      }
      url = URL(fileURLWithPath: path, isDirectory: true)
    } else {
      url = FileManager.default.homeDirectoryForCurrentUser
        .appendingPathComponent(".cloudsync", isDirectory: true)
    }
  }

  /// The folder at `url`, with its own server.
  init(_ url: URL) {
    self.url = url
    server = nil
  }

  func item(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// The names of the existing files of the tool.
  var existingContent: [String] {
    Self.content.filter { FileManager.default.fileExists(atPath: item($0).path) }
  }

  /// Creates the folder, with access for the user only.
  func create() throws(ToolError) { try makeFolder(url) }

  /// Locks the home against `reset`; other commands may use it.
  func use(waitAtMost seconds: Double = 30) async throws -> FileLock {
    try create()
    return try await Self.lock(
      item("lock"), .shared, what: "the home folder", waitAtMost: seconds)
  }

  /// Locks a file against other commands; `what` names what it stands for.
  static func lock(
    _ file: URL, _ kind: FileLock.Kind, what: String, waitAtMost seconds: Double = 30,
    waiting: () -> Void = {}
  ) async throws -> FileLock {
    try await FileLock(
      file.path, kind,
      busy: "\(what) is in use by another stores command; try again when it is done",
      waitAtMost: seconds, waiting: waiting)
  }

  /// The folder with a folder for each device of the server.
  var devices: URL {
    item(server.map { "\(Self.servers)/\($0.folderName)/devices" } ?? "devices")
  }

  func folder(ofDevice name: String) throws(ToolError) -> URL {
    let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    guard (1...64).contains(name.utf8.count), name.allSatisfy(allowed.contains),
      !name.hasPrefix(".")
    else {
      throw ToolError(
        "\(quoted(name)) is not a valid device name: use up to 64 letters, digits, - _ and dots, "
          + "with no dot in front", code: ExitCode.usage)
    }
    return devices.appendingPathComponent(name, isDirectory: true)
  }
}

/// Creates the folder at `url` and its parents, with access for the user only.
func makeFolder(_ url: URL) throws(ToolError) {
  do {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  } catch {
    throw ToolError(
      "cannot make the folder \(url.path): \(error.localizedDescription)",
      code: ExitCode.cannotCreate)
  }
}

/// Removes the file or folder at `url` if it exists.
func removeFile(_ url: URL) throws(ToolError) {
  do {
    try FileManager.default.removeItem(at: url)
  } catch CocoaError.fileNoSuchFile {
    return
  } catch {
    throw ToolError("cannot remove \(url.path): \(error.localizedDescription)")
  }
}
