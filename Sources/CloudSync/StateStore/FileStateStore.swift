package import Disk
public import Foundation
import Records
import Synchronization

/// A state store in one file: a snapshot followed by a log of checksummed entries.
///
/// An append is durable when it returns. A new snapshot is written to a second file that replaces
/// the first by a rename, so that after a crash one of them is complete. Only one store at a time
/// can open the file, also across processes: a lock file with the suffix `.lock` ensures this, and
/// a terminated process releases it. After a failed read or write the store rejects all writes
/// until `load()` succeeds, since the content on the disk is unknown. All members can be used from
/// any thread.
public final class FileStateStore: StateStore {
  private struct Contents {
    var log: LogFile?
    /// Whether the content of the file is known.
    var isLoaded = false
    /// The error for which writes are rejected.
    var failure: FileStateStoreError?
  }

  /// The file of the log.
  public let url: URL

  private let disk: any Disk
  private let lock: FileLock
  private let contents = Mutex(Contents())

  /// Opens the store and locks its file.
  ///
  /// The file need not exist yet; its directory must.
  ///
  /// - Parameter url: A file on a local disk.
  /// - Throws: `FileStateStoreError` when another store has locked the file, or the directory can't
  ///   be used.
  public convenience init(url: URL) throws { try self.init(url: url, disk: SystemDisk()) }

  /// Opens a store in a file of `disk`, at the path of `url`; for simulated disks.
  ///
  /// - Throws: `FileStateStoreError` when another store has locked the file, or the directory can't
  ///   be used.
  package init(url: URL, disk: any Disk) throws {
    self.url = url
    self.disk = disk
    lock = try FileLock(path: url.path + ".lock", on: disk)
  }

  /// Returns the contents of the file; `nil` if it does not exist or is empty.
  ///
  /// An entry at the end that a crash interrupted is removed. Other damage, and a file of a newer
  /// version, are errors that leave the file unchanged.
  /// - Throws: `FileStateStoreError`; the store then rejects writes until it is loaded again.
  public func load() throws -> StateStoreContents? {
    try contents.withLock { contents in try attempt(&contents, open) }
  }

  private func open(_ contents: inout Contents) throws(FileStateStoreError) -> StateStoreContents? {
    contents.log = nil
    var stored: StateStoreContents?
    if let bytes = try LogFile.read(url.path, on: disk), !bytes.isEmpty {
      let parsed = try LogFormat.parse(bytes, path: url.path)
      // After a failed write, the system may return bytes that are not on the disk.
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

  /// Appends an entry, which is durable when this returns.
  ///
  /// - Throws: `FileStateStoreError`; the store then rejects writes until it is loaded again.
  public func append(_ entry: [UInt8]) throws {
    try contents.withLock { contents in
      if let failure = contents.failure { throw failure }
      try attempt(&contents) { contents throws(FileStateStoreError) in
        // The store was not loaded yet, so the end of the log is unknown.
        if !contents.isLoaded { _ = try open(&contents) }
        if contents.log == nil {
          contents.log = try LogFile(replacing: url.path, with: LogFormat.header, on: disk)
        }
        try contents.log?.append(LogFormat.record(.entry, entry))
      }
    }
  }

  /// Replaces all contents by a snapshot, which is durable when this returns.
  ///
  /// - Throws: `FileStateStoreError`; the file then has the old or the new contents.
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

  /// Performs a file operation; after a failure further writes are rejected.
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
