import Foundation

/// A folder of the test's own with the place for one file in it.
struct TemporaryFile: Sendable {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("loopback-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  var url: URL { folder.appendingPathComponent("cloud.db") }
  var path: String { url.path }

  /// The names and contents of all files there.
  var contents: [String: Data] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        (name, (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data())
      })
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
