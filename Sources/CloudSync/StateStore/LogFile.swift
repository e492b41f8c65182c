import Disk

/// An open file that is only ever appended to; closed when it is let go.
struct LogFile: Sendable {
  private let file: any DiskFile
  private let path: String
  /// How many bytes are known to be on the disk.
  private var length: Int

  /// Opens a file that exists, cuts it after `bytes`, which were just read from it, and waits
  /// until these and the file's name are on the disk: whoever wrote them may have been killed
  /// before it did.
  ///
  /// - Parameter lastEntry: Where the last entry begins. It is written again in its place: a
  ///   system may show what it once failed to write and would never try again.
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
        try LogFile.write(bytes[lastEntry...], to: again, at: lastEntry)
      }
    }
    try synchronize()
    try LogFile.synchronizeFolder(of: path, disk)
  }

  /// Puts a file with these bytes in the place of whatever is at `path`, in one step.
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
      // Half a file would only take the room that may be lacking.
      try? disk.remove(temporary)
      throw error
    }
    // The rename itself is only on the disk when the directory is.
    try LogFile.synchronizeFolder(of: path, disk)
  }

  /// Adds bytes at the end and waits until they are on the disk.
  ///
  /// When that fails they are taken away again as far as the disk lets: a system may show bytes
  /// that it could not write, and never try again.
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

  /// Writes all of `bytes` from `offset` on, in as many steps as the disk needs.
  private static func write(
    _ bytes: ArraySlice<UInt8>, to file: any DiskFile, at offset: Int
  ) throws(DiskError) {
    let result: Result<Void, DiskError> = bytes.withUnsafeBytes { buffer in
      var done = 0
      do throws(DiskError) {
        while done < buffer.count {
          done += try file.write(
            UnsafeRawBufferPointer(rebasing: buffer[done...]), at: offset + done)
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
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

extension LogFormat {
  /// The bytes of the log at `path`, without opening it as a store; `nil` where there is no file.
  package static func bytes(at path: String) throws(FileStateStoreError) -> [UInt8]? {
    try LogFile.read(path)
  }
}
