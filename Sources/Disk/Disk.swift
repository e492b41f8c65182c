/// File access for the stores: the system's files, or simulated ones with power failures.
///
/// A call either succeeds completely or throws; calls interrupted by a signal are repeated
/// internally. Written bytes are durable only after `synchronize` of their file has returned, and
/// created, renamed or removed names only after `synchronizeFolder`. All members can be called from
/// any thread and may block.
package protocol Disk: Sendable {
  /// Opens the file at `path`.
  ///
  /// - Throws: `DiskError.notFound` when there is none and `mode` does not create one.
  func open(_ path: String, _ mode: DiskMode) throws(DiskError) -> any DiskFile

  /// Whether a file exists at `path`; a directory that can't be searched is an error.
  func exists(_ path: String) throws(DiskError) -> Bool

  /// Renames a file atomically, replacing a file with the new name.
  func rename(_ path: String, to newPath: String) throws(DiskError)

  /// Removes a name, and the file with its last name; open files remain usable.
  func remove(_ path: String) throws(DiskError)

  /// Waits until the names in the directory of `path` are on the disk.
  func synchronizeFolder(of path: String) throws(DiskError)

  /// Acquires the lock of the file at `path`, which is created if necessary.
  ///
  /// The lock is released when the returned value is deallocated, or when the process ends.
  /// - Throws: `DiskError.locked` when the lock is held elsewhere, in this or another process.
  func lock(_ path: String) throws(DiskError) -> any DiskLock
}

/// The mode in which a file is opened.
package enum DiskMode: Hashable, Sendable {
  /// For reading; the file must exist.
  case read
  /// For appending; the file must exist.
  case append
  /// For appending to a new or truncated file.
  case replace
  /// For reading and writing; the file must exist.
  case update
  /// For reading and writing; the file is created if there is none.
  case create
}

/// An open file, closed when it is deallocated.
package protocol DiskFile: AnyObject, Sendable {
  /// Reads bytes from `offset` on into `buffer` and returns their number; 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DiskError) -> Int

  /// Writes at least one of `bytes` at `offset` and returns the number of written bytes.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) -> Int

  /// Appends at least one of `bytes` and returns the number of written bytes.
  func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int

  /// The size of the file in bytes.
  func size() throws(DiskError) -> Int

  /// Truncates the file to `size`, or extends it with zeros.
  func truncate(to size: Int) throws(DiskError)

  /// Waits until all written bytes are on the disk; after an error their state is unknown.
  func synchronize() throws(DiskError)
}

/// A lock, held until this object is deallocated.
package protocol DiskLock: AnyObject, Sendable {}
