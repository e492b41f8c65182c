package import CloudMachine

/// Makes the storages a server can stand on, in a form that may cross to the server's lock.
package enum ServerStorage {
  static func memory(identity: UInt64) -> sending any CloudStorage {
    MemoryStorage(identity: identity, secret: .random())
  }

  /// The storage in the SQLite file at `path`, which is made when there is none.
  ///
  /// The file is closed when the storage is let go; a simulated server restarts on it so.
  ///
  /// - Parameter identity: the number a new file is given; an existing one keeps its own.
  /// - Throws: `ServerFileError` when the file can't be used.
  package static func file(
    path: String, identity: UInt64
  ) throws(ServerFileError) -> sending any CloudStorage {
    try SQLiteStorage(path: path, identity: identity)
  }
}
