/// What a state store has kept: the last whole state, and what happened since.
public struct StateStoreContents: Hashable, Sendable {
  /// The last state given to `replace(with:)`; empty when there was none.
  public var snapshot: [UInt8]

  /// What was appended since, oldest first.
  public var entries: [[UInt8]]

  /// Puts together what a store has kept.
  public init(snapshot: [UInt8] = [], entries: [[UInt8]] = []) {
    self.snapshot = snapshot
    self.entries = entries
  }
}

/// A place where an engine keeps its state by itself, so that nothing is lost in a crash.
///
/// The engine appends an entry for each change of its state, and now and then replaces all of
/// them by one snapshot. What the bytes mean is the engine's business. The calls are made one at
/// a time, from any thread; they may block.
public protocol StateStore: Sendable {
  /// What is kept; `nil` when nothing was ever stored.
  ///
  /// The engine asks before anything else, and again after something failed, before it tries
  /// `replace(with:)` with all it has.
  ///
  /// An entry that was not completely written when the process ended is left out.
  /// - Throws: when the store cannot be read or is damaged.
  func load() throws -> StateStoreContents?

  /// Adds an entry behind the others; it is durable when the call returns.
  /// - Throws: when it could not be made durable; the engine then takes it as not stored.
  func append(_ entry: [UInt8]) throws

  /// Puts `snapshot` in the place of the old snapshot and all entries, in one step: after a
  /// crash either the old or the new contents are there. Durable when the call returns.
  func replace(with snapshot: [UInt8]) throws
}
