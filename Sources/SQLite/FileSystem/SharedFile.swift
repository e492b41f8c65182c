import CSQLite
import Synchronization

/// The state that all connections to one file share: locks, and the index of the write-ahead
/// log, which SQLite keeps in memory.
final class SharedFile: Sendable {
  private struct State: ~Copyable {
    /// The lock level of each connection that has one.
    var levels: [ObjectIdentifier: Int32] = [:]
    /// The users of the shared memory, with their locks: for each of eight places 1 for a shared
    /// one, 2 for an exclusive one.
    var users: [ObjectIdentifier: [UInt8]] = [:]
    var regions: [Region] = []

    func others(than file: ObjectIdentifier, have level: Int32) -> Bool {
      levels.contains { $0.key != file && $0.value >= level }
    }

    mutating func free() {
      for region in regions { region.address.deallocate() }
      regions = []
    }

    deinit { for region in regions { region.address.deallocate() } }
  }

  // SQLite's locks guard what is there; here it is only handed out.
  private struct Region: @unchecked Sendable {
    var address: UnsafeMutableRawPointer
  }

  private static let places = 8
  private let state = Mutex(State())

  /// Whether a connection has reserved the file for writing.
  var isReserved: Bool {
    state.withLock { $0.levels.values.contains { $0 >= SQLITE_LOCK_RESERVED } }
  }

  /// Raises the lock of `file`, or returns `SQLITE_BUSY` if another connection's lock prevents it.
  func lock(_ file: OpenFile, _ level: Int32) -> Int32 {
    let id = ObjectIdentifier(file)
    return state.withLock { state in
      let held = state.levels[id] ?? SQLITE_LOCK_NONE
      guard held < level else { return SQLITE_OK }
      switch level {
      case SQLITE_LOCK_SHARED:
        guard !state.others(than: id, have: SQLITE_LOCK_PENDING) else { return SQLITE_BUSY }
      case SQLITE_LOCK_EXCLUSIVE:
        guard !state.others(than: id, have: SQLITE_LOCK_RESERVED) else { return SQLITE_BUSY }
        guard !state.others(than: id, have: SQLITE_LOCK_SHARED) else {
          // New readers are refused from now on, so that the exclusive lock becomes available.
          state.levels[id] = SQLITE_LOCK_PENDING
          return SQLITE_BUSY
        }
      default:
        guard !state.others(than: id, have: SQLITE_LOCK_RESERVED) else { return SQLITE_BUSY }
      }
      state.levels[id] = level
      return SQLITE_OK
    }
  }

  /// Lowers the lock of `file`.
  func unlock(_ file: OpenFile, to level: Int32) {
    let id = ObjectIdentifier(file)
    state.withLock { state in
      guard let held = state.levels[id], held > level else { return }
      state.levels[id] = level == SQLITE_LOCK_NONE ? nil : level
    }
  }

  /// The address of a region of the shared memory; `nil` where there is none yet and none is to
  /// be made.
  func memory(
    _ file: OpenFile, region: Int, size: Int, extends: Bool
  ) -> UnsafeMutableRawPointer? {
    let id = ObjectIdentifier(file)
    let found: Region? = state.withLock { state in
      if state.users[id] == nil {
        state.users[id] = [UInt8](repeating: 0, count: SharedFile.places)
      }
      guard extends || region < state.regions.count else { return nil }
      while state.regions.count <= region {
        let address = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        address.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        state.regions.append(Region(address: address))
      }
      return state.regions[region]
    }
    return found?.address
  }

  /// Acquires or releases locks of the shared memory.
  func lockMemory(_ file: OpenFile, _ places: Range<Int>, _ flags: Int32) -> Int32 {
    let id = ObjectIdentifier(file)
    let wanted: UInt8 = flags & SQLITE_SHM_EXCLUSIVE != 0 ? 2 : 1
    return state.withLock { state in
      guard places.lowerBound >= 0, places.upperBound <= SharedFile.places,
        var own = state.users[id]
      else { return SQLITE_MISUSE }
      if flags & SQLITE_SHM_UNLOCK != 0 {
        for place in places { own[place] = 0 }
      } else {
        for (user, locks) in state.users where user != id {
          for place in places where locks[place] + wanted > 2 { return SQLITE_BUSY }
        }
        for place in places { own[place] = max(own[place], wanted) }
      }
      state.users[id] = own
      return SQLITE_OK
    }
  }

  /// Releases the shared memory of `file`; the memory is freed with its last user.
  func leaveMemory(_ file: OpenFile) {
    let id = ObjectIdentifier(file)
    state.withLock { state in
      guard state.users.removeValue(forKey: id) != nil, state.users.isEmpty else { return }
      state.free()
    }
  }

  /// Makes what one connection wrote to the memory visible to the others.
  func fence() { state.withLock { _ in } }
}
