import CSQLite

/// The memory SQLite gives for an open file, and the calls it makes on it.
struct FileSlot {
  var base: sqlite3_file
  var file: Unmanaged<OpenFile>?

  static func fill(_ slot: UnsafeMutablePointer<sqlite3_file>, with file: OpenFile) {
    UnsafeMutableRawPointer(slot).initializeMemory(
      as: FileSlot.self,
      to: FileSlot(base: sqlite3_file(pMethods: methods), file: .passRetained(file)))
  }

  private static func file(_ slot: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile? {
    at(slot)?.pointee.file?.takeUnretainedValue()
  }

  private static func at(
    _ slot: UnsafeMutablePointer<sqlite3_file>?
  ) -> UnsafeMutablePointer<FileSlot>? {
    slot.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: FileSlot.self) }
  }

  /// Written once, before the first use, and only read then.
  private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: makeMethods())
    return UnsafePointer(methods)
  }()

  private static func makeMethods() -> sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 2
    methods.xClose = { slot in
      guard let place = FileSlot.at(slot), let file = place.pointee.file else { return SQLITE_OK }
      file.takeUnretainedValue().close()
      place.pointee.file = nil
      file.release()
      return SQLITE_OK
    }
    methods.xRead = { slot, buffer, count, offset in
      FileSlot.file(slot)?.read(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: Int(offset))
        ?? SQLITE_IOERR
    }
    methods.xWrite = { slot, bytes, count, offset in
      FileSlot.file(slot)?.write(
        UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: Int(offset)) ?? SQLITE_IOERR
    }
    methods.xTruncate = { FileSlot.file($0)?.truncate(to: Int($1)) ?? SQLITE_IOERR }
    methods.xSync = { slot, _ in FileSlot.file(slot)?.synchronize() ?? SQLITE_IOERR }
    methods.xFileSize = { FileSlot.file($0)?.size($1) ?? SQLITE_IOERR }
    methods.xLock = { slot, level in
      FileSlot.file(slot).map { $0.shared.lock($0, level) } ?? SQLITE_IOERR
    }
    methods.xUnlock = { slot, level in
      guard let file = FileSlot.file(slot) else { return SQLITE_IOERR }
      file.shared.unlock(file, to: level)
      return SQLITE_OK
    }
    methods.xCheckReservedLock = { slot, answer in
      guard let file = FileSlot.file(slot) else { return SQLITE_IOERR }
      answer?.pointee = file.shared.isReserved ? 1 : 0
      return SQLITE_OK
    }
    methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    // What SQLite's own says on Unix: a write disturbs no byte beside it.
    methods.xSectorSize = { _ in 4096 }
    methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    methods.xShmMap = { slot, region, size, extends, answer in
      guard let file = FileSlot.file(slot) else { return SQLITE_IOERR }
      answer?.pointee = file.shared.memory(
        file, region: Int(region), size: Int(size), extends: extends != 0)
      return SQLITE_OK
    }
    methods.xShmLock = { slot, offset, count, flags in
      FileSlot.file(slot).map {
        $0.shared.lockMemory($0, Int(offset)..<Int(offset + count), flags)
      } ?? SQLITE_IOERR
    }
    methods.xShmBarrier = { slot in FileSlot.file(slot)?.shared.fence() }
    methods.xShmUnmap = { slot, _ in
      if let file = FileSlot.file(slot) { file.shared.leaveMemory(file) }
      return SQLITE_OK
    }
    return methods
  }
}
