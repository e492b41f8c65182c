package import Disk
public import Foundation
import Records
import Synchronization

/// A state store in one file: a log of checksummed records behind a snapshot.
///
/// An append is on the disk when it returns. A new snapshot is written beside the log and put in
/// its place by a rename, so that after a crash the one or the other is there. One store at a time
/// may have the file open; a lock file beside it, named with `.lock` at the end, sees to that, also
/// across processes, and a process that died leaves nothing to clean up. After a read or a write
/// failed the store takes nothing more until a `load()` succeeds, because nobody knows what the
/// disk holds. All members may be used from any thread.
public final class FileStateStore: StateStore {
  private struct Contents {
    var log: LogFile?
    /// Whether it is known what the file holds.
    var isLoaded = false
    /// Why nothing more is taken.
    var failure: FileStateStoreError?
  }

  /// The file of the log.
  public let url: URL

  private let disk: any Disk
  private let lock: FileLock
  private let contents = Mutex(Contents())

  /// Takes hold of the file, which need not exist yet; its directory must.
  ///
  /// - Parameter url: A file on a local disk.
  /// - Throws: `FileStateStoreError` when another store has it, or the directory can't be used.
  public convenience init(url: URL) throws { try self.init(url: url, disk: SystemDisk()) }

  /// Takes hold of a file of `disk`, under the path of `url`; for simulated disks.
  ///
  /// - Throws: `FileStateStoreError` when another store has it, or the directory can't be used.
  package init(url: URL, disk: any Disk) throws {
    self.url = url
    self.disk = disk
    lock = try FileLock(path: url.path + ".lock", on: disk)
  }

  /// What the file holds; `nil` when it does not exist or is empty.
  ///
  /// An append that was cut off by a crash is taken away from the end. Damage anywhere else, and a
  /// file of a newer version, are errors that leave every byte as it is.
  /// - Throws: `FileStateStoreError`; the store then takes nothing until it is loaded again.
  public func load() throws -> StateStoreContents? {
    try contents.withLock { contents in try attempt(&contents, open) }
  }

  private func open(_ contents: inout Contents) throws(FileStateStoreError) -> StateStoreContents? {
    contents.log = nil
    var stored: StateStoreContents?
    if let bytes = try LogFile.read(url.path, on: disk), !bytes.isEmpty {
      let parsed = try LogFormat.parse(bytes, path: url.path)
      // What a failed write left may be shown by the system and yet not be on the disk.
      contents.log =
        contents.failure == nil
        ? try LogFile(
          opening: url.path, cutTo: bytes[..<parsed.length], lastEntry: parsed.lastEntry, on: disk)
        : try LogFile(replacing: url.path, with: Array(bytes[..<parsed.length]), on: disk)
      stored = parsed.contents
    }
    contents.failure = nil
    contents.isLoaded = true
    return stored
  }

  /// Adds an entry behind what the file holds; it is on the disk when this returns.
  ///
  /// - Throws: `FileStateStoreError`; the store then takes nothing more until it is loaded again.
  public func append(_ entry: [UInt8]) throws {
    try contents.withLock { contents in
      if let failure = contents.failure { throw failure }
      try attempt(&contents) { contents throws(FileStateStoreError) in
        // Nobody has looked yet whether there is something to add to.
        if !contents.isLoaded { _ = try open(&contents) }
        if contents.log == nil {
          contents.log = try LogFile(replacing: url.path, with: LogFormat.header, on: disk)
        }
        try contents.log?.append(LogFormat.record(.entry, entry))
      }
    }
  }

  /// Puts a snapshot in the place of all that was there; it is on the disk when this returns.
  ///
  /// - Throws: `FileStateStoreError`; the old contents are then still there, or the new ones.
  public func replace(with snapshot: [UInt8]) throws {
    try contents.withLock { contents in
      if let failure = contents.failure { throw failure }
      try attempt(&contents) { contents throws(FileStateStoreError) in
        let bytes = LogFormat.header + LogFormat.record(.snapshot, snapshot)
        contents.log = try LogFile(replacing: url.path, with: bytes, on: disk)
        contents.isLoaded = true
      }
    }
  }

  /// Does something with the file; after a failure nothing more is taken.
  private func attempt<Value>(
    _ contents: inout Contents,
    _ body: (inout Contents) throws(FileStateStoreError) -> Value
  ) throws(FileStateStoreError) -> Value {
    do throws(FileStateStoreError) {
      return try body(&contents)
    } catch {
      contents.failure = error
      throw error
    }
  }
}
