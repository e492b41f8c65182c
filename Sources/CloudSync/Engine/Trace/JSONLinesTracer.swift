public import Foundation
import Synchronization

/// A tracer that writes a file with one line of JSON for each entry; `cloudsync trace` shows it as
/// a timeline.
///
/// Entries that can't be written are dropped: a full disk does not stop a sync. Not in CloudKit.
public final class JSONLinesTracer: SyncTracer {
  private let handle: Mutex<FileHandle?>

  /// Creates a file, replacing an existing one.
  ///
  /// - Parameter url: A file in a directory that exists.
  /// - Throws: The system's error when the file can't be created.
  public init(url: URL) throws {
    try Data().write(to: url)
    handle = Mutex(try FileHandle(forWritingTo: url))
  }

  /// Appends an entry.
  public func record(_ entry: SyncTraceEntry) {
    let line = Data((entry.jsonLine + "\n").utf8)
    handle.withLock { try? $0?.write(contentsOf: line) }
  }

  /// Closes the file; later entries are dropped.
  public func close() {
    handle.withLock { handle in
      try? handle?.close()
      handle = nil
    }
  }
}
