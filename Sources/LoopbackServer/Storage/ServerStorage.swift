package import CloudMachine
package import SQLite

/// Creates the storages of a server.
package enum ServerStorage {
  static func memory(identity: UInt64) -> sending any CloudStorage {
    MemoryStorage(identity: identity, secret: .random())
  }

  /// The storage in the SQLite file at `path`, which is created if it does not exist.
  ///
  /// The file is closed when the storage is released; simulated servers restart this way.
  ///
  /// - Parameters:
  ///   - identity: the identity of a new file; an existing file keeps its identity.
  ///   - secret: the signing secret of a new file; `nil` for a random one.
  ///   - fileSystem: the file system of the file; `nil` for the system's.
  /// - Throws: `ServerFileError` if the file cannot be used.
  package static func file(
    path: String, identity: UInt64, secret: StorageSecret? = nil,
    fileSystem: SQLiteFileSystem? = nil
  ) throws(ServerFileError) -> sending any CloudStorage {
    try SQLiteStorage(
      path: path, identity: identity, secret: secret, fileSystem: fileSystem)
  }
}
