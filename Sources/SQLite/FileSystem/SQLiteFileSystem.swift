import CSQLite
package import Disk
import Synchronization

/// Lets SQLite keep its files on a `Disk` instead of the system's own, for simulated disks.
///
/// Connections that are to see each other's locks and share one write-ahead log are given the same
/// one. What SQLite shares between processes through memory is shared between them here; a new
/// file system on the same disk starts without it, like the first process after a crash. Nothing
/// sleeps: a busy connection asks again at once, as often as its timeout allows.
///
/// It does to the disk, step by step, what SQLite's own does on Unix: the same bytes at the same
/// places, a file synchronized where it asks for it, the folder after the first synchronization
/// of a new journal and after the removal of one.
package final class SQLiteFileSystem: Sendable {
  /// The disk the files are on.
  package let disk: any Disk

  /// The name it is registered by.
  let name: String

  /// Belongs to SQLite from `init` to `deinit` and does not change in between.
  private nonisolated(unsafe) let registration: UnsafeMutablePointer<sqlite3_vfs>
  private nonisolated(unsafe) let nameBytes: UnsafeMutablePointer<CChar>
  private let files = Mutex<[String: WeakFile]>([:])
  private let temporaryCount = Mutex(0)
  private static let count = Mutex(0)

  private struct WeakFile {
    weak var file: SharedFile?
  }

  /// A file system on `disk`.
  package init(disk: any Disk) {
    self.disk = disk
    let number = SQLiteFileSystem.count.withLock { count in
      count += 1
      return count
    }
    name = "disk-\(number)"
    let utf8 = Array(name.utf8CString)
    nameBytes = .allocate(capacity: utf8.count)
    nameBytes.initialize(from: utf8, count: utf8.count)
    registration = .allocate(capacity: 1)
    registration.initialize(to: SQLiteFileSystem.methods(name: nameBytes))
    registration.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
    // It fails only when SQLite itself can't start, and then no connection opens either.
    sqlite3_vfs_register(registration, 0)
  }

  deinit {
    sqlite3_vfs_unregister(registration)
    registration.deallocate()
    nameBytes.deallocate()
  }

  /// The state that all connections to the file at `path` share.
  func sharedFile(_ path: String) -> SharedFile {
    files.withLock { files in
      if let file = files[path]?.file { return file }
      let file = SharedFile()
      files[path] = WeakFile(file: file)
      return file
    }
  }

  /// A name that no other temporary file of this file system has.
  func temporaryPath() -> String {
    temporaryCount.withLock { count in
      count += 1
      return "temporary-\(count)"
    }
  }

  private static func methods(name: UnsafePointer<CChar>) -> sqlite3_vfs {
    var methods = sqlite3_vfs()
    methods.iVersion = 2
    methods.szOsFile = Int32(MemoryLayout<FileSlot>.size)
    methods.mxPathname = 1024
    methods.zName = name
    methods.xOpen = { vfs, name, file, flags, outFlags in
      guard let system = SQLiteFileSystem.from(vfs), let file else { return SQLITE_CANTOPEN }
      return system.open(name.map { String(cString: $0) }, file, flags, outFlags)
    }
    methods.xDelete = { vfs, name, synchronizesFolder in
      guard let system = SQLiteFileSystem.from(vfs), let name else { return SQLITE_IOERR }
      return system.delete(String(cString: name), synchronizesFolder: synchronizesFolder != 0)
    }
    methods.xAccess = { vfs, name, flags, answer in
      guard let system = SQLiteFileSystem.from(vfs), let name else { return SQLITE_IOERR }
      return system.access(String(cString: name), flags, answer)
    }
    methods.xFullPathname = { _, name, capacity, answer in
      guard let name, let answer else { return SQLITE_CANTOPEN }
      let bytes = Array(UnsafeBufferPointer(start: name, count: Int(capacity)).prefix { $0 != 0 })
      guard bytes.count < Int(capacity) else { return SQLITE_CANTOPEN }
      answer.update(from: bytes + [0], count: bytes.count + 1)
      return SQLITE_OK
    }
    // SQLite asks only its default file system for randomness; this one is never that.
    methods.xRandomness = { _, _, _ in 0 }
    methods.xSleep = { _, microseconds in microseconds }
    // Nothing in a file depends on it; the beginning of 2001, in milliseconds of Julian days.
    methods.xCurrentTimeInt64 = { _, answer in
      answer?.pointee = 211_845_067_200_000
      return SQLITE_OK
    }
    return methods
  }

  private static func from(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> SQLiteFileSystem? {
    vfs?.pointee.pAppData.map { Unmanaged<SQLiteFileSystem>.fromOpaque($0).takeUnretainedValue() }
  }
}
