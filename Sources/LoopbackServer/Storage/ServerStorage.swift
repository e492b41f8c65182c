import CloudMachine
import SQLite

/// Makes the storages a server can stand on, in a form that may cross to the server's lock.
enum ServerStorage {
  static func memory(identity: UInt64) -> sending any CloudStorage {
    MemoryStorage(identity: identity, secret: .random())
  }

  static func file(
    path: String, identity: UInt64, secret: StorageSecret? = nil,
    fileSystem: SQLiteFileSystem? = nil
  ) throws(ServerFileError) -> sending any CloudStorage {
    try SQLiteStorage(
      path: path, identity: identity, secret: secret, fileSystem: fileSystem)
  }
}
