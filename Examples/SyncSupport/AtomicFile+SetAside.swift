public import Foundation

/// Putting a damaged file out of the way without losing a byte of it.
///
/// The copies lie beside the file and are called `NAME.damaged-1`, `NAME.damaged-2` and so on; no
/// copy ever replaces another. They hold what the file held, so whoever removes an account's data
/// has to remove them too; ``remove()`` does.
extension AtomicFile {
  /// How many copies of one file there may be.
  private static let mostCopies = 1_000

  /// Gives what the file holds now a second name, and leaves the file in its place.
  ///
  /// The next `write` replaces the file and leaves the copy alone. Called again before that, it
  /// answers with the same copy.
  /// - Returns: the copy, or `nil` when there is no file.
  /// - Throws: `FileError` when the copy can't be made; nothing changed then.
  public func setAside() throws(FileError) -> URL? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    for number in 1...Self.mostCopies {
      let copy = URL(fileURLWithPath: "\(url.path).damaged-\(number)")
      if FileManager.default.fileExists(atPath: copy.path) {
        if FileManager.default.contentsEqual(atPath: copy.path, andPath: url.path) { return copy }
        continue
      }
      do {
        // Not every file system has second names; a plain copy does as well.
        if link(url.path, copy.path) != 0 {
          try FileManager.default.copyItem(at: url, to: copy)
        }
      } catch {
        throw FileError(.write, copy, "\(error.localizedDescription)")
      }
      try syncFolder()
      return copy
    }
    throw FileError(
      .write, url, "\(Self.mostCopies) damaged copies of it are kept already; remove some.")
  }

  /// As ``setAside()``, and the file itself is gone afterwards.
  ///
  /// - Throws: `FileError` when the copy can't be made or the file can't be removed.
  public func moveAside() throws(FileError) -> URL? {
    let copy = try setAside()
    if copy != nil { try removeFile() }
    return copy
  }

  /// The copies that were set aside, in the order of their numbers.
  public var copies: [URL] {
    let folder = url.deletingLastPathComponent()
    let prefix = url.lastPathComponent + ".damaged-"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let numbers = names.filter { $0.hasPrefix(prefix) }.compactMap {
      Int($0.dropFirst(prefix.count))
    }
    return numbers.sorted().map { folder.appendingPathComponent("\(prefix)\($0)") }
  }

  /// Removes every copy that was set aside; none is no error.
  ///
  /// - Throws: `FileError` when one can't be removed.
  public func removeCopies() throws(FileError) {
    let copies = copies
    for copy in copies where unlink(copy.path) != 0 && errno != ENOENT {
      throw FileError(.write, copy, String(cString: strerror(errno)))
    }
    if !copies.isEmpty { try syncFolder() }
  }
}

/// A damaged file that was set aside, so that work could go on without it.
public struct FileRecovery: Hashable, Sendable, CustomStringConvertible {
  /// What was wrong with the file.
  public let error: FileError

  /// Where its bytes are now.
  public let copy: URL

  /// States what was wrong, and where the bytes are.
  public init(_ error: FileError, copy: URL) {
    self.error = error
    self.copy = copy
  }

  /// Two sentences for people.
  public var description: String {
    "\(error.url.lastPathComponent) was damaged and is kept as \(copy.lastPathComponent). "
      + "What the cloud has is fetched again; what only this file knew is not sent."
  }
}
