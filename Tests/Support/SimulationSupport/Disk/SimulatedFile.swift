import Disk
import Synchronization

/// An open file of a simulated disk; it stays with its content when the name goes.
final class SimulatedFile: DiskFile {
  private let inode: Int
  private let disk: SimulatedDisk

  init(inode: Int, disk: SimulatedDisk) {
    self.inode = inode
    self.disk = disk
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(DiskError) -> Int {
    // The buffer does not leave the call.
    nonisolated(unsafe) let buffer = buffer
    return try disk.perform(.read) { contents throws(DiskError) in
      contents.image.files[inode]?.cached.read(into: buffer, at: offset) ?? 0
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) -> Int {
    nonisolated(unsafe) let bytes = bytes
    return try disk.perform(.write) { contents throws(DiskError) in
      try contents.write(bytes, at: offset, in: inode)
    }
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int {
    nonisolated(unsafe) let bytes = bytes
    return try disk.perform(.write) { contents throws(DiskError) in
      let end = contents.image.files[inode]?.cached.count ?? 0
      return try contents.write(bytes, at: end, in: inode)
    }
  }

  func size() throws(DiskError) -> Int {
    try disk.perform(.look) { contents throws(DiskError) in
      contents.image.files[inode]?.cached.count ?? 0
    }
  }

  func truncate(to size: Int) throws(DiskError) {
    try disk.perform(.truncate) { contents throws(DiskError) in
      guard size >= 0 else { throw .invalid }
      contents.image.resize(inode, to: size)
    }
  }

  func synchronize() throws(DiskError) {
    try disk.synchronize(inode)
  }
}

extension SimulatedDisk.Contents {
  /// Writes as much of `bytes` as there is room for, or a part of it where faults say so.
  fileprivate mutating func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, in inode: Int
  ) throws(DiskError) -> Int {
    var count = bytes.count
    if count > 1, random.chance(faults.shortWriteRate) {
      // Systems copy page by page; what stops them does so between two pages, never in a sector.
      let end = offset + 1 + random.below(count - 1)
      let whole = end - end % DiskImage.sectorSize - offset
      if whole > 0 { count = whole }
    }
    if let capacity = faults.capacity {
      let growth = max(0, offset + count - (image.files[inode]?.cached.count ?? 0))
      count -= max(0, growth - max(0, capacity - image.byteCount))
      if count <= 0 { throw .full }
    }
    image.write(Array(bytes[..<count]), at: offset, in: inode)
    return count
  }
}

extension SimulatedDisk {
  /// Makes a file's bytes durable; after a failure it is unknown which of them are.
  fileprivate func synchronize(_ inode: Int) throws(DiskError) {
    do throws(DiskError) {
      try perform(.synchronize) { contents throws(DiskError) in
        if contents.faults.losesSynchronizations { return }
        contents.image.synchronize(inode)
      }
    } catch {
      // A disk that is gone changes no more.
      contents.withLock { contents in
        guard !contents.faults.isOff(at: contents.operations) else { return }
        let seed = contents.random.next()
        contents.image.failSynchronization(
          of: inode, seed: seed, keepsCache: contents.faults.keepsCacheAfterFailure)
      }
      throw error
    }
  }
}
