import Foundation
import SyncSupport

/// The files of annotations on this device, each named by its content.
///
/// A file that a person attaches is copied here first, so that it may change or go where it was
/// while it waits to be sent. The same content is one file, however many annotations show it.
struct MediaFolder: Sendable {
  /// The name of a file the cloud has and did not hand over.
  static let unavailable = "unavailable"

  let directory: URL

  func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: url(name).path) }

  /// Copies a file in.
  ///
  /// - Parameter limit: the most bytes a file may have.
  /// - Returns: its name here.
  /// - Throws: `AnnotationError.mediaTooLarge`, or `FileError` when it can't be read or copied.
  func stage(copying source: URL, limit: Int) throws -> String {
    func check(_ size: Int) throws {
      guard size <= limit else { throw AnnotationError.mediaTooLarge(bytes: size, limit: limit) }
    }
    let content = try doing(.read, source) {
      let attributes = try FileManager.default.attributesOfItem(atPath: source.path)
      guard attributes[.type] as? FileAttributeType != .typeDirectory,
        let size = attributes[.size] as? Int
      else { throw FileError(.read, source, "it is not a file") }
      try check(size)
      return try Data(contentsOf: source)
    }
    // It may have grown meanwhile.
    try check(content.count)
    return try keep(content)
  }

  private func keep(_ content: Data) throws(FileError) -> String {
    let name = Self.name(of: content)
    if !has(name) { try AtomicFile(url(name)).write(content) }
    return name
  }

  /// Moves a downloaded file in, so that nothing of it stays in the process's own folder.
  ///
  /// It is on the disk when this returns. A file is named by its content, so an empty one that a
  /// power failure left would never be replaced.
  ///
  /// - Returns: its name here.
  /// - Throws: `FileError` when it can't be read or moved.
  func adopt(_ source: URL) throws -> String {
    try doing(.write, directory) {
      let name = try keep(try Data(contentsOf: source))
      try FileManager.default.removeItem(at: source)
      return name
    }
  }

  /// Removes the files that nobody shows any more; those that can't be removed wait for next time.
  func sweep(keeping names: Set<String>) {
    let present = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    for name in present where !names.contains(name) {
      try? FileManager.default.removeItem(at: url(name))
    }
  }

  /// Moves all files beside the copy of a damaged journal, which names them.
  ///
  /// - Throws: `FileError` if one can't be moved; a repetition moves the others.
  func setAside(with copy: URL) throws {
    let files = FileManager.default
    guard files.fileExists(atPath: directory.path) else { return }
    try doing(.write, directory) {
      let folder = URL(fileURLWithPath: "\(directory.path).\(copy.pathExtension)")
      try files.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for name in try files.contentsOfDirectory(atPath: directory.path) {
        let target = folder.appendingPathComponent(name)
        // A file of the same name has the same content.
        guard !files.fileExists(atPath: target.path) else { continue }
        try files.moveItem(at: url(name), to: target)
      }
    }
  }

  /// Removes the files that were set aside.
  ///
  /// - Throws: `FileError` if they can't be removed.
  func removeCopies() throws {
    let folder = directory.deletingLastPathComponent()
    let prefix = "\(directory.lastPathComponent).damaged-"
    let files = FileManager.default
    guard files.fileExists(atPath: folder.path) else { return }
    try doing(.write, directory) {
      for name in try files.contentsOfDirectory(atPath: folder.path) where name.hasPrefix(prefix) {
        try files.removeItem(at: folder.appendingPathComponent(name))
      }
    }
  }

  /// Removes all files.
  ///
  /// - Throws: `FileError` when they can't be removed.
  func clear() throws {
    guard FileManager.default.fileExists(atPath: directory.path) else { return }
    try doing(.write, directory) { try FileManager.default.removeItem(at: directory) }
  }

  private func doing<Result>(
    _ step: FileError.Step, _ file: URL, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error where error is FileError || error is AnnotationError {
      throw error
    } catch {
      throw FileError(step, file, error.localizedDescription)
    }
  }

  /// A name made from content: two hashes of 64 bits, and the length.
  ///
  /// It tells files apart that differ by accident, which is all that is asked of it.
  static func name(of content: Data) -> String {
    let second = content.withUnsafeBytes { bytes in
      bytes.reduce(0x6c62_272e_07bb_0142 as UInt64) { hash, byte in
        (hash &+ UInt64(byte)) &* 0x9e37_79b9_7f4a_7c15
      }
    }
    return AtomicFile.checksum(content) + second.hexadecimal + "-\(content.count)"
  }
}
