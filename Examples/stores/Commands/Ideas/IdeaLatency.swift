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
  /// The session whose account and server the devices use.
  let session: Session

  /// Creates `number` ideas without a pause, and waits until all have arrived.
  ///
  /// - Throws: `CancellationError` if it is interrupted, `ToolError` if a device can't sync.
  func run(_ number: Int) async throws -> SyncReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stores-latency-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let cloud = try Cloud(session.device.home)
    let (writer, writerPushes) = try await device(cloud, "writing", folder)
    let (reader, readerPushes) = try await device(cloud, "reading", folder)
    defer { for pushes in [writerPushes, readerPushes] { pushes.stop() } }
    let clock = ContinuousClock()
    let updates = reader.statusUpdates
    var waiting: [UUID: ContinuousClock.Instant] = [:]
    for index in 1...number {
      let start = clock.now
      waiting[try writer.create(title: "idea \(index)").id] = start
      await Task.yield()
    }
    let ids = Array(waiting.keys)
    var seconds: [Double] = []
    for await _ in updates {
      for (id, start) in waiting where reader.idea(id) != nil {
        seconds.append(start.duration(to: clock.now) / .seconds(1))
        waiting[id] = nil
      }
      if waiting.isEmpty { break }
    }
    try Task.checkCancellation()
    for id in ids { try writer.delete(id) }
    try await writer.syncNow()
    await writer.stop()
    await reader.stop()
    return report(seconds)
  }

  /// A new device that has synced, and the observation that passes the pushes to its store.
  private func device(
    _ cloud: Cloud, _ role: String, _ folder: URL
  ) async throws -> (IdeaStore, any SignalObservation) {
    let name = "\(session.device.name) (\(role))"
    let link = cloud.device(name, account: session.account)
    let store = try IdeaStore(
      directory: folder.appendingPathComponent(role), container: link.container, deviceID: name)
    let observation = link.transport.observeSignals { [weak store] signal in
      guard case .push(let push) = signal else { return }
      let isOurs = push.subscription.rawValue == IdeaStore.subscriptionID
      // Without a subscription's name the line was broken, and anything may have been missed.
      guard isOurs || push.subscription.rawValue.isEmpty else { return }
      store?.receivedPush(recordName: isOurs ? push.query?.record.name : nil)
    }
    store.start()
    let status = try await store.syncNow()
    guard status.phase == .synced else {
      throw ToolError(status.message ?? "the sync did not end")
    }
    return (store, observation)
  }

  private func report(_ unsorted: [Double]) -> SyncReport {
    let seconds = unsorted.sorted()
    let server = session.device.home.server == nil ? "in this process" : "over HTTP"
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
