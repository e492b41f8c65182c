import CSQLite
import Disk

/// One connection's hold on a file of an `SQLiteFileSystem`.
///
/// Isolation: SQLite uses it from one thread at a time; what connections share is behind the lock
/// of `SharedFile`.
final class OpenFile {
  private let file: any DiskFile
  private let path: String
  private let system: SQLiteFileSystem
  let shared: SharedFile

  /// Whether the file goes when this does.
  var isRemovedOnClose = false
  /// Whether the next synchronization has to make the file's name durable too.
  var synchronizesFolder = false

  init(_ file: any DiskFile, path: String, shared: SharedFile, system: SQLiteFileSystem) {
    self.file = file
    self.path = path
    self.shared = shared
    self.system = system
  }

  func close() {
    shared.unlock(self, to: SQLITE_LOCK_NONE)
    shared.leaveMemory(self)
    // A file nobody has a name for does no harm.
    if isRemovedOnClose { try? system.disk.remove(path) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
    do throws(DiskError) {
      var filled = 0
      while filled < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let count = try file.read(into: rest, at: offset + filled)
        if count == 0 {
          rest.initializeMemory(as: UInt8.self, repeating: 0)
          return IOFailure.shortRead
        }
        filled += count
      }
      return SQLITE_OK
    } catch {
      return IOFailure.read
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
    do throws(DiskError) {
      var written = 0
      while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        written += try file.write(rest, at: offset + written)
      }
      return SQLITE_OK
    } catch {
      return error == .full ? SQLITE_FULL : IOFailure.write
    }
  }

  func truncate(to size: Int) -> Int32 {
    do throws(DiskError) { try file.truncate(to: size) } catch { return IOFailure.truncate }
    return SQLITE_OK
  }

  func synchronize() -> Int32 {
    do throws(DiskError) { try file.synchronize() } catch { return IOFailure.synchronize }
    guard synchronizesFolder else { return SQLITE_OK }
    do throws(DiskError) { try system.disk.synchronizeFolder(of: path) } catch {
      return IOFailure.folder
    }
    synchronizesFolder = false
    return SQLITE_OK
  }

  func size(_ answer: UnsafeMutablePointer<Int64>?) -> Int32 {
    do throws(DiskError) { answer?.pointee = Int64(try file.size()) } catch {
      return IOFailure.size
    }
    return SQLITE_OK
  }
}
