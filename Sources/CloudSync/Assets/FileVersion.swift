import Foundation

/// What tells the content of a file from another one that was written in its place, without
/// reading it.
struct FileVersion: Hashable, Sendable {
  let size: Int
  private let modified: Date
  private let number: UInt64

  /// The version of `file` now; `nil` when it does not exist.
  init?(of file: URL) {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
      let size = attributes[.size] as? Int, let modified = attributes[.modificationDate] as? Date
    else { return nil }
    self.size = size
    self.modified = modified
    number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
  }
}
