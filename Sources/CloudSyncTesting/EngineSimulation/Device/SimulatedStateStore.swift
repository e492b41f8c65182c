import CloudSync
import Synchronization

/// The disk under one device's state store: what is on it survives the device's runs.
final class SimulatedStateFile: Sendable {
  struct Contents: Sendable {
    var kept: StateStoreContents?
    /// The run that may write; the writes of those before it, which are dead, come to nothing.
    var run = 0
    /// After how many more writes the device ends in the middle of one; `nil` for never.
    var writesLeft: Int?
    /// Whether the write at which the device ended had reached the disk.
    var reachesDisk = false
    var writeCount = 0
    var isLosing = false
  }

  private let contents = Mutex(Contents())

  /// Lets a new run write, and none before it.
  func begin(run: Int) {
    contents.withLock { contents in
      contents.run = run
      contents.writesLeft = nil
    }
  }

  /// Ends the device in the middle of a write to come.
  func endDevice(afterWrites count: Int, reachesDisk: Bool) {
    contents.withLock { contents in
      contents.writesLeft = count
      contents.reachesDisk = reachesDisk
    }
  }

  /// Builds a fault in: some entries never reach the disk.
  func loseEntries() { contents.withLock { $0.isLosing = true } }

  /// Whether the device ended in the middle of a write.
  var hasEnded: Bool { contents.withLock { $0.writesLeft == 0 } }

  /// How many writes there were.
  var writeCount: Int { contents.withLock { $0.writeCount } }

  fileprivate func load() -> StateStoreContents? { contents.withLock { $0.kept } }

  fileprivate func write(
    run: Int, _ change: (inout StateStoreContents) -> Void, isEntry: Bool
  ) throws {
    try contents.withLock { contents in
      guard contents.run == run, contents.writesLeft != 0 else { throw Dead() }
      contents.writeCount += 1
      var isLost = contents.isLosing && isEntry && contents.writeCount % 7 == 0
      var isLast = false
      if let left = contents.writesLeft {
        contents.writesLeft = left - 1
        isLast = left == 1
        if isLast, !contents.reachesDisk { isLost = true }
      }
      if !isLost {
        var kept = contents.kept ?? StateStoreContents()
        change(&kept)
        contents.kept = kept
      }
      if isLast { throw Dead() }
    }
  }

  private struct Dead: Error {}
}

/// One run's state store.
struct SimulatedStateStore: StateStore {
  let file: SimulatedStateFile
  let run: Int

  func load() throws -> StateStoreContents? { file.load() }

  func append(_ entry: [UInt8]) throws {
    try file.write(run: run, { $0.entries.append(entry) }, isEntry: true)
  }

  func replace(with snapshot: [UInt8]) throws {
    try file.write(run: run, { $0 = StateStoreContents(snapshot: snapshot) }, isEntry: false)
  }
}
