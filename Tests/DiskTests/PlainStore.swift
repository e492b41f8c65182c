import Disk
import SimulationSupport
import Synchronization

/// The steps that a store performs or omits.
protocol StoreHabits: Sendable {
  static var synchronizesFile: Bool { get }
  static var synchronizesFolder: Bool { get }
  static var looksAtChecksums: Bool { get }
  static var cutsOffWhatIsTorn: Bool { get }
}

extension StoreHabits {
  static var synchronizesFile: Bool { true }
  static var synchronizesFolder: Bool { true }
  static var looksAtChecksums: Bool { true }
  static var cutsOffWhatIsTorn: Bool { true }
}

enum CarefulHabits: StoreHabits {}

enum NoSynchronization: StoreHabits {
  static var synchronizesFile: Bool { false }
}

enum NoFolderSynchronization: StoreHabits {
  static var synchronizesFolder: Bool { false }
}

enum NoChecksums: StoreHabits {
  static var looksAtChecksums: Bool { false }
}

enum NoCutting: StoreHabits {
  static var cutsOffWhatIsTorn: Bool { false }
}

/// The smallest log there is, to try the crash programmes on: length, checksum and bytes of each
/// entry.
final class PlainStore<Habits: StoreHabits>: CrashSubject {
  static var name: String { "plain store" }
  static var empty: [[UInt8]] { [] }
  static var refusesAfterFailure: Bool { true }

  private let file: any DiskFile
  private let failure = Mutex<DiskError?>(nil)

  init(on disk: SimulatedDisk) async throws {
    let path = "/plain/log"
    file = try disk.open(path, .create)
    let (_, length) = try PlainStore.read(file)
    if Habits.cutsOffWhatIsTorn { try file.truncate(to: length) }
    if Habits.synchronizesFile { try file.synchronize() }
    if Habits.synchronizesFolder { try disk.synchronizeFolder(of: path) }
  }

  /// The entries, and how many bytes they take.
  private static func read(_ file: any DiskFile) throws -> ([[UInt8]], Int) {
    let bytes = try file.read(upToCount: file.size(), at: 0)
    var entries: [[UInt8]] = []
    var start = 0
    while let entry = entry(in: bytes, at: start) {
      entries.append(entry)
      start += entry.count + 8
    }
    return (entries, start)
  }

  private static func entry(in bytes: [UInt8], at start: Int) -> [UInt8]? {
    guard bytes.count - start >= 8 else { return nil }
    let length = Int(number(bytes[start..<(start + 4)]))
    guard length > 0, length <= bytes.count - start - 8 else { return nil }
    let entry = Array(bytes[(start + 8)..<(start + 8 + length)])
    if Habits.looksAtChecksums, number(bytes[(start + 4)..<(start + 8)]) != sum(entry) {
      return nil
    }
    return entry
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func sum(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  func contents() async throws -> [[UInt8]] { try PlainStore.read(file).0 }

  static func change(
    _ step: Int, of contents: [[UInt8]], _ random: inout SeededRandom
  ) -> ([UInt8], [[UInt8]]) {
    let entry = [UInt8](
      repeating: UInt8(truncatingIfNeeded: step) | 1, count: random.pick([3, 1_400]))
    return (entry, contents + [entry])
  }

  func apply(_ change: [UInt8]) async throws {
    let head = PlainStore.bytes(UInt32(change.count)) + PlainStore.bytes(PlainStore.sum(change))
    if let failure = failure.withLock({ $0 }) { throw failure }
    do throws(DiskError) {
      try file.append(all: head + change)
      if Habits.synchronizesFile { try file.synchronize() }
    } catch {
      failure.withLock { $0 = error }
      throw error
    }
  }

  func close() async {}

  static func isTyped(_ error: any Error) -> Bool { error is DiskError }
}
