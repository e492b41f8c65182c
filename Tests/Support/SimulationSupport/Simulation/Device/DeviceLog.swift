import CloudSync
import Foundation
import SyncMachine

/// A device's state log as the product keeps it, on a disk that forgets what was not synchronized.
final class DeviceLog {
  private let seed: UInt64
  private var disk: SimulatedDisk
  private var store: FileStateStore?
  private var cuts: UInt64 = 0

  /// An empty disk; `seed` decides what power cuts leave of unsynchronized bytes.
  init(seed: UInt64) {
    self.seed = seed
    disk = SimulatedDisk(seed: seed)
    disk.faults.shortWriteRate = 0.2
  }

  /// Opens the log; the state it holds, or `nil` for an empty one.
  func open() throws -> SyncState? {
    store = nil
    let store = try DeviceLog.store(on: disk)
    self.store = store
    return try DeviceLog.state(in: store)
  }

  /// Opens the log of a device on `disk`.
  static func store(on disk: SimulatedDisk) throws -> FileStateStore {
    try FileStateStore(url: URL(fileURLWithPath: "/device/state"), disk: disk)
  }

  /// The state that a log holds, or `nil` for an empty one.
  static func state(in store: FileStateStore) throws -> SyncState? {
    guard let contents = try store.load() else { return nil }
    var state = try SyncState(decoding: contents.snapshot)
    for entry in contents.entries {
      for change in try StateChange.decoded(entry) { state.apply(change) }
    }
    return state
  }

  /// Makes steps durable.
  func append(_ changes: [StateChange]) throws {
    if !changes.isEmpty { try store?.append(StateChange.encoded(changes)) }
  }

  /// Puts a state in the place of all that was there.
  func replace(with state: SyncState) throws { try store?.replace(with: state.encoded()) }

  /// Cuts the power, and opens the log again; the state it holds then.
  func afterPowerCut() throws -> SyncState? {
    cuts += 1
    store = nil
    disk = disk.crash(seed: seed &+ cuts)
    disk.faults.shortWriteRate = 0.2
    return try open()
  }
}
