import Synchronization

/// The times of the stages of one run: the first row of the table makes the run, the rows for later
/// stages take what was left of it.
final class Turns: Sendable {
  /// The times that nobody took yet, by stage, the oldest first.
  private let left = Mutex<[Int: [Duration]]>([:])
  private let run: @Sendable () async throws -> [Duration]

  /// Stages of `run`, which gives a time for each.
  init(_ run: @escaping @Sendable () async throws -> [Duration]) { self.run = run }

  /// The duration of a stage in the next run; stages count from 0.
  func stage(_ number: Int) async throws -> Duration {
    if let time = take(number) { return time }
    let times = try await run()
    left.withLock { left in
      for (later, time) in times.enumerated() where later > number {
        left[later, default: []].append(time)
      }
    }
    return times[number]
  }

  private func take(_ number: Int) -> Duration? {
    left.withLock { left in
      guard left[number]?.isEmpty == false else { return nil }
      return left[number]?.removeFirst()
    }
  }
}
