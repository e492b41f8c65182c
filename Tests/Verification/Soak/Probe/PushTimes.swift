import CloudProtocol
import CloudSync
import Records
import Synchronization
import VerificationSupport

/// The times from the request of a save on one server until the push to a device of another.
enum PushTimes {
  private static let subscription = Subscription(
    id: SubscriptionID("watch"), kind: .zone(Probe.zone, recordType: nil))

  /// Measures in milliseconds; no other client writes meanwhile.
  static func measure(
    _ count: Int, from writer: Probe, _ way: any CloudTransport, to listener: any CloudTransport,
    name: String, _ writes: AcknowledgedWrites
  ) async throws -> [Double] {
    let (pushes, continuation) = AsyncStream.makeStream(of: ContinuousClock.Instant?.self)
    let isReady = Mutex(false)
    _ = try await listener.send(
      Probe.call(
        "watch", .modifySubscriptions(ModifySubscriptions(save: [subscription]))))
    let observation = listener.observeSignals { signal in
      guard case .push(let push) = signal else { return }
      // A push without a name says that the listener waits from now on.
      if push.subscription.rawValue.isEmpty { isReady.withLock { $0 = true } }
      if push.subscription == subscription.id { continuation.yield(.now) }
    }
    defer { observation.stop() }
    while !isReady.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    var arriving = pushes.makeAsyncIterator()
    var times: [Double] = []
    for number in 0..<count {
      try await Task.sleep(for: .milliseconds(20 + number * 37 % 400 / 10))
      let start = ContinuousClock.now
      guard await writer.save("\(name)-\(number)", by: way) != nil else { continue }
      let alarm = Task {
        try await Task.sleep(for: .seconds(10))
        continuation.yield(nil)
      }
      defer { alarm.cancel() }
      guard let push = await arriving.next() ?? nil else {
        writes.violation("no push within ten seconds after a save on another server")
        break
      }
      times.append((push - start) / .milliseconds(1))
    }
    return times
  }
}
