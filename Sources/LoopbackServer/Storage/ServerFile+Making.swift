import Foundation

extension ServerFile {
  /// Makes an empty file at `path` that only its owner can read, if there is none.
  ///
  /// SQLite would let everybody read it; the files beside it get the mode of this one. Whatever
  /// keeps it from being made is left for the opening to tell.
  static func makePrivately(path: String) {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }
}
