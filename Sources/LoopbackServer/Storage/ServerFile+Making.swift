import Foundation

extension ServerFile {
  /// Creates an empty file at `path` that only its owner can read, unless it exists.
  ///
  /// SQLite would make it readable for everyone; its auxiliary files get the same mode. Errors are
  /// ignored here and reported when the file is opened.
  static func makePrivately(path: String) {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// Whether this process may not write the file at `path` or its folder, and no process uses it.
  static func isImmutable(_ path: String) -> Bool {
    guard access(path, F_OK) == 0, access(path + "-wal", F_OK) != 0 else { return false }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return access(path, W_OK) != 0 || access(folder, W_OK) != 0
  }
}
