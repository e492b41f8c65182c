package import Disk
import Synchronization

/// A disk that forgets, when the power is cut, what was not synchronized.
///
/// It keeps what programs see and what a power cut leaves apart, for contents and for names.
/// `crash` makes another disk from it: unsynced writes survive there in part, by sectors of 512
/// bytes and in any order, and so do names. `restarted` makes the disk that a new process sees
/// after the old one was killed. The old disk goes on for whoever still holds it and shares
/// nothing with the new one, so what a dead program does later changes nothing.
///
/// Paths are plain text: there are no folders to make, a path's folder is what stands before its
/// last slash. Everything follows from the calls, the faults and the seed. All members may be
/// called from any thread.
package final class SimulatedDisk: Disk {
  struct Contents {
    var image: DiskImage
    var faults = DiskFaults()
    var random: SeededRandom
    /// The number of calls of the operations in `DiskOperation`.
    var operations = 0
    var locks: Set<String> = []
    var observer: (@Sendable (DiskImage) -> Void)?
  }

  let contents: Mutex<Contents>

  /// An empty disk.
  ///
  /// - Parameter seed: decides what is left to chance: lengths of short writes, random faults.
  package convenience init(seed: UInt64 = 0) { self.init(image: DiskImage(), seed: seed) }

  /// A disk that holds `image`, without faults.
  package init(image: DiskImage, seed: UInt64 = 0) {
    contents = Mutex(Contents(image: image, random: SeededRandom(seed: seed)))
  }

  /// The contents of the disk, with the changes that a power cut can lose.
  package var image: DiskImage { contents.withLock { $0.image } }

  /// The faults from now on; set `DiskFaults()` for a disk that is whole again.
  package var faults: DiskFaults {
    get { contents.withLock { $0.faults } }
    set { contents.withLock { $0.faults = newValue } }
  }

  /// The number of calls so far that a fault can affect.
  package var operationCount: Int { contents.withLock { $0.operations } }

  /// Whether the power was cut.
  var isOff: Bool { contents.withLock { $0.faults.isOff(at: $0.operations) } }

  /// Has `observer` called with the contents after each call that changed something, and before it
  /// returns.
  ///
  /// It must not use this disk.
  package func observe(_ observer: (@Sendable (DiskImage) -> Void)?) {
    contents.withLock { $0.observer = observer }
  }

  /// The disk after a power cut now; `seed` decides what of the unsynced is left.
  package func crash(seed: UInt64) -> SimulatedDisk {
    SimulatedDisk(image: image.afterCrash(seed: seed), seed: seed)
  }

  /// The disk as a new process finds it after the old one was killed.
  ///
  /// Nothing is lost, locks are free. Faults are not taken over.
  package func restarted() -> SimulatedDisk {
    contents.withLock { contents in
      var random = contents.random
      return SimulatedDisk(image: contents.image, seed: random.next())
    }
  }

  /// Opens a file.
  package func open(_ path: String, _ mode: DiskMode) throws(DiskError) -> any DiskFile {
    let inode = try perform(.open) { contents throws(DiskError) in
      if let inode = contents.image.names[path] {
        if mode == .replace { contents.image.resize(inode, to: 0) }
        return inode
      }
      guard mode == .create || mode == .replace else { throw .notFound }
      return contents.image.make(path)
    }
    return SimulatedFile(inode: inode, disk: self)
  }

  /// Whether there is such a name.
  package func exists(_ path: String) throws(DiskError) -> Bool {
    try perform(.look) { contents throws(DiskError) in contents.image.names[path] != nil }
  }

  /// Renames a file.
  package func rename(_ path: String, to newPath: String) throws(DiskError) {
    try perform(.rename) { contents throws(DiskError) in
      guard let inode = contents.image.names[path] else { throw .notFound }
      contents.image.change(DiskImage.NameChange(inode: inode, path: newPath, oldPath: path))
    }
  }

  /// Removes a name.
  package func remove(_ path: String) throws(DiskError) {
    try perform(.remove) { contents throws(DiskError) in
      guard contents.image.names[path] != nil else { throw .notFound }
      contents.image.change(DiskImage.NameChange(inode: nil, path: path))
    }
  }

  /// Makes the names in the folder of `path` durable.
  package func synchronizeFolder(of path: String) throws(DiskError) {
    try perform(.synchronizeFolder) { contents throws(DiskError) in
      if contents.faults.losesSynchronizations { return }
      contents.image.synchronizeNames(inFolderOf: path)
    }
  }

  /// Takes a lock of this disk; the file itself is not made.
  package func lock(_ path: String) throws(DiskError) -> any DiskLock {
    try perform(.lock) { contents throws(DiskError) in
      guard contents.locks.insert(path).inserted else { throw .locked }
    }
    return SimulatedLock(path: path, disk: self)
  }

  /// Counts a call, has it fail where a fault says so, and shows the observer what it changed.
  func perform<Value: Sendable>(
    _ operation: DiskOperation, _ body: (inout Contents) throws(DiskError) -> Value
  ) throws(DiskError) -> Value {
    let result: Result<Value, DiskError> = contents.withLock { contents in
      contents.operations += 1
      do throws(DiskError) {
        let failure = contents.faults.failure(
          of: operation, number: contents.operations, &contents.random)
        if let failure { throw failure }
        let value = try body(&contents)
        if operation.changesSomething, let observer = contents.observer {
          observer(contents.image)
        }
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

private final class SimulatedLock: DiskLock {
  private let path: String
  private let disk: SimulatedDisk

  init(path: String, disk: SimulatedDisk) {
    self.path = path
    self.disk = disk
  }

  deinit { disk.contents.withLock { _ = $0.locks.remove(path) } }
}
