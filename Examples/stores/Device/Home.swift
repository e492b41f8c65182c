import CommandLineKit
import Foundation

/// The folder where all devices are kept, and the server of those at hand.
struct Home: Sendable {
  /// The folder.
  let url: URL

  /// The server that the devices at hand sync with.
  let server: ServerAddress

  /// All that `reset` removes: the server's file and those SQLite puts beside it, the devices and
  /// the demo.
  ///
  /// The lock stays, because somebody may be waiting for it.
  private static let content = [
    "server.sqlite", "server.sqlite-wal", "server.sqlite-shm", "server.sqlite-journal", "devices",
    servers, "demo", demoLock,
  ]

  /// The lock a demo holds, so that two of them take turns.
  static let demoLock = "demo.lock"

  /// Where the devices of servers by HTTP are, a folder for each server.
  ///
  /// What a device knows of its server means nothing to another one.
  private static let servers = "servers"

  /// The home folder asked for, else `CLOUDSYNC_HOME`, else `~/.cloudsync`.
  init(
    _ path: String?, environment: [String: String], server: ServerAddress
  ) throws(ToolError) {
    self.server = server
    if let path = path ?? environment["CLOUDSYNC_HOME"] {
      guard !path.isEmpty else { throw ToolError("the home folder's name is empty") }
      url = URL(fileURLWithPath: path, isDirectory: true)
    } else {
      url = FileManager.default.homeDirectoryForCurrentUser
        .appendingPathComponent(".cloudsync", isDirectory: true)
    }
  }

  /// The folder at `url`, with a server of its own in it.
  init(_ url: URL) {
    self.url = url
    server = .home
  }

  /// The server of the devices.
  func cloud() throws -> any Cloud {
    switch server {
    case .home: try HomeCloud(self)
    case .web(let address): WebCloud(address: address)
    }
  }

  /// The file of the home's own server.
  var serverPath: String { url.appendingPathComponent("server.sqlite").path }

  /// What `name` is called here.
  func item(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// What the tool made here, by name.
  var existingContent: [String] {
    Self.content.filter { FileManager.default.fileExists(atPath: item($0).path) }
  }

  /// Makes the folder, for the user alone.
  func create() throws(ToolError) { try makeFolder(url) }

  /// Takes part in using the home; a `reset` waits for it.
  func use(waitAtMost seconds: Double = 30) async throws -> FileLock {
    try create()
    return try await FileLock(
      item("lock").path, .shared, what: "the home folder", waitAtMost: seconds)
  }

  /// The folder of the device called `name`.
  func folder(ofDevice name: String) throws(ToolError) -> URL {
    let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    guard (1...64).contains(name.utf8.count), name.allSatisfy(allowed.contains),
      !name.hasPrefix(".")
    else {
      throw ToolError(
        "\(quoted(name)) is no name for a device: use up to 64 letters, digits, - _ and dots, "
          + "with no dot in front")
    }
    let place =
      switch server {
      case .home: item("devices")
      case .web(let address): item("\(Self.servers)/\(address.folderName)/devices")
      }
    return place.appendingPathComponent(name, isDirectory: true)
  }
}

/// Makes the folder at `url` and those above it, for the user alone.
func makeFolder(_ url: URL) throws(ToolError) {
  do {
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  } catch {
    throw ToolError("cannot make the folder \(url.path): \(error.localizedDescription)")
  }
}
