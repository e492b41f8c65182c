import CSQLite
import Disk

/// The operations of SQLite on names: open, delete, check for existence.
extension SQLiteFileSystem {
  func open(
    _ name: String?, _ slot: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
    _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    // Without methods SQLite takes it as not opened and does not close it.
    slot.pointee.pMethods = nil
    let path = name ?? temporaryPath()
    let journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
    let mode: DiskMode =
      flags & SQLITE_OPEN_CREATE != 0
      ? .create : flags & SQLITE_OPEN_READWRITE != 0 ? .update : .read
    do throws(DiskError) {
      let file = OpenFile(
        try disk.open(path, mode), path: path, shared: sharedFile(path), system: self)
      file.isRemovedOnClose = name == nil || flags & SQLITE_OPEN_DELETEONCLOSE != 0
      file.synchronizesFolder = flags & SQLITE_OPEN_CREATE != 0 && flags & journals != 0
      FileSlot.fill(slot, with: file)
      outFlags?.pointee = flags
      return SQLITE_OK
    } catch {
      return SQLITE_CANTOPEN
    }
  }

  func delete(_ path: String, synchronizesFolder: Bool) -> Int32 {
    do throws(DiskError) {
      try disk.remove(path)
    } catch {
      return error == .notFound ? IOFailure.deleteMissing : IOFailure.delete
    }
    guard synchronizesFolder else { return SQLITE_OK }
    do throws(DiskError) { try disk.synchronizeFolder(of: path) } catch {
      return IOFailure.folder
    }
    return SQLITE_OK
  }

  func access(_ path: String, _ flags: Int32, _ answer: UnsafeMutablePointer<Int32>?) -> Int32 {
    do throws(DiskError) {
      var isThere = try disk.exists(path)
      // An empty journal counts as none.
      if isThere, flags == SQLITE_ACCESS_EXISTS {
        isThere = try disk.open(path, .read).size() > 0
      }
      answer?.pointee = isThere ? 1 : 0
      return SQLITE_OK
    } catch .notFound {
      answer?.pointee = 0
      return SQLITE_OK
    } catch {
      return IOFailure.access
    }
  }
}

/// SQLite's codes for what failed; its header makes them with macros, which Swift does not see.
enum IOFailure {
  static let read = SQLITE_IOERR | 1 << 8
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let write = SQLITE_IOERR | 3 << 8
  static let synchronize = SQLITE_IOERR | 4 << 8
  static let folder = SQLITE_IOERR | 5 << 8
  static let truncate = SQLITE_IOERR | 6 << 8
  static let size = SQLITE_IOERR | 7 << 8
  static let delete = SQLITE_IOERR | 10 << 8
  static let access = SQLITE_IOERR | 13 << 8
  static let deleteMissing = SQLITE_IOERR | 23 << 8
}
