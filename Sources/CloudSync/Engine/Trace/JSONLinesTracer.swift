public import Foundation
import Synchronization

/// Writes a trace into a file, one line of JSON for each entry; `cloudsync trace` shows it as a
/// timeline.
///
/// What cannot be written is left out: a full disk does not stop a sync. Not in CloudKit.
public final class JSONLinesTracer: SyncTracer {
  private let handle: Mutex<FileHandle?>

  /// Begins a new file, in the place of one that is there.
  ///
  /// - Parameter url: A file in a directory that exists.
  /// - Throws: What the system says when the file cannot be made.
  public init(url: URL) throws {
    try Data().write(to: url)
    handle = Mutex(try FileHandle(forWritingTo: url))
  }

  /// Writes the entry behind the others.
  public func record(_ entry: SyncTraceEntry) {
    let line = Data((entry.jsonLine + "\n").utf8)
    handle.withLock { try? $0?.write(contentsOf: line) }
  }

  /// Closes the file; what comes later is left out.
  public func close() {
    handle.withLock { handle in
      try? handle?.close()
      handle = nil
    }
  }
}
