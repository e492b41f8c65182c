/// The contents of a state store: the last snapshot and the entries after it.
public struct StateStoreContents: Hashable, Sendable {
  /// The last snapshot passed to `replace(with:)`; empty if there was none.
  public var snapshot: [UInt8]

  /// The entries appended since, oldest first.
  public var entries: [[UInt8]]

  /// Creates contents.
  public init(snapshot: [UInt8] = [], entries: [[UInt8]] = []) {
    self.snapshot = snapshot
    self.entries = entries
  }
}

/// Persistent storage for the state of an engine, so that nothing is lost in a crash.
///
/// The engine calls `load()` first. Then it appends an entry for each change of its state, and from
/// time to time replaces all entries by a snapshot. After a failure it calls `load()` and then
/// `replace(with:)` with its whole state. The bytes are opaque to the store. Calls are made one at
/// a time, from any thread; they may block.
public protocol StateStore: Sendable {
  /// Returns the stored contents; `nil` if nothing was ever stored.
  ///
  /// The engine calls this first, and again after a failure, before `replace(with:)`.
  ///
  /// An entry that was not completely written when the process ended is omitted.
  /// - Throws: when the store can't be read or is damaged.
  func load() throws -> StateStoreContents?

  /// Appends an entry, which is durable when the call returns.
  /// - Throws: when the entry could not be made durable; the engine treats it as not stored.
  func append(_ entry: [UInt8]) throws

  /// Replaces the old snapshot and all entries by `snapshot` atomically: after a crash the store
  /// has either the old or the new contents. Durable when the call returns.
  func replace(with snapshot: [UInt8]) throws
}
