import CloudSync
import Foundation

/// Reads a file given by the user, which may have any content.
enum StateFile {
  /// The maximum size of a file to inspect.
  private static let largest = 1 << 30

  /// All bytes of the file at `path`.
  static func read(_ path: String) throws(StateInspectionError) -> [UInt8] {
    let shown = TerminalText.line(path)
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT {
        throw StateInspectionError(
          .unreadable, "There is no file \(shown). Give the path of a state log or a saved state.")
      }
      throw unreadable(shown, String(cString: strerror(errno)))
    }
    // Reading anything but a regular file could block indefinitely.
    guard status.st_mode & S_IFMT == S_IFREG else {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      throw StateInspectionError(
        .unreadable,
        "\(shown) is \(isFolder ? "a folder" : "no file"). Give the path of a state log or a "
          + "saved state.")
    }
    guard status.st_size <= largest else {
      throw StateInspectionError(
        .foreign, "\(shown) is too large for a state (\(status.st_size) bytes). Give another file.")
    }
    do throws(FileStateStoreError) {
      if let bytes = try LogFormat.bytes(at: path) { return bytes }
    } catch {
      throw StateInspectionError(.unreadable, error.message)
    }
    throw unreadable(shown, "it is gone")
  }

  private static func unreadable(_ shown: String, _ reason: String) -> StateInspectionError {
    StateInspectionError(
      .unreadable, "Could not read \(shown): \(reason). Check the path and the rights.")
  }
}
