import Disk

/// An open append-only file, closed when it is deallocated.
struct LogFile: Sendable {
  private let file: any DiskFile
  private let path: String
  /// The number of bytes known to be on the disk.
  private var length: Int

  /// Opens an existing file, truncates it after `bytes`, which were just read from it, and waits
  /// until these and the file's name are on the disk: the process that wrote them may have been
  /// killed before its synchronization.
  ///
  /// - Parameter lastEntry: The offset of the last entry. It is rewritten: a system may return
  ///   bytes that it failed to write and does not retry.
  init(
    opening path: String, cutTo bytes: ArraySlice<UInt8>, lastEntry: Int?, on disk: any Disk
  ) throws(FileStateStoreError) {
    self.path = path
    length = bytes.count
    file = try doing("open", path) { () throws(DiskError) in try disk.open(path, .append) }
    try doing("mend", path) { () throws(DiskError) in
      if try file.size() > bytes.count { try file.truncate(to: bytes.count) }
      if let lastEntry {
        let again = try disk.open(path, .update)
        try again.write(all: bytes[lastEntry...], at: lastEntry)
      }
    }
    try synchronize()
    try LogFile.synchronizeFolder(of: path, disk)
  }

  /// Replaces the file at `path` atomically by one with these bytes.
  init(
    replacing path: String, with bytes: [UInt8], on disk: any Disk
  ) throws(FileStateStoreError) {
    let temporary = path + ".new"
    self.path = path
    length = 0
    file = try doing("open", path) { () throws(DiskError) in try disk.open(temporary, .replace) }
    do throws(FileStateStoreError) {
      try append(bytes)
      try doing("replace", path) { () throws(DiskError) in
        try disk.rename(temporary, to: path)
      }
    } catch {
      // A partial file would only take space that may be scarce.
      try? disk.remove(temporary)
      throw error
    }
    // The rename is durable only when the directory is synchronized.
    try LogFile.synchronizeFolder(of: path, disk)
  }

  /// Appends bytes and waits until they are on the disk.
  ///
  /// After a failure they are removed if possible: a system may return bytes that it failed to
  /// write and does not retry.
  mutating func append(_ bytes: [UInt8]) throws(FileStateStoreError) {
    do throws(FileStateStoreError) {
      try doing("write", path) { () throws(DiskError) in try file.append(all: bytes) }
      try synchronize()
      length += bytes.count
    } catch {
      try? file.truncate(to: length)
      throw error
    }
  }

  /// The content of the file; `nil` if it does not exist.
  static func read(
    _ path: String, on disk: any Disk = SystemDisk()
  ) throws(FileStateStoreError) -> [UInt8]? {
    guard
      try doing("find", path, { () throws(DiskError) in try disk.exists(path) })
    else { return nil }
    let file = try doing("open", path) { () throws(DiskError) in try disk.open(path, .read) }
    return try doing("read", path) { () throws(DiskError) in
      var bytes: [UInt8] = []
      while true {
        let chunk = try file.read(upToCount: 1 << 18, at: bytes.count)
        bytes += chunk
        if chunk.count < 1 << 18 { return bytes }
      }
    }
  }

  private static func synchronizeFolder(
    of path: String, _ disk: any Disk
  ) throws(FileStateStoreError) {
    try doing("sync the directory of", path) { () throws(DiskError) in
      try disk.synchronizeFolder(of: path)
    }
  }

  private func synchronize() throws(FileStateStoreError) {
    try doing("sync", path) { () throws(DiskError) in try file.synchronize() }
  }
}

/// The lock of a file, held until deallocation; the system releases it when the process ends.
struct FileLock: Sendable {
  private let lock: any DiskLock

  init(path: String, on disk: any Disk) throws(FileStateStoreError) {
    do throws(DiskError) {
      lock = try disk.lock(path)
    } catch .locked {
      throw FileStateStoreError(
        .inUse,
        "Another sync engine has the state file locked by \(path). End it, or use another file.")
    } catch {
      throw .system("lock", path, error)
    }
  }
}

/// Performs a file operation; an error names the operation and the file.
private func doing<Value>(
  _ what: String, _ path: String, _ body: () throws(DiskError) -> Value
) throws(FileStateStoreError) -> Value {
  do throws(DiskError) { return try body() } catch { throw .system(what, path, error) }
}

extension LogFormat {
  /// The bytes of the log at `path`, without opening it as a store; `nil` where there is no file.
  package static func bytes(at path: String) throws(FileStateStoreError) -> [UInt8]? {
    try LogFile.read(path)
  }
}
