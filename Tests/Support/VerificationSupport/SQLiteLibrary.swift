import CSQLite

/// The SQLite library of this process, which all its connections share.
package enum SQLiteLibrary {
  /// Disables the memory statistics of SQLite, for programs that use it on many threads.
  ///
  /// Each allocation takes one lock of the whole process to be counted: four threads with
  /// connections of their own get a third less done. It is for programs that are ours alone, as it
  /// changes SQLite for everything in the process, and does nothing once a connection was opened.
  package static func countNoMemory() { _ = cloudsync_count_no_memory() }
}
