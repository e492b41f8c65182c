import CloudSyncTesting
import Foundation
import LoopbackServer

/// What people and their devices do.
extension StoreWorld {
  /// One step: something happens to the server, then somebody does something.
  func act() async throws {
    if random.chance(options.faultRate) { try breakSomething() }
    let device = random.pick(devices)
    switch random.below(100) {
    case 0..<38: try edit(device)
    case 38..<48: switchLink(of: device)
    case 48..<66: await sync(device)
    case 66..<74: try await syncWithAnEdit(device)
    case 74..<78: try await syncWithACut(device)
    case 78..<84: try await crashWhileSyncing(device)
    case 84..<88: await syncAll()
    case 88..<91: try await crash(device)
    case 91..<94: try await quit(device)
    default: break
    }
    // Time passes while nobody does anything, and sometimes not at all.
    let seconds = random.pick([0, 0, 0.01, 0.2, 3, 40, 400])
    await lane.pass(.seconds(seconds))
  }

  private func edit(_ device: SimulatedDevice) throws {
    let count = random.pick([1, 1, 2, 6])
    for _ in 0..<count {
      for edit in try device.store.edit(&random) {
        journal.countEdit()
        switch edit {
        case .wrote(let key, let line, _): journal.say("\(device.name) writes \(key): \(line)")
        case .removed(let key): journal.say("\(device.name) removes \(key)")
        }
        note(edit, by: device)
      }
    }
  }

  private func note(_ edit: StoreEdit, by device: SimulatedDevice) {
    let others = devices.filter { $0.account == device.account && $0 !== device }
    ledgers[device.account, default: EditLedger()].note(edit) { key in
      others.contains { $0.store.isWaiting(key) }
    }
  }

  private func switchLink(of device: SimulatedDevice) {
    device.link.isOnline.toggle()
    journal.say("\(device.name) goes \(device.link.isOnline ? "online" : "offline")")
  }

  private func sync(_ device: SimulatedDevice) async {
    journal.say("\(device.name) syncs")
    await device.store.sync()
    await lane.settle()
  }

  private func syncAll() async {
    journal.say("all sync at once")
    let tasks = devices.map { device in
      let store = device.store
      return Task.detached { await store.sync() }
    }
    for task in tasks { await task.value }
    await lane.settle()
  }

  private func syncWithAnEdit(_ device: SimulatedDevice) async throws {
    let task = await beginSync(device)
    try edit(device)
    await task.value
    await lane.settle()
  }

  private func syncWithACut(_ device: SimulatedDevice) async throws {
    let task = await beginSync(device)
    device.link.isOnline = false
    journal.say("\(device.name) loses the network")
    await task.value
    await lane.settle()
  }

  private func crashWhileSyncing(_ device: SimulatedDevice) async throws {
    _ = await beginSync(device)
    try await crash(device)
  }

  /// Lets a sync run for a while.
  private func beginSync(_ device: SimulatedDevice) async -> Task<Void, Never> {
    let jobs = random.below(160)
    journal.say("\(device.name) syncs, for \(jobs) jobs")
    let store = device.store
    let task = Task.detached { await store.sync() }
    await lane.pause(forJobs: jobs)
    return task
  }

  /// The power goes: only what is on the disk stays.
  private func crash(_ device: SimulatedDevice) async throws {
    let isOnline = device.link.isOnline
    // An app that is gone sends nothing more, and what it still writes lands beside.
    device.link.isOnline = false
    let copy = home.appendingPathComponent(
      "\(device.account)-\(device.number)-\(device.launch + 1)")
    if FileManager.default.fileExists(atPath: device.folder.path) {
      try FileManager.default.copyItem(at: device.folder, to: copy)
    }
    journal.say("\(device.name) crashes and begins again")
    forget(device)
    let old = device.folder
    try launch(device, in: copy, isOnline: isOnline)
    await lane.settle()
    try? FileManager.default.removeItem(at: old)
  }

  private func quit(_ device: SimulatedDevice) async throws {
    journal.say("\(device.name) quits and begins again")
    let isOnline = device.link.isOnline
    await device.store.quit()
    forget(device)
    try launch(device, in: device.folder, isOnline: isOnline)
    await lane.settle()
  }

  /// Remembers the app of a device as one that must be gone in the end.
  func forget(_ device: SimulatedDevice) {
    gone.append(GoneStore(store: device.store, name: "\(device.name), launch \(device.launch)"))
  }
}
