import Disk
import DurableFiles
import Foundation
import SimulationSupport
import Synchronization
import Testing

/// The files of stores on a simulated disk whose calls fail and whose power is cut.
@Suite("Durable files")
struct DurableFileTests {
  private static let url = URL(fileURLWithPath: "/device/file")
  private static let path = "/device/file"
  private static let seeds: Range<UInt64> = 0..<24

  private static func journal(_ disk: SimulatedDisk) -> Journal<String> {
    Journal(AtomicFile(url, on: disk), format: "words", version: 2)
  }

  /// The changes in the file on a disk; `nil` without a file.
  private static func words(on disk: SimulatedDisk) throws -> [String]? {
    var journal = journal(disk)
    let reading = try journal.read()
    return reading.exists ? reading.changes : nil
  }

  private static func restarted(_ image: DiskImage) -> SimulatedDisk { SimulatedDisk(image: image) }

  // MARK: Files that are replaced

  @Test("After a power cut a replaced file is the old or the new one, and new once written")
  func replacedFileIsOldOrNew() throws {
    let contents = [Data(repeating: 1, count: 700), Data(repeating: 2, count: 3_000)]
    let disk = SimulatedDisk()
    let file = AtomicFile(Self.url, on: disk)
    for (index, content) in contents.enumerated() {
      let images = Images()
      disk.observe { images.add($0) }
      try file.write(content)
      disk.observe(nil)
      let old = index == 0 ? nil : contents[index - 1]
      for seed in Self.seeds {
        for image in images.all {
          let found = try AtomicFile(Self.url, on: Self.restarted(image.afterCrash(seed: seed)))
            .read()
          #expect(found == old || found == content)
        }
        let last = Self.restarted(disk.image.afterCrash(seed: seed))
        #expect(try AtomicFile(Self.url, on: last).read() == content)
      }
    }
  }

  @Test("A removed file and its copies stay removed after a power cut, with a draft of a write")
  func removedFileStaysRemoved() throws {
    let disk = SimulatedDisk()
    let file = AtomicFile(Self.url, on: disk)
    for number: UInt8 in 1...3 {
      try file.write(Data([number]))
      _ = try file.setAside()
    }
    disk.faults.rates[.rename] = 1
    #expect(throws: FileError.self) { try file.write(Data([9])) }
    disk.faults = DiskFaults()
    #expect(disk.image.paths.count == 4)
    try file.removeFile()
    let copies = (1...3).map { "\(Self.path).damaged-\($0)" }
    for seed in Self.seeds { #expect(disk.image.afterCrash(seed: seed).paths == copies) }
    try file.removeCopies()
    for seed in Self.seeds { #expect(disk.image.afterCrash(seed: seed).paths == []) }
    try file.write(Data([1]))
    _ = try file.setAside()
    try file.remove()
    #expect(disk.image.paths == [])
  }

  @Test("A removal of copies that fails in between leaves the first ones, and is repeated")
  func interruptedRemovalOfCopiesIsRepeated() throws {
    let disk = SimulatedDisk()
    let file = AtomicFile(Self.url, on: disk)
    for number: UInt8 in 1...3 {
      try file.write(Data([number]))
      _ = try file.setAside()
    }
    disk.faults.failures = [.init(at: disk.operationCount + 6, only: [.remove])]
    #expect(throws: FileError.self) { try file.removeCopies() }
    disk.faults = DiskFaults()
    #expect(file.copies.map(\.lastPathComponent) == ["file.damaged-1", "file.damaged-2"])
    try file.removeCopies()
    #expect(disk.image.paths == [Self.path])
  }

  @Test("A damaged file is copied once, and no copy replaces another")
  func damagedFileIsCopiedOnce() throws {
    let disk = SimulatedDisk()
    let file = AtomicFile(Self.url, on: disk)
    #expect(try file.setAside() == nil)
    var copies: [String?] = []
    for byte: UInt8 in [1, 1, 2, 1, 2] {
      try file.write(Data([byte]))
      copies.append(try file.setAside()?.lastPathComponent)
    }
    #expect(copies.map { $0?.last } == ["1", "1", "2", "1", "2"])
    #expect(file.copies.count == 2 && disk.image["\(Self.path).damaged-2"] == [2])
    for seed in Self.seeds { #expect(disk.image.afterCrash(seed: seed).paths.count == 3) }
  }

  @Test("A file and the folder that is made for it are accessible to their owner only")
  func filesAreAccessibleToTheirOwnerOnly() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("durable-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("file")
    try AtomicFile(url).write(Data([1]))
    for (path, rights) in [(folder.path, 0o700), (url.path, 0o600)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == rights)
    }
  }

  // MARK: Journals

  @Test("A large group is read as it was written, and not at all if one byte of it is damaged")
  func aLargeGroupIsReadWhole() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    // Texts with every character that has a meaning in JSON, in a group that is decoded in parts.
    let words = (0..<6_000).map { #"\"[{]},: \#($0) \\"# + String(repeating: "x", count: $0 % 40) }
    try journal.append(["first"])
    try journal.append(words)
    try journal.append(["last"])
    let bytes = try #require(disk.image[Self.path])
    #expect(bytes.count > 3 * 64 << 10)
    #expect(try Self.words(on: disk) == ["first"] + words + ["last"])
    var image = disk.image
    image[Self.path]?[bytes.count / 2] ^= 1
    let damaged = SimulatedDisk(image: image)
    var reader = Self.journal(damaged)
    #expect(throws: FileError.self) { try reader.read() }
    #expect(try reader.read(recovering: true).changes == ["first", "last"])
  }

  /// A way to write to a journal, from the first step that may fail on.
  struct WriteCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    fileprivate var prepare: @Sendable (inout Journal<String>) throws -> Void
    /// The changes that are there before the one that fails.
    var before: [String]
  }

  static let writes: [WriteCase] = [
    WriteCase(testDescription: "a new journal", prepare: { _ in }, before: []),
    WriteCase(
      testDescription: "an open journal", prepare: { try $0.append(["a"]) }, before: ["a"]),
    WriteCase(
      testDescription: "a rewritten journal",
      prepare: {
        try $0.append(["a"])
        try $0.rewrite([["b"], ["c"]])
      }, before: ["b", "c"]),
    WriteCase(
      testDescription: "a removed journal",
      prepare: {
        try $0.append(["a"])
        try $0.remove()
      }, before: []),
    WriteCase(
      testDescription: "a journal that was read",
      prepare: {
        try $0.append(["a"])
        _ = try $0.read()
      }, before: ["a"]),
  ]

  @Test(
    "A refused change is in no file, whichever call fails, and the next ones are durable",
    arguments: writes)
  func refusedChangeIsInNoFile(_ row: WriteCase) throws {
    let refused = String(repeating: "r", count: 1_500)
    // More calls than a write makes; the last attempts find a disk without a fault.
    for call in 1...18 {
      for (isForEver, keepsCache) in [(false, true), (false, false), (true, true)] {
        let disk = SimulatedDisk()
        disk.faults.shortWriteRate = 0.5
        var journal = Self.journal(disk)
        try row.prepare(&journal)
        disk.faults.keepsCacheAfterFailure = keepsCache
        disk.faults.failures = [.init(at: disk.operationCount + call, isForEver: isForEver)]
        let isStored = (try? journal.append([refused])) != nil
        let isTakenBack = !isForEver
        disk.faults = DiskFaults()
        let story = "\(row.testDescription), call \(call), \(isForEver), \(keepsCache)"
        let expected = row.before + (isStored ? [refused] : [])
        if isTakenBack {
          #expect(try Self.words(on: disk.restarted()) ?? [] == expected, "\(story)")
        }
        try journal.append(["next"])
        try journal.append(["last"])
        for seed in Self.seeds {
          let found = try Self.words(on: Self.restarted(disk.image.afterCrash(seed: seed)))
          #expect(found == expected + ["next", "last"], "\(story)")
        }
      }
    }
  }

  @Test("A journal whose last write failed and could not be taken back can be removed and used")
  func failedJournalCanBeRemoved() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    try journal.append(["a"])
    disk.faults.rates = [.write: 1, .open: 1]
    #expect(throws: FileError.self) { try journal.append(["b"]) }
    disk.faults = DiskFaults()
    try journal.remove()
    try journal.append(["c"])
    #expect(try Self.words(on: disk) == ["c"])
  }

  @Test(
    "What a journal shows is durable, though its writer was killed or its disk refused it",
    arguments: [true, false])
  func shownChangesAreDurable(isRefused: Bool) throws {
    for size in [1, 600, 1_500] {
      let disk = SimulatedDisk()
      var writer = Self.journal(disk)
      try writer.append(["a"])
      if isRefused {
        disk.faults.failures = [
          .init(
            at: disk.operationCount, isForEver: true, only: [.synchronize, .truncate])
        ]
      } else {
        disk.faults.losesSynchronizations = true
      }
      let change = String(repeating: "b", count: size)
      #expect(((try? writer.append([change])) == nil) == isRefused)
      let next = disk.restarted()
      var reader = Self.journal(next)
      let shown = try reader.read().changes
      #expect(shown == ["a", change])
      for seed in Self.seeds {
        let crashed = Self.restarted(next.image.afterCrash(seed: seed))
        #expect(try Self.words(on: crashed) == shown, "\(size)")
      }
    }
  }

  /// What another journal, or something else, does to a file that a journal has read.
  static let others: [@Sendable (SimulatedDisk) throws -> Void] = [
    { disk in
      var other = journal(disk)
      _ = try other.read()
      try other.append(["other"])
    },
    { disk in
      var other = journal(disk)
      _ = try other.read()
      try other.rewrite([["b"], ["b"]])
    },
    { disk in
      var other = journal(disk)
      try other.remove()
    },
  ]

  @Test(
    "A file that another has written is not written anew, and its lines and new ones are both kept",
    arguments: others.indices)
  func linesOfAnotherAreKept(_ index: Int) throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    try journal.append(["a"])
    try Self.others[index](disk)
    let before = try Self.words(on: disk)
    #expect(throws: FileError.self) { try journal.rewrite([["c"]]) }
    #expect(try Self.words(on: disk) == before)
    if let before {
      try journal.append(["c"])
      #expect(throws: FileError.self) { try journal.rewrite([["d"]]) }
      #expect(try Self.words(on: disk) == before + ["c"])
    } else {
      #expect(throws: FileError.self) { try journal.append(["c"]) }
    }
    // Once it is read it may be written anew.
    let found = try journal.read().changes
    try journal.append(["e"])
    #expect(try Self.words(on: disk) == found + ["e"])
    try journal.rewrite([["f"]])
    #expect(try Self.words(on: disk) == ["f"])
    try Self.others[0](disk)
    try journal.rewrite([["erased"]], replacingOthers: true)
    #expect(try Self.words(on: disk) == ["erased"])
  }

  @Test("A file that can't be written is read, and the next change makes its last line durable")
  func fileThatCannotBeWrittenIsRead() throws {
    let disk = SimulatedDisk()
    var writer = Self.journal(disk)
    try writer.append(["a"])
    disk.faults.losesSynchronizations = true
    let change = String(repeating: "b", count: 1_500)
    try writer.append([change])
    disk.faults = DiskFaults()
    // The file is opened for reading, and not for writing.
    disk.faults.failures = [
      .init(at: disk.operationCount + 3, isForEver: true, only: [.open], error: .denied)
    ]
    var reader = Self.journal(disk)
    #expect(try reader.read().changes == ["a", change])
    #expect(throws: FileError.self) { try reader.append(["c"]) }
    // What another one adds meanwhile stays.
    disk.faults = DiskFaults()
    var other = reader
    try reader.append(["d"])
    for seed in Self.seeds {
      let found = try Self.words(on: Self.restarted(disk.image.afterCrash(seed: seed)))
      #expect(found == ["a", change, "d"])
    }
    try other.append(["e"])
    #expect(try Self.words(on: disk) == ["a", change, "d", "e"])
    // An incomplete line has to be removed, which is a change.
    try disk.open(Self.path, .append).append(all: Array("rest".utf8))
    disk.faults.failures = [
      .init(at: disk.operationCount + 3, isForEver: true, only: [.open], error: .denied)
    ]
    var last = Self.journal(disk)
    #expect(throws: FileError.self) { _ = try last.read() }
  }

  @Test("A line that another journal adds while this one reads the file is kept")
  func lineAddedDuringAReadIsKept() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    try journal.append(["a"])
    let between = InterruptedDisk(disk) {
      var other = Self.journal(disk)
      _ = try? other.read()
      try? other.append(["other"])
    }
    var reader = Journal<String>(AtomicFile(Self.url, on: between), format: "words", version: 2)
    #expect(try reader.read().changes == ["a"])
    #expect(try Self.words(on: disk) == ["a", "other"])
    #expect(throws: FileError.self) { try reader.rewrite([["a"]]) }
    try reader.append(["b"])
    #expect(try Self.words(on: disk) == ["a", "other", "b"])
  }

  @Test("Two journals that found no file both add their lines to the one that is made")
  func twoNewJournalsShareAFile() throws {
    let disk = SimulatedDisk()
    var (first, second) = (Self.journal(disk), Self.journal(disk))
    #expect(try !first.read().exists && !second.read().exists)
    try first.append(["a"])
    try second.append(["b"])
    try first.append(["c"])
    #expect(try Self.words(on: disk) == ["a", "b", "c"])
    for journal in [first, second] {
      var journal = journal
      #expect(throws: FileError.self) { try journal.rewrite([["d"]]) }
    }
  }

  @Test("A journal of an older version is read, and has the new version from the next change on")
  func olderVersionIsRead() throws {
    let disk = SimulatedDisk()
    func journal(_ disk: SimulatedDisk) -> Journal<String> {
      Journal(AtomicFile(Self.url, on: disk), format: "words", version: 2, oldestVersion: 1)
    }
    var older = Journal<String>(AtomicFile(Self.url, on: disk), format: "words", version: 1)
    for word in ["a", "b"] { try older.append([word]) }
    #expect(throws: FileError.self) { try Self.words(on: disk) }
    var (first, second) = (journal(disk), journal(disk))
    #expect(try first.read().changes == ["a", "b"] && second.read().changes == ["a", "b"])
    let images = Images()
    disk.observe { images.add($0) }
    try first.append(["c"])
    disk.observe(nil)
    try second.append(["d"])
    #expect(try Self.words(on: disk) == ["a", "b", "c", "d"])
    #expect { _ = try older.read() } throws: { ($0 as? FileError)?.step == .use }
    for seed in Self.seeds {
      for image in images.all {
        var restarted = journal(Self.restarted(image.afterCrash(seed: seed)))
        let found = try restarted.read().changes
        #expect(found == ["a", "b"] || found == ["a", "b", "c"])
      }
    }
    #expect(throws: FileError.self) {
      var other = Journal<String>(
        AtomicFile(Self.url, on: disk), format: "word", version: 3, oldestVersion: 1)
      _ = try other.read()
    }
  }

  @Test("What a journal failed to remove is replaced by the next change")
  func failedRemovalIsReplaced() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    try journal.append(["old"])
    disk.faults.rates[.remove] = 1
    #expect(throws: FileError.self) { try journal.remove() }
    disk.faults = DiskFaults()
    try journal.append(["new"])
    #expect(try Self.words(on: disk) == ["new"])
  }

  @Test("A file that can't be replaced leaves no draft, which takes space")
  func failedReplacementLeavesNoDraft() throws {
    for operation in [DiskOperation.write, .synchronize, .rename] {
      let disk = SimulatedDisk()
      let file = AtomicFile(Self.url, on: disk)
      try file.write(Data([1]))
      disk.faults.rates[operation] = 1
      #expect(throws: FileError.self) { try file.write(Data([2])) }
      #expect(disk.image.paths == [Self.path] && disk.image[Self.path] == [1])
    }
  }

  @Test("A rewrite whose name is not durable is made durable before the next change")
  func uncertainNameIsMadeDurable() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    try journal.append(["a"])
    disk.faults.rates[.synchronizeFolder] = 1
    #expect(throws: FileError.self) { try journal.rewrite([["b"]]) }
    #expect(throws: FileError.self) { try journal.append(["c"]) }
    disk.faults = DiskFaults()
    try journal.append(["d"])
    for seed in Self.seeds {
      let found = try Self.words(on: Self.restarted(disk.image.afterCrash(seed: seed)))
      #expect(found == ["b", "d"])
    }
  }

  @Test("A journal is mostly obsolete beyond 256 KiB and three times what was last written anew")
  func obsoleteJournalIsKnown() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    let word = String(repeating: "w", count: 10_000 - 22)
    func appends(_ journal: inout Journal<String>) throws -> Int {
      var count = 0
      while !journal.isMostlyObsolete, count < 200 {
        try journal.append([word])
        count += 1
      }
      return count
    }
    // The header has 8 bytes, the mark of a rewrite 20, and each other line 10,000.
    #expect(try appends(&journal) == 27)
    try journal.rewrite([])
    #expect(try appends(&journal) == 27)
    try journal.rewrite(Array(repeating: [word], count: 30))
    #expect(try appends(&journal) == 61)
    // A file that another journal has written is not to be written anew.
    var other = Self.journal(disk)
    _ = try other.read()
    try other.append([word])
    try journal.append([word])
    #expect(!journal.isMostlyObsolete)
    _ = try journal.read()
    #expect(journal.isMostlyObsolete, "the size after the rewrite is found in the file")
    try journal.rewrite(Array(repeating: [word], count: 30))
    // Each of these launches adds a few lines only.
    for _ in 0..<21 {
      journal = Self.journal(disk)
      _ = try journal.read()
      for _ in 0..<3 where !journal.isMostlyObsolete { try journal.append([word]) }
    }
    #expect(journal.isMostlyObsolete)
    #expect(try journal.read().changes.count == 30 + 61)
    try journal.remove()
    #expect(try appends(&journal) == 27)
  }

  @Test("A rewrite that fails is due again when the file has grown by a quarter")
  func failedRewriteIsDueAfterGrowth() throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    let word = String(repeating: "w", count: 10_000)
    try journal.append([word])
    disk.faults.rates[.rename] = 1
    var attempts = 0
    for _ in 1..<100 {
      try journal.append([word])
      guard journal.isMostlyObsolete else { continue }
      attempts += 1
      #expect(throws: FileError.self) { try journal.rewrite([]) }
    }
    // From 270,000 bytes to 1,000,000, each time a quarter more.
    #expect(attempts == 6)
    disk.faults = DiskFaults()
    try journal.rewrite([[word]])
    #expect(!journal.isMostlyObsolete)
    for _ in 0..<30 { try journal.append([word]) }
    #expect(journal.isMostlyObsolete, "a rewrite that succeeded forgets the failure")
  }

  /// The bytes of a file, and what becomes of it.
  struct ReadingCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Changes the bytes of a journal with the groups a and b.
    fileprivate var damage: @Sendable (inout [UInt8]) -> Void
    /// The changes; `nil` for an error.
    var changes: [String]?
    /// The changes with recovery; `nil` for an error.
    var recovered: [String]?
  }

  static let readings: [ReadingCase] = [
    ReadingCase(
      testDescription: "whole", damage: { _ in }, changes: ["a", "b"], recovered: ["a", "b"]),
    ReadingCase(
      testDescription: "a last line without its end", damage: { $0.removeLast() }, changes: ["a"],
      recovered: ["a"]),
    ReadingCase(
      testDescription: "zeros in the last line", damage: { $0[$0.count - 4] = 0 }, changes: ["a"],
      recovered: ["a"]),
    ReadingCase(
      testDescription: "zeros in the first line", damage: { $0[27] = 0 }, changes: nil,
      recovered: ["b"]),
    ReadingCase(
      testDescription: "another byte in the last line", damage: { $0[$0.count - 4] ^= 1 },
      changes: nil, recovered: ["a"]),
    ReadingCase(
      testDescription: "a file of another format", damage: { $0[0] ^= 1 }, changes: nil,
      recovered: ["a", "b"]),
    ReadingCase(
      testDescription: "an older version", damage: { $0[6] = UInt8(ascii: "1") }, changes: nil,
      recovered: ["a", "b"]),
    ReadingCase(
      testDescription: "another format with a higher version",
      damage: {
        $0[0] ^= 1
        $0[6] = UInt8(ascii: "3")
      }, changes: nil, recovered: ["a", "b"]),
    ReadingCase(
      testDescription: "a file of one word", damage: { $0 = Array("words".utf8) }, changes: nil,
      recovered: []),
    ReadingCase(
      testDescription: "an empty file", damage: { $0 = [] }, changes: nil, recovered: []),
    ReadingCase(
      testDescription: "a newer version", damage: { $0[6] = UInt8(ascii: "3") }, changes: nil,
      recovered: nil),
  ]

  @Test(
    "A torn end is removed; other damage is an error, or is copied and left out",
    arguments: readings)
  func damageIsAnErrorOrLeftOut(_ row: ReadingCase) throws {
    let disk = SimulatedDisk()
    var journal = Self.journal(disk)
    try journal.append(["a"])
    try journal.append(["b"])
    var bytes = try #require(disk.image[Self.path])
    row.damage(&bytes)
    var image = disk.image
    image[Self.path] = bytes
    for isRecovering in [false, true] {
      let damaged = SimulatedDisk(image: image)
      var journal = Self.journal(damaged)
      let reading = try? journal.read(recovering: isRecovering)
      let expected = isRecovering ? row.recovered : row.changes
      #expect(reading?.changes == expected)
      if reading == nil || reading?.recovery != nil {
        #expect(damaged.image[Self.path] == bytes, "it stays as it is")
      } else {
        try journal.append(["c"])
        let found = try Self.words(on: Self.restarted(damaged.image.afterCrash(seed: 1)))
        #expect(found == (expected ?? []) + ["c"])
      }
      let isCopied = isRecovering && row.changes == nil && row.recovered != nil
      #expect((reading?.recovery != nil) == isCopied)
      #expect(damaged.image["\(Self.path).damaged-1"] == (isCopied ? bytes : nil))
    }
  }
}

/// A disk on which something happens once, before a file is opened to be changed in place.
private final class InterruptedDisk: Disk {
  private let disk: SimulatedDisk
  private let event: Mutex<(@Sendable () -> Void)?>

  init(_ disk: SimulatedDisk, _ event: @escaping @Sendable () -> Void) {
    self.disk = disk
    self.event = Mutex(event)
  }

  func open(_ path: String, _ mode: DiskMode) throws(DiskError) -> any DiskFile {
    if mode == .update { event.withLock { $0.take() }?() }
    return try disk.open(path, mode)
  }

  func exists(_ path: String) throws(DiskError) -> Bool { try disk.exists(path) }

  func rename(_ path: String, to newPath: String) throws(DiskError) {
    try disk.rename(path, to: newPath)
  }

  func remove(_ path: String) throws(DiskError) { try disk.remove(path) }

  func synchronizeFolder(of path: String) throws(DiskError) {
    try disk.synchronizeFolder(of: path)
  }

  func lock(_ path: String) throws(DiskError) -> any DiskLock { try disk.lock(path) }
}

/// The images of a disk, one for each call that changed it.
private final class Images: Sendable {
  private let images = Mutex<[DiskImage]>([])

  var all: [DiskImage] { images.withLock { $0 } }

  func add(_ image: DiskImage) { images.withLock { $0.append(image) } }
}
