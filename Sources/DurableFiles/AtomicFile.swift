package import Disk
public import Foundation

/// A small file that is replaced as a whole: after a crash it has the old content or the new one.
///
/// New content is written to another file, which is synchronized and then takes the name; when
/// ``write(_:)`` returns, the content survives a power failure. One process at a time may write it.
public struct AtomicFile: Sendable {
  /// The place of the file.
  public let url: URL

  let disk: any Disk
  private let isSystemFile: Bool

  /// Names the file at `url`; nothing is read or created.
  public init(_ url: URL) {
    self.init(url, on: nil)
  }

  /// Names a file on a disk of any kind; `nil` for the system's.
  package init(_ url: URL, on disk: (any Disk)?) {
    self.url = url
    self.disk = disk ?? SystemDisk()
    isSystemFile = disk == nil
  }

  var path: String { url.path }
  private var draftPath: String { path + ".new" }

  /// The content of the file; `nil` if there is none.
  ///
  /// - Throws: ``FileError`` if the file can't be read.
  public func read() throws(FileError) -> Data? {
    try doing(.read) { () throws(DiskError) in
      guard try disk.exists(path) else { return nil }
      let file = try disk.open(path, .read)
      return Data(try file.read(upToCount: try file.size(), at: 0))
    }
  }

  /// Replaces the content of the file; the file and its folder are created if necessary.
  ///
  /// - Throws: ``FileError``; the file has its old content then, or the new one, which a power
  ///   failure can undo.
  public func write(_ data: Data) throws(FileError) {
    try replace(data)
    try synchronizeName()
  }

  /// Replaces the content of the file, which a power failure can undo before
  /// ``synchronizeName()``.
  func replace(_ data: Data) throws(FileError) {
    if isSystemFile { try createFolder() }
    try doing(.write) { () throws(DiskError) in
      do throws(DiskError) {
        let file = try disk.open(draftPath, .replace)
        try file.append(all: [UInt8](data))
        try file.synchronize()
        try disk.rename(draftPath, to: path)
      } catch {
        // It may have taken the last space of the disk.
        try? disk.remove(draftPath)
        throw error
      }
    }
  }

  /// Makes the file durable under its name.
  func synchronizeName() throws(FileError) {
    try doing(.write) { () throws(DiskError) in try disk.synchronizeFolder(of: path) }
  }

  /// Creates the folder and those that it is in, each durable in its own.
  private func createFolder() throws(FileError) {
    var missing: [URL] = []
    var folder = url.deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.path), folder.path != "/" {
      missing.append(folder)
      folder.deleteLastPathComponent()
    }
    guard let innermost = missing.first else { return }
    do {
      try FileManager.default.createDirectory(
        at: innermost, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw FileError(.write, url, error.localizedDescription)
    }
    try doing(.write) { () throws(DiskError) in
      for folder in missing.reversed() { try disk.synchronizeFolder(of: folder.path) }
    }
  }

  /// Removes the copies and the file; the absence of a file is no error.
  ///
  /// The copies are removed first: after a crash in between, the file still leads to them.
  /// - Throws: ``FileError`` if the file or a copy can't be removed.
  public func remove() throws(FileError) {
    let copies = Result { () throws(FileError) in try removeCopies() }
    try removeFile()
    try copies.get()
  }

  /// Removes the copies that were set aside.
  ///
  /// - Throws: ``FileError`` if one can't be removed.
  public func removeCopies() throws(FileError) {
    try doing(.write) { () throws(DiskError) in
      let copies = try copyPaths()
      for copy in copies.reversed() { try disk.remove(copy) }
      if !copies.isEmpty { try disk.synchronizeFolder(of: path) }
    }
  }

  /// Removes the file and leaves the copies that were set aside.
  ///
  /// - Throws: ``FileError`` if the file can't be removed.
  public func removeFile() throws(FileError) {
    try doing(.write) { () throws(DiskError) in
      var isRemoved = false
      for path in [draftPath, path] where try disk.exists(path) {
        try disk.remove(path)
        isRemoved = true
      }
      if isRemoved { try disk.synchronizeFolder(of: path) }
    }
  }

  /// Copies the file to a name of its own, `NAME.damaged-1` or a higher number, and leaves the
  /// file.
  ///
  /// A copy never replaces another. A file that was copied before is not copied again.
  ///
  /// - Returns: the copy; `nil` if there is no file.
  /// - Throws: ``FileError`` if the copy can't be written.
  public func setAside() throws(FileError) -> URL? {
    guard let data = try read() else { return nil }
    let copies = try doing(.read) { () throws(DiskError) in try copyPaths() }
    for copy in copies where try AtomicFile(URL(fileURLWithPath: copy), on: disk).read() == data {
      return URL(fileURLWithPath: copy)
    }
    let copy = URL(fileURLWithPath: "\(path).damaged-\(copies.count + 1)")
    try AtomicFile(copy, on: disk).write(data)
    return copy
  }

  /// The copies that were set aside, in their order.
  public var copies: [URL] {
    ((try? copyPaths()) ?? []).map { URL(fileURLWithPath: $0) }
  }

  private func copyPaths() throws(DiskError) -> [String] {
    var paths: [String] = []
    while try disk.exists("\(path).damaged-\(paths.count + 1)") {
      paths.append("\(path).damaged-\(paths.count + 1)")
    }
    return paths
  }

  /// A checksum of a file's content: 16 hexadecimal digits that change with every byte.
  public static func checksum(_ data: Data) -> String {
    let hash = data.withUnsafeBytes { bytes in
      bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
        (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
      }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  func doing<Value>(
    _ step: FileError.Step, _ body: () throws(DiskError) -> Value
  ) throws(FileError) -> Value {
    do throws(DiskError) { return try body() } catch { throw FileError(step, url, "\(error)") }
  }
}
