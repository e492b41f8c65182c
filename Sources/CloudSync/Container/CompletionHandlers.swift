/// Runs `body` in a task and tells a completion handler of the older kind how it went.
func answer<Value: Sendable>(
  _ completionHandler: @escaping @Sendable (Value?, (any Error)?) -> Void,
  _ body: @escaping @Sendable () async throws -> Value
) {
  Task {
    do {
      completionHandler(try await body(), nil)
    } catch {
      completionHandler(nil, error)
    }
  }
}

/// Runs `body` in a task and tells a completion handler of the newer kind how it went.
func answer<Value: Sendable>(
  _ completionHandler: @escaping @Sendable (Result<Value, any Error>) -> Void,
  _ body: @escaping @Sendable () async throws -> Value
) {
  Task {
    do {
      completionHandler(.success(try await body()))
    } catch {
      completionHandler(.failure(error))
    }
  }
}
