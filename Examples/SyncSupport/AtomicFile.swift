public import Foundation

/// A small file that is replaced as a whole: after a crash it holds the old content or the new
/// content, never a mixture, and once `write` returned, the new content survives a power cut.
///
/// The new content goes to a file beside the old one, is synced to the disk, takes the old one's
/// name, and the folder is synced too. One process at a time may write it. Readable and writable
/// by the user only.
public struct AtomicFile: Sendable, Hashable {
  /// Where the file is.
  public let url: URL

  /// Names the file at `url`; nothing is read or created yet.
  public init(_ url: URL) {
    self.url = url
  }

  /// Where new content is written before it takes the file's name.
  private var draftPath: String { url.path + ".new" }

  /// What the file holds, or `nil` when there is none.
  ///
  /// - Throws: `FileError` when there is a file that can't be read.
  public func read() throws(FileError) -> Data? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    do {
      return try Data(contentsOf: url)
    } catch {
      throw FileError(.read, url, "\(error.localizedDescription)")
    }
  }

  /// Replaces the file's content by `data`, creating the file and its folder when missing.
  ///
  /// - Throws: `FileError`; the old content is untouched then.
  public func write(_ data: Data) throws(FileError) {
    let folder = url.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw FileError(.write, url, "\(error.localizedDescription)")
    }
    let descriptor = open(draftPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw systemError() }
    try fill(descriptor, with: data)
    guard rename(draftPath, url.path) == 0 else { throw systemError() }
    try syncFolder()
  }

  /// Removes the file, a draft a crash may have left, and every copy that was set aside; no file is
  /// no error.
  ///
  /// - Throws: `FileError` when there is a file that can't be removed.
  public func remove() throws(FileError) {
    try removeFile()
    try removeCopies()
  }

  /// Removes the file and its draft, and leaves copies that were set aside.
  ///
  /// - Throws: `FileError` when there is a file that can't be removed.
  public func removeFile() throws(FileError) {
    var removedAny = false
    for path in [draftPath, url.path] {
      if unlink(path) == 0 {
        removedAny = true
      } else if errno != ENOENT {
        throw systemError()
      }
    }
    if removedAny { try syncFolder() }
  }

  private func fill(_ descriptor: CInt, with data: Data) throws(FileError) {
    defer { close(descriptor) }
    try writeAll(data, to: descriptor)
    guard fsync(descriptor) == 0 else { throw systemError() }
  }

  /// Writes all of `data` to an open file.
  func writeAll(_ data: Data, to descriptor: CInt) throws(FileError) {
    var start = data.startIndex
    while start < data.endIndex {
      let written = data[start...].withUnsafeBytes { bytes in
        #if canImport(Darwin)
          Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #else
          Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
      }
      if written > 0 {
        start += written
      } else if written < 0 && errno == EINTR {
        continue
      } else {
        throw systemError()
      }
    }
  }

  func syncFolder() throws(FileError) {
    let descriptor = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError() }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw systemError() }
  }

  private func systemError() -> FileError {
    FileError(.write, url, String(cString: strerror(errno)))
  }
}

/// Why a file could not be used; the description says what to do, and shows no content.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried.
  public enum Step: String, Hashable, Sendable {
    /// Reading the file.
    case read
    /// Writing the file.
    case write
    /// Making sense of what was read: the file is damaged, or no file of ours.
    case understand
    /// Using what a newer version of the program wrote; the file is whole.
    case use
  }

  /// What was tried.
  public let step: Step

  /// The file.
  public let url: URL

  /// Why it failed.
  public let reason: String

  /// Describes a failure.
  public init(_ step: Step, _ url: URL, _ reason: String) {
    self.step = step
    self.url = url
    self.reason = reason
  }

  /// One sentence for people.
  public var description: String { "cannot \(step.rawValue) \(url.path): \(reason)" }
}

extension AtomicFile {
  /// FNV-1a over 64 bits, as 16 hexadecimal digits.
  static func checksum(_ bytes: Data) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    bytes.withUnsafeBytes { buffer in
      for byte in buffer {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
