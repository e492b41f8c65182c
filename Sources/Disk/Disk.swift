/// Files as the stores use them: the system's, or simulated ones whose power can be cut.
///
/// Every call either did what it says or throws why not; interrupted calls are repeated inside.
/// Nothing written is safe before `synchronize` of its file returned, and no name before
/// `synchronizeFolder` did. All members may be called from any thread and may block.
package protocol Disk: Sendable {
  /// Opens the file at `path`.
  ///
  /// - Throws: `DiskError.notFound` where there is none and `mode` makes none.
  func open(_ path: String, _ mode: DiskMode) throws(DiskError) -> any DiskFile

  /// Whether something is called `path`; a folder that can't be searched is an error, not a no.
  func exists(_ path: String) throws(DiskError) -> Bool

  /// Gives a file another name, in the place of whatever had it, in one step.
  func rename(_ path: String, to newPath: String) throws(DiskError)

  /// Takes away a name, and with its last name the file; those who have it open keep it.
  func remove(_ path: String) throws(DiskError)

  /// Waits until all names given and taken in the folder of `path` are on the disk.
  func synchronizeFolder(of path: String) throws(DiskError)

  /// Takes the lock that the file at `path`, made if need be, stands for.
  ///
  /// It is let go when the answer is, or when the process ends.
  /// - Throws: `DiskError.locked` when somebody else, here or in another process, holds it.
  func lock(_ path: String) throws(DiskError) -> any DiskLock
}

/// How a file is opened.
package enum DiskMode: Hashable, Sendable {
  /// To read; it must exist.
  case read
  /// To write at its end only; it must exist.
  case append
  /// To write at its end only; made anew, without what was there.
  case replace
  /// To read and write anywhere; it must exist.
  case update
  /// To read and write anywhere; made when there is none.
  case create
}

/// An open file; closed when it is let go.
package protocol DiskFile: AnyObject, Sendable {
  /// Reads up to as many bytes as `buffer` takes, from `offset` on; none at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DiskError) -> Int

  /// Writes some of `bytes`, at least one of them, at `offset`; answers how many.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) -> Int

  /// Writes some of `bytes`, at least one of them, at the end; answers how many.
  func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int

  /// How many bytes it has.
  func size() throws(DiskError) -> Int

  /// Takes away what stands behind `size`, or adds zeros up to there.
  func truncate(to size: Int) throws(DiskError)

  /// Waits until all bytes written are on the disk; what an error leaves there is unknown.
  func synchronize() throws(DiskError)
}

/// A lock that is held for as long as this lives.
package protocol DiskLock: AnyObject, Sendable {}
