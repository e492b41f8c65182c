import Synchronization

/// Runs one operation at a time, in the order of the calls.
///
/// Two syncs of one store at once would send the same change twice.
public final class SerialOperations: Sendable {
  private let last = Mutex<Task<Void, Never>?>(nil)

  /// Creates a queue without operations.
  public init() {}

  /// Runs `body` after all earlier operations.
  public func run<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let (stream, end) = AsyncStream<Never>.makeStream()
    let earlier = last.withLock { last in
      defer { last = Task { for await _ in stream {} } }
      return last
    }
    // Also a task that was cancelled waits for its turn.
    await earlier?.value
    defer { end.finish() }
    return try await body()
  }
}
