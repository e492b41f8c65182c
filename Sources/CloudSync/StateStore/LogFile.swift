import Disk

/// An open file that is only ever appended to; closed when it is let go.
struct LogFile: Sendable {
  private let file: any DiskFile
  private let path: String

  /// Opens a file that exists, at its end.
  init(opening path: String, on disk: any Disk) throws(FileStateStoreError) {
    self.path = path
    file = try doing("open", path) { () throws(DiskError) in try disk.open(path, .append) }
  }

  /// Puts a file with these bytes in the place of whatever is at `path`, in one step.
  init(
    replacing path: String, with bytes: [UInt8], on disk: any Disk
  ) throws(FileStateStoreError) {
    let temporary = path + ".new"
    self.path = path
    file = try doing("open", path) { () throws(DiskError) in try disk.open(temporary, .replace) }
    try append(bytes)
    try doing("replace", path) { () throws(DiskError) in
      try disk.rename(temporary, to: path)
    }
    // The rename itself is only on the disk when the directory is.
    try doing("sync the directory of", path) { () throws(DiskError) in
      try disk.synchronizeFolder(of: path)
    }
  }

  /// Adds bytes at the end and waits until they are on the disk.
  func append(_ bytes: [UInt8]) throws(FileStateStoreError) {
    try doing("write", path) { () throws(DiskError) in try file.append(all: bytes) }
    try synchronize()
  }

  /// Takes away what stands behind `length`.
  func cut(to length: Int) throws(FileStateStoreError) {
    try doing("mend", path) { () throws(DiskError) in try file.truncate(to: length) }
    try synchronize()
  }

  /// All bytes of the file; `nil` when it does not exist.
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

  private func synchronize() throws(FileStateStoreError) {
    try doing("sync", path) { () throws(DiskError) in try file.synchronize() }
  }
}

/// Holds a file's lock for as long as it lives; the system lets it go when the process ends.
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

/// Does something to the state file, and names both when it fails.
private func doing<Value>(
  _ what: String, _ path: String, _ body: () throws(DiskError) -> Value
) throws(FileStateStoreError) -> Value {
  do throws(DiskError) { return try body() } catch { throw .system(what, path, error) }
}
