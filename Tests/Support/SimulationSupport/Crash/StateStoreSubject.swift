package import CloudSync
package import Foundation
import Synchronization

/// The state store in a file.
package final class StateStoreSubject: CrashSubject {
  /// One call of a state store.
  package enum Change: Sendable {
    /// An additional entry.
    case append([UInt8])
    /// A replacement of all contents.
    case replace([UInt8])
  }

  /// The path of the file.
  package static let url = URL(fileURLWithPath: "/device/state")

  /// The store; `nil` after it is closed, which releases the lock.
  private let store: Mutex<FileStateStore?>

  /// The subject's name.
  package static var name: String { "state store" }
  /// A new store is empty.
  package static var empty: StateStoreContents { StateStoreContents() }
  /// A store takes nothing after a failure.
  package static var refusesAfterFailure: Bool { true }

  /// Locks the file and loads it.
  package init(on disk: SimulatedDisk) async throws {
    let store = try FileStateStore(url: StateStoreSubject.url, disk: disk)
    _ = try store.load()
    self.store = Mutex(store)
  }

  /// The contents of the file.
  package func contents() async throws -> StateStoreContents {
    try store.withLock { try $0?.load() } ?? StateStoreContents()
  }

  /// Entries of all lengths, with the step in them, and now and then a snapshot.
  package static func change(
    _ step: Int, of contents: StateStoreContents, _ random: inout SeededRandom
  ) -> (Change, StateStoreContents) {
    let length = random.pick([1, 30, 300, 500, 511, 1_100, 2_600])
    // Some bytes are zero, as in a state.
    let bytes = (0..<length).map { index in
      random.chance(0.3) ? 0 : UInt8(truncatingIfNeeded: step &* 7 &+ index)
    }
    var next = contents
    if random.chance(0.25) {
      return (.replace(bytes), StateStoreContents(snapshot: bytes))
    }
    next.entries.append(bytes)
    return (.append(bytes), next)
  }

  /// Appends or replaces.
  package func apply(_ change: Change) async throws {
    try store.withLock { store in
      switch change {
      case .append(let bytes): try store?.append(bytes)
      case .replace(let bytes): try store?.replace(with: bytes)
      }
    }
  }

  /// Releases the store.
  package func close() async { store.withLock { $0 = nil } }

  /// Whether it is the store's own error.
  package static func isTyped(_ error: any Error) -> Bool { error is FileStateStoreError }
}
