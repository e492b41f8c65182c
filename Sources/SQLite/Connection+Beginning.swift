import CSQLite
package import Disk

extension Connection {
  /// Reads the first bytes of the system's file at `path`, at most `count`, without opening it as a
  /// database.
  ///
  /// A process that closes a file releases all locks that it holds on it, those of its connections
  /// included. So SQLite reads it, which closes such a file later.
  package static func beginning(of path: String, count: Int) throws(DiskError) -> [UInt8] {
    guard sqlite3_initialize() == SQLITE_OK, let system = sqlite3_vfs_find(nil) else {
      throw .failed
    }
    let size = max(Int(system.pointee.szOsFile), MemoryLayout<sqlite3_file>.size)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    func check(_ result: Int32?) throws(DiskError) {
      if result == SQLITE_OK { return }
      let number = system.pointee.xGetLastError?(system, 0, nil) ?? 0
      throw number == 0 ? .failed : DiskError(number: number)
    }
    // SQLite opens full names, in which links are resolved, with an empty list of parameters after
    // them and zeros in front; the name stays until the file is closed.
    let longest = Int(system.pointee.mxPathname) + 1
    var name = [CChar](repeating: 0, count: 4 + longest + 2)
    return try name.withUnsafeMutableBufferPointer { (name) throws(DiskError) in
      let name = name.baseAddress.map { $0 + 4 }
      // A name with links has another code of success.
      let named = system.pointee.xFullPathname?(system, path, Int32(longest), name)
      try check(named.map { $0 & 0xff })
      defer { _ = file.pointee.pMethods?.pointee.xClose?(file) }
      let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB
      try check(system.pointee.xOpen?(system, name, file, flags, nil))
      let methods = file.pointee.pMethods?.pointee
      var length: sqlite3_int64 = 0
      try check(methods?.xFileSize?(file, &length))
      // The size of a file of one byte is given as 0.
      let wanted = min(sqlite3_int64(count), max(1, length))
      var bytes = [UInt8](repeating: 0, count: Int(clamping: wanted))
      let result = methods?.xRead?(file, &bytes, Int32(bytes.count), 0)
      if length == 0, result == SQLITE_IOERR | 2 << 8 { return [] }
      try check(result)
      return bytes
    }
  }
}
