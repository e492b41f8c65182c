import Foundation

/// An open file that is only ever appended to; closed when it is let go.
struct LogFile: Sendable {
  private final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }
  }

  private let descriptor: Descriptor
  private let path: String

  /// Opens a file that exists, at its end.
  init(opening path: String) throws(FileStateStoreError) {
    self.path = path
    descriptor = Descriptor(try LogFile.open(path, O_WRONLY | O_APPEND | O_CLOEXEC))
  }

  /// Puts a file with these bytes in the place of whatever is at `path`, in one step.
  init(replacing path: String, with bytes: [UInt8]) throws(FileStateStoreError) {
    let temporary = path + ".new"
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC
    self.path = path
    descriptor = Descriptor(try LogFile.open(temporary, flags))
    try append(bytes)
    guard rename(temporary, path) == 0 else { throw .system("replace", path) }
    // The rename itself is only on the disk when the directory is.
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let folder = Descriptor(try LogFile.open(directory, O_RDONLY | O_CLOEXEC))
    guard fsync(folder.number) == 0 else { throw .system("sync the directory of", path) }
  }

  /// Adds bytes at the end and waits until they are on the disk.
  func append(_ bytes: [UInt8]) throws(FileStateStoreError) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        write(descriptor.number, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .system("write", path) }
      written += count
    }
    try synchronize()
  }

  /// Takes away what stands behind `length`.
  func cut(to length: Int) throws(FileStateStoreError) {
    guard ftruncate(descriptor.number, off_t(length)) == 0 else { throw .system("mend", path) }
    try synchronize()
  }

  /// All bytes of the file; `nil` when it does not exist.
  static func read(_ path: String) throws(FileStateStoreError) -> [UInt8]? {
    guard access(path, F_OK) == 0 else { return nil }
    let file = Descriptor(try open(path, O_RDONLY | O_CLOEXEC))
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = chunk.withUnsafeMutableBytes {
        Foundation.read(file.number, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system("read", path) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: chunk[..<count])
    }
  }

  private static func open(
    _ path: String, _ flags: Int32
  ) throws(FileStateStoreError) -> Int32 {
    while true {
      let number = Foundation.open(path, flags, 0o600)
      if number >= 0 { return number }
      if errno != EINTR { throw .system("open", path) }
    }
  }

  private func synchronize() throws(FileStateStoreError) {
    #if canImport(Darwin)
      let isOnDisk = fcntl(descriptor.number, F_FULLFSYNC) != -1
    #else
      let isOnDisk = fdatasync(descriptor.number) == 0
    #endif
    guard isOnDisk else { throw .system("sync", path) }
  }
}

/// Holds a file's lock for as long as it lives; the system lets it go when the process ends.
final class FileLock: Sendable {
  private let descriptor: Int32

  init(path: String) throws(FileStateStoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system("lock", path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw FileStateStoreError(
        .inUse,
        "Another sync engine has the state file locked by \(path). End it, or use another file.")
    }
    // Last: an object whose properties are all set is destroyed when its initialiser throws, and
    // would close the number a second time, which may be another file by then.
    self.descriptor = descriptor
  }

  deinit {
    // A child process forked meanwhile may hold the same open file until it runs its program;
    // only an explicit unlock lets go for both.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
