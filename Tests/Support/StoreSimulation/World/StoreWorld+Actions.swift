import CloudSyncTesting
import Foundation
import LoopbackServer
import SimulationSupport
import Synchronization

/// What people and their devices do.
extension StoreWorld {
  /// One step: something happens to the server, then somebody does something.
  func act() async throws {
    if random.chance(options.faultRate) { try breakSomething() }
    let device = random.pick(devices)
    switch random.below(100) {
    case 0..<32: try await edit(device)
    case 32..<40: switchLink(of: device)
    case 40..<58: await sync(device)
    case 58..<66: try await syncWithAnEdit(device)
    case 66..<70: try await syncWithACut(device)
    case 70..<76: try await crashWhileSyncing(device)
    case 76..<80: await syncAll()
    case 80..<90: try await editAtOnce()
    case 90..<93: try await crash(device)
    case 93..<96: try await quit(device)
    default: break
    }
    // Time passes while nobody does anything, and sometimes not at all.
    let seconds = random.pick([0, 0, 0.01, 0.2, 3, 40, 400])
    await executor.pass(.seconds(seconds))
    try checkContradictions()
  }

  /// One device alone is never in conflict, whatever answers are lost and whenever it crashes.
  func checkContradictions() throws {
    for device in devices {
      let keys = device.store.contradictions()
      if let key = histories[device.account]?.unshared(keys, of: device.setting.number) {
        throw BrokenPromise("\(device.name) has a conflict about \(key), which it alone changed")
      }
    }
  }

  /// Somebody edits on a device, once or several times.
  func edit(_ device: StoreDevice) async throws {
    let count = random.pick([1, 1, 2, 6])
    for _ in 0..<count {
      for edit in try await edits(on: device.store, SeededRandom(seed: random.next())) {
        journal.countEdit()
        switch edit {
        case .wrote(let key, let line, _): journal.say("\(device.name) writes \(key): \(line)")
        case .removed(let key, _): journal.say("\(device.name) removes \(key)")
        }
        note(edit, by: device)
      }
    }
  }

  /// Makes an edit; one that waits for the cloud waits no longer than a request is held.
  private func edits(on store: SimulatedStore, _ random: SeededRandom) async throws -> [StoreEdit] {
    let edit = RunningTask(holding: .all) {
      var random = random
      return try await store.edit(&random)
    }
    await executor.settle()
    if let edits = try edit.value { return edits }
    return try await finish(edit, "an edit")
  }

  /// What a user began and what is still under way.
  private final class RunningTask<Value: Sendable>: Sendable {
    /// The requests that are held meanwhile.
    let held: RequestScope
    private let outcome = Mutex<Result<Value, any Error>?>(nil)

    init(holding held: RequestScope, _ body: @escaping @Sendable () async throws -> Value) {
      self.held = held
      Task.detached { [self] in
        let outcome: Result<Value, any Error>
        do {
          outcome = .success(try await body())
        } catch {
          outcome = .failure(error)
        }
        self.outcome.withLock { $0 = outcome }
      }
    }

    /// The value; `nil` while the task is under way.
    var value: Value? { get throws { try outcome.withLock { $0 }?.get() } }
  }

  /// Releases the requests that are held, as often as it takes until a task ends.
  private func finish<Value>(_ task: RunningTask<Value>, _ name: String) async throws -> Value {
    // A request that was delayed comes to stand later.
    for _ in 0..<1_000 {
      server.controls.release(in: task.held)
      await executor.settle()
      if let value = try task.value { return value }
      await executor.pass(.seconds(2))
    }
    throw BrokenPromise("\(name) does not end")
  }

  private func note(_ edit: StoreEdit, by device: StoreDevice) {
    let others = devices.filter { $0.account == device.account && $0 !== device }
    histories[device.account, default: EditHistory()].note(edit, by: device.setting.number) { key in
      others.contains { $0.store.isWaiting(key) }
    }
  }

  private func switchLink(of device: StoreDevice) {
    if device.link.isOnline, random.below(2) == 0 { return }
    device.link.isOnline.toggle()
    journal.say("\(device.name) goes \(device.link.isOnline ? "online" : "offline")")
  }

  /// Everybody edits before anybody hears of the others, and then all meet.
  private func editAtOnce() async throws {
    if random.below(2) == 0 { await syncAll() }
    for device in devices { try await edit(device) }
    await syncAll()
  }

  private func sync(_ device: StoreDevice) async {
    journal.say("\(device.name) syncs")
    await device.store.sync()
    await executor.settle()
  }

  private func syncAll() async {
    journal.say("all sync at once")
    let tasks = devices.map { device in
      let store = device.store
      return Task.detached { await store.sync() }
    }
    for task in tasks { await task.value }
    await executor.settle()
  }

  private func syncWithAnEdit(_ device: StoreDevice) async throws {
    try await edit(device)
    let sync = await beginSync(device)
    try await edit(device)
    try await finish(sync, "a sync")
  }

  private func syncWithACut(_ device: StoreDevice) async throws {
    let sync = await beginSync(device)
    device.link.isOnline = false
    journal.say("\(device.name) loses the network")
    try await finish(sync, "a sync")
  }

  private func crashWhileSyncing(_ device: StoreDevice) async throws {
    let sync = await beginSync(device)
    try await crash(device)
    try await finish(sync, "a sync")
  }

  /// Lets a sync run for a while, or until its changes are at the server.
  private func beginSync(_ device: StoreDevice) async -> RunningTask<Void> {
    let store = device.store
    let held = RequestScope(kind: .modifyRecords, device: device.link.name)
    if random.below(2) == 0 {
      let jobs = random.below(random.pick([30, 80, 160]))
      journal.say("\(device.name) syncs, for \(jobs) jobs")
      let sync = RunningTask(holding: held) { await store.sync() }
      await executor.pause(forJobs: jobs)
      return sync
    }
    let point = random.pick(HoldPoint.allCases)
    journal.say("\(device.name) syncs, until its changes stand still: \(point)")
    server.controls.hold(next: 1, at: point, in: held)
    let sync = RunningTask(holding: held) { await store.sync() }
    await executor.settle()
    return sync
  }

  /// The power goes: only what is on the disk stays.
  private func crash(_ device: StoreDevice) async throws {
    let isOnline = device.link.isOnline
    // An app that is gone sends nothing more, and what it still writes lands beside.
    device.link.isOnline = false
    let copy = home.appendingPathComponent(
      "\(device.account)-\(device.setting.number)-\(device.launch + 1)")
    if FileManager.default.fileExists(atPath: device.folder.path) {
      try FileManager.default.copyItem(at: device.folder, to: copy)
    }
    journal.say("\(device.name) crashes and begins again")
    forget(device)
    let old = device.folder
    try launch(device, in: copy, isOnline: isOnline)
    await executor.settle()
    try? FileManager.default.removeItem(at: old)
  }

  private func quit(_ device: StoreDevice) async throws {
    journal.say("\(device.name) quits and begins again")
    let isOnline = device.link.isOnline
    await device.store.quit()
    forget(device)
    try launch(device, in: device.folder, isOnline: isOnline)
    await executor.settle()
  }

  /// Remembers the app of a device as one that must be gone in the end.
  func forget(_ device: StoreDevice) {
    gone.append(GoneStore(app: device.store.app, name: "\(device.name), launch \(device.launch)"))
  }
}
