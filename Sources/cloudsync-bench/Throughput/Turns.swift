import Synchronization

/// Two times that one run gives: the first row of the table makes the run, the second takes what
/// was left of it.
final class Turns: Sendable {
  private let left = Mutex<[Duration]>([])
  private let run: @Sendable () async throws -> (Duration, Duration)

  init(_ run: @escaping @Sendable () async throws -> (Duration, Duration)) { self.run = run }

  func first() async throws -> Duration {
    let times = try await run()
    left.withLock { $0.append(times.1) }
    return times.0
  }

  func second() async throws -> Duration {
    let waiting = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let waiting { return waiting }
    return try await run().1
  }
}
