import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import IdeaStore
import Records

/// Measures the time from the creation of an idea on one device to its arrival on another, by push.
///
/// Both devices use temporary folders, which are removed at the end, as are the ideas.
struct IdeaLatency {
  private let server: String
  private let writer: Device
  private let reader: Device

  /// One of the two devices.
  private final class Device: Sendable {
    let store: IdeaStore
    private let folder: URL
    private let link: CloudDevice
    private let observation: any SignalObservation

    init(_ cloud: Cloud, _ name: String, account: String?) throws {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "stores-latency-\(UUID().uuidString)")
      link = cloud.device(name, account: account)
      let store = try IdeaStore(directory: folder, container: link.container, deviceID: name)
      self.store = store
      observation = link.transport.observeSignals { [weak store] signal in
        guard case .push(let push) = signal else { return }
        let isOurs = push.subscription.rawValue == IdeaStore.subscriptionID
        // Without a subscription's name the line was broken, and anything may have been missed.
        guard isOurs || push.subscription.rawValue.isEmpty else { return }
        store?.receivedPush(recordName: isOurs ? push.query?.record.name : nil)
      }
    }

    deinit {
      observation.stop()
      try? FileManager.default.removeItem(at: folder)
    }

    func begin() async throws {
      store.start()
      let status = try await store.syncNow()
      guard status.phase == .synced else {
        throw ToolError(status.message ?? "the sync did not end")
      }
    }
  }

  /// Two devices of the session's account on its server.
  init(_ session: Session) throws {
    let home = session.device.home
    let cloud = try Cloud(home)
    server = home.server == .home ? "in this process" : "over HTTP"
    let name = session.device.name
    writer = try Device(cloud, "\(name) (writing)", account: session.account)
    reader = try Device(cloud, "\(name) (reading)", account: session.account)
  }

  /// Creates `number` ideas without a pause, and waits until all have arrived.
  ///
  /// - Throws: `CancellationError` if it is interrupted, `ToolError` if a device can't sync.
  func run(_ number: Int) async throws -> SyncReport {
    try await writer.begin()
    try await reader.begin()
    let clock = ContinuousClock()
    let updates = reader.store.statusUpdates
    var waiting: [UUID: ContinuousClock.Instant] = [:]
    for index in 1...number {
      let start = clock.now
      waiting[try writer.store.create(title: "idea \(index)").id] = start
      await Task.yield()
    }
    let ids = Array(waiting.keys)
    var seconds: [Double] = []
    for await _ in updates {
      for (id, start) in waiting where reader.store.idea(id) != nil {
        seconds.append(start.duration(to: clock.now) / .seconds(1))
        waiting[id] = nil
      }
      if waiting.isEmpty { break }
    }
    try Task.checkCancellation()
    for id in ids { try writer.store.delete(id) }
    try await writer.store.syncNow()
    await writer.store.stop()
    await reader.store.stop()
    seconds.sort()
    func rounded(_ seconds: Double?) -> Double { ((seconds ?? 0) * 1_000).rounded() / 1_000 }
    // The smallest value that 95 of 100 do not exceed.
    let place = max(0, (seconds.count * 95 + 99) / 100 - 1)
    let median = rounded(seconds[seconds.count / 2])
    let (p95, slowest) = (rounded(seconds[place]), rounded(seconds.last))
    return SyncReport(
      [
        "server": server, "ideas": seconds.count, "medianSeconds": median, "p95Seconds": p95,
        "slowestSeconds": slowest,
      ],
      "\(count(seconds.count, "idea")) made on one device and seen on another by push, "
        + "\(server): median \(median) s, p95 \(p95) s, slowest \(slowest) s")
  }
}
