package import Disk

/// An operation on a simulated disk.
package enum DiskOperation: String, Hashable, Sendable, CaseIterable {
  /// Opening a file, and making or emptying it.
  case open
  /// Asking for a name or a size.
  case look
  /// Reading bytes.
  case read
  /// Writing bytes, at the end too.
  case write
  /// Giving a file another length.
  case truncate
  /// Waiting for a file's bytes.
  case synchronize
  /// Waiting for a folder's names.
  case synchronizeFolder
  /// Renaming a file.
  case rename
  /// Removing a name.
  case remove
  /// Taking a lock.
  case lock

  /// Whether a power cut after it may leave something else than one before it.
  package var changesSomething: Bool {
    switch self {
    case .look, .read, .lock: false
    case .open, .write, .truncate, .synchronize, .synchronizeFolder, .rename, .remove: true
    }
  }
}

/// The faults of a simulated disk; none by default.
package struct DiskFaults: Sendable {
  /// One fault: the calls that fail, and how.
  package struct Failure: Sendable {
    /// The first call that fails, counted as `SimulatedDisk.operationCount` does, from 1 on.
    package var number: Int
    /// Whether the calls behind it fail too.
    package var isForEver: Bool
    /// Which kinds of calls; all when empty.
    package var operations: Set<DiskOperation>
    /// The error of the calls.
    package var error: DiskError

    /// A fault that hits the `number`th call, or that one and all later ones.
    ///
    /// With `operations` given, the one hit is the first of these kinds from there on.
    package init(
      at number: Int, isForEver: Bool = false, only operations: Set<DiskOperation> = [],
      error: DiskError = .failed
    ) {
      self.number = number
      self.isForEver = isForEver
      self.operations = operations
      self.error = error
    }

    fileprivate var isSpent = false

    fileprivate mutating func hits(_ operation: DiskOperation, _ number: Int) -> Bool {
      guard !isSpent, number >= self.number else { return false }
      guard operations.isEmpty || operations.contains(operation) else { return false }
      if !isForEver { isSpent = true }
      return true
    }
  }

  /// Calls that fail for certain.
  package var failures: [Failure] = []
  /// The probability with which each kind of call fails with `DiskError.failed`.
  package var rates: [DiskOperation: Double] = [:]
  /// The probability that a write writes only a part.
  package var shortWriteRate = 0.0
  /// The largest size of all files together in bytes; a write beyond it fails with `full`.
  package var capacity: Int?
  /// Whether synchronizing does nothing and says that it was done.
  package var losesSynchronizations = false
  /// Whether reading still gives, after a failed synchronization, what was written before it.
  ///
  /// No later one will save that; otherwise reading gives what the disk has. Systems differ in it.
  package var keepsCacheAfterFailure = true
  /// From this call on the disk does nothing and fails everything: the power is cut there.
  package var powerOff: Int?

  /// A disk without faults.
  package init() {}

  mutating func failure(
    of operation: DiskOperation, number: Int, _ random: inout SeededRandom
  ) -> DiskError? {
    if isOff(at: number) { return .failed }
    for index in failures.indices where failures[index].hits(operation, number) {
      return failures[index].error
    }
    return random.chance(rates[operation] ?? 0) ? .failed : nil
  }

  func isOff(at number: Int) -> Bool { powerOff.map { number >= $0 } ?? false }
}
