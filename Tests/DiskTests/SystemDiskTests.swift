import Disk
import Foundation
import Testing

/// The files of the system, as the stores use them.
@Suite("Files of the system")
struct SystemDiskTests {
  private let disk = SystemDisk()

  /// Runs `body` with a path in a folder of its own.
  private func withPath(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("file").path)
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The descriptors of this process that are open on the file at `path`.
  private func descriptors(of path: String) -> [CInt] {
    var file = stat()
    guard stat(path, &file) == 0,
      let names = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")
    else { return [] }
    return names.compactMap { CInt($0) }.filter { number in
      var found = stat()
      return fstat(number, &found) == 0 && found.st_ino == file.st_ino
        && found.st_dev == file.st_dev
    }
  }

  @Test("A file is appended to, replaced or changed in place, and created in two modes only")
  func modesDecideWhatBecomesOfAFile() throws {
    for (mode, changed) in [
      (.append, "old.new"), (.replace, "new"), (.update, "new."), (.create, "new."),
    ] as [(DiskMode, String)] {
      try withPath { path in
        func write(_ file: any DiskFile) throws {
          if mode == .append || mode == .replace {
            try file.append(all: Array("new".utf8))
          } else {
            try file.write(all: Array("new".utf8)[...], at: 0)
          }
        }
        if mode == .replace || mode == .create {
          try write(disk.open(path, mode))
          #expect(try text(path) == "new", "\(mode)")
          let attributes = try FileManager.default.attributesOfItem(atPath: path)
          #expect(attributes[.posixPermissions] as? Int == 0o600, "\(mode)")
        } else {
          #expect(throws: DiskError.notFound) { _ = try disk.open(path, mode) }
          #expect(try !disk.exists(path), "\(mode)")
        }
        try Data("old.".utf8).write(to: URL(fileURLWithPath: path))
        try write(disk.open(path, mode))
        #expect(try text(path) == changed, "\(mode)")
      }
    }
  }

  @Test("What two open files append in turn is kept", arguments: [DiskMode.append, .replace])
  func appendedBytesOfTwoFilesAreKept(_ mode: DiskMode) throws {
    try withPath { path in
      let first = try disk.open(path, .replace)
      let second = try disk.open(path, mode)
      try first.append(all: [97])
      try second.append(all: [98])
      try first.append(all: [99])
      #expect(try text(path) == "abc")
    }
  }

  @Test("A path that can't be searched is an error, and not the absence of a file")
  func unsearchablePathIsAnError() throws {
    try withPath { path in
      #expect(try !disk.exists(path))
      _ = try disk.open(path, .create)
      #expect(try disk.exists(path))
      #expect(throws: DiskError(number: ENOTDIR)) { _ = try disk.exists(path + "/below") }
    }
  }

  @Test("The folder of a path is synchronized: a named one, the current one, and the root")
  func folderOfAPathIsSynchronized() throws {
    try withPath { path in
      for name in [path, "name", "/name"] { try disk.synchronizeFolder(of: name) }
      #expect(throws: DiskError.notFound) { try disk.synchronizeFolder(of: path + "/name") }
    }
  }

  @Test("No program that is started meanwhile inherits an open file or a lock")
  func startedProgramInheritsNoFile() throws {
    try withPath { path in
      let file = try disk.open(path, .create)
      let lock = try disk.lock(path)
      let numbers = descriptors(of: path)
      #expect(numbers.count == 2)
      for number in numbers { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
      withExtendedLifetime((file, lock)) {}
    }
  }

  @Test("A lock that is released is free, though a process that was forked has its descriptor")
  func releasedLockIsFree() throws {
    try withPath { path in
      var lock: (any DiskLock)? = try disk.lock(path)
      #expect(throws: DiskError.locked) { _ = try disk.lock(path) }
      let number = try #require(descriptors(of: path).first)
      // The same open file, as after a fork.
      let copy = dup(number)
      defer { close(copy) }
      withExtendedLifetime(lock) {}
      lock = nil
      _ = try disk.lock(path)
    }
  }

  /// A file of the numbers from 0 to 99 that gives three bytes at a time, and fails at a place.
  private final class SlowFile: DiskFile {
    private let failure: Int

    init(failingAt failure: Int = .max) { self.failure = failure }

    func read(
      into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(DiskError) -> Int {
      if offset >= failure { throw .failed }
      let bytes = (offset..<max(offset, min(offset + 3, offset + buffer.count, 100)))
        .map { UInt8($0) }
      buffer.copyBytes(from: bytes)
      return bytes.count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DiskError) -> Int { 0 }
    func append(_ bytes: UnsafeRawBufferPointer) throws(DiskError) -> Int { 0 }
    func size() throws(DiskError) -> Int { 100 }
    func truncate(to size: Int) throws(DiskError) {}
    func synchronize() throws(DiskError) {}
  }

  @Test("A file that gives a few bytes at a time is read whole, or not at all")
  func slowFileIsReadWhole() throws {
    let file = SlowFile()
    #expect(try file.read(upToCount: 10, at: 20) == Array(20..<30))
    #expect(try file.read(upToCount: 10, at: 95) == Array(95..<100))
    #expect(try file.read(upToCount: 10, at: 100) == [])
    #expect(throws: DiskError.failed) { _ = try SlowFile(failingAt: 6).read(upToCount: 9, at: 0) }
  }
}
