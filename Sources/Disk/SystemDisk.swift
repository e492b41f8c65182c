#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The files of the system.
///
/// Created files are accessible to their owner only.
package struct SystemDisk: Disk {
  /// The system's disk.
  package init() {}

  /// Opens a file that child processes do not inherit.
  package func open(_ path: String, _ mode: DiskMode) throws(DiskError) -> any DiskFile {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .append: O_WRONLY | O_APPEND
      case .replace: O_WRONLY | O_APPEND | O_CREAT | O_TRUNC
      case .update: O_RDWR
      case .create: O_RDWR | O_CREAT
      }
    return SystemFile(try SystemDisk.descriptor(path, flags))
  }

  /// Whether a file exists.
  package func exists(_ path: String) throws(DiskError) -> Bool {
    if access(path, F_OK) == 0 { return true }
    if errno == ENOENT { return false }
    throw DiskError(number: errno)
  }

  /// Renames a file.
  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    try check(systemRename(path, newPath))
  }

  /// Unlinks a file.
  package func remove(_ path: String) throws(DiskError) { try check(unlink(path)) }

  /// Synchronizes a directory.
  package func synchronizeFolder(of path: String) throws(DiskError) {
    let folder =
      switch path.lastIndex(of: "/") {
      case nil: "."
      case path.startIndex: "/"
      case .some(let slash): String(path[..<slash])
      }
    try SystemFile(try SystemDisk.descriptor(folder, O_RDONLY)).synchronizeAll()
  }

  /// Acquires a `flock` on the file, which is released when the process ends.
  package func lock(_ path: String) throws(DiskError) -> any DiskLock {
    let file = SystemFile(try SystemDisk.descriptor(path, O_RDWR | O_CREAT))
    try check(retrying { flock(file.number, LOCK_EX | LOCK_NB) })
    return SystemLock(file)
  }

  private static func descriptor(_ path: String, _ flags: Int32) throws(DiskError) -> Int32 {
    let number = retrying { systemOpen(path, flags | O_CLOEXEC) }
    try check(number)
    return number
  }
}

/// An open descriptor of this process.
private final class SystemFile: DiskFile {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(DiskError) -> Int {
    try count(retrying { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) })
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) -> Int {
    try written(retrying { pwrite(number, bytes.baseAddress, bytes.count, off_t(offset)) }, bytes)
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int {
    try written(retrying { systemWrite(number, bytes) }, bytes)
  }

  func size() throws(DiskError) -> Int {
    var status = stat()
    try check(fstat(number, &status))
    return Int(status.st_size)
  }

  func truncate(to size: Int) throws(DiskError) {
    try check(retrying { ftruncate(number, off_t(size)) })
  }

  func synchronize() throws(DiskError) {
    #if canImport(Darwin)
      try synchronizeAll()
    #else
      try check(retrying { fdatasync(number) })
    #endif
  }

  /// Waits for everything about the file, or for the names in a folder.
  func synchronizeAll() throws(DiskError) {
    #if canImport(Darwin)
      // After `fsync` the bytes may still be in the drive's cache, but some volumes, such as those
      // of a network, offer nothing else.
      if retrying({ fcntl(number, F_FULLFSYNC) }) == 0 { return }
      guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else { throw DiskError(number: errno) }
    #endif
    try check(retrying { fsync(number) })
  }

  /// Prevents endless repetition of a write that writes nothing without an error.
  private func written(_ count: Int, _ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int {
    if count == 0, !bytes.isEmpty { throw .failed }
    return try self.count(count)
  }

  private func count(_ count: Int) throws(DiskError) -> Int {
    if count < 0 { throw DiskError(number: errno) }
    return count
  }
}

private final class SystemLock: DiskLock {
  private let file: SystemFile

  init(_ file: SystemFile) { self.file = file }

  deinit {
    // A child process forked meanwhile may hold the same open file until it runs its program;
    // only an explicit unlock releases it for both.
    flock(file.number, LOCK_UN)
  }
}

// System calls with the same names as the methods.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags, 0o600) }

private func systemRename(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }

private func systemWrite(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(number, bytes.baseAddress, bytes.count)
}

/// Repeats a call for as long as a signal interrupts it.
private func retrying<Result: BinaryInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || errno != EINTR { return result }
  }
}

private func check(_ result: Int32) throws(DiskError) {
  if result < 0 { throw DiskError(number: errno) }
}
