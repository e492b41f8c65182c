import Foundation
import Testing

/// A program of the system that a test needs.
///
/// Without it a test checks nothing, and says so in one line; with the environment variable `CI` it
/// fails.
enum InstalledProgram {
  /// The first of `names` that is installed.
  static func find(_ names: String..., test: String = #fileID) -> URL? {
    let folders = ["/usr/sbin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"]
    let paths = names.flatMap { name in folders.map { $0 + name } }
    if let path = paths.first(where: FileManager.default.isExecutableFile) {
      return URL(fileURLWithPath: path)
    }
    if ProcessInfo.processInfo.environment["CI"] != nil {
      Issue.record("\(names[0]) is not installed")
    }
    print("\(test): \(names[0]) is not installed; nothing was checked")
    return nil
  }

  /// The browser whose pages tests operate: Chromium, or its like.
  static func browser(test: String = #fileID) -> URL? {
    find("chromium", "chromium-browser", "google-chrome", test: test)
  }
}
